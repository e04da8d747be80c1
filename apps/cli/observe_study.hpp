// `panto observe STUDY.toml`: a twin study.
#pragma once

#include <string>

namespace panto::cli {

struct ObserveStudyArguments {
  std::string study, out, view;
  int threads = 0, seeds = 0;
  bool json = false, series = false;
};
int observe_study(const ObserveStudyArguments& arguments);

}  // namespace panto::cli
