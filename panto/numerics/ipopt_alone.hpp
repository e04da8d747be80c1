// One at a time: the linear solver of IPOPT keeps global state.
#pragma once

#include <mutex>

namespace panto {

inline std::mutex& ipopt_alone() {
  static std::mutex alone;
  return alone;
}

}  // namespace panto
