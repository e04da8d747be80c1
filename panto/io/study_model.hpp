// A study together with the model that it names.
#pragma once

#include "panto/model/model.hpp"
#include "panto/model/spec.hpp"

namespace panto {

template <class Study>
struct StudyWithModel {
  Study study;
  Model model;     // compiled with the study's `set`
  ModelSpec spec;  // of the model, for copy_back()
};

}  // namespace panto
