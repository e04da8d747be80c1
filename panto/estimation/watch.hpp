// Whether a filter has lost the machine, by its innovations, and how it is started again.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "panto/estimation/observer.hpp"

namespace panto {

// Innovations that are too large in the mean, or left out by the gate for the greater part, in every one of as many windows as a window is long.
// Does not allocate after its making.
class InnovationWatch {
 public:
  // window: updates to look back.
  explicit InnovationWatch(int window = 100);
  // eᵀ S⁻¹ e of the readings used in an update, their number, and that of those left out. True: now it is lost; told once, until it has recovered.
  bool add(double nis, int used, int rejected) noexcept;
  void reset() noexcept;

 private:
  struct Update {
    double nis = 0;
    int used = 0, rejected = 0;
  };
  std::vector<Update> updates_;
  Update sum_;
  size_t at_ = 0, count_ = 0, bad_ = 0;
  int degrees_ = -1;
  double limit_ = 0;  // of the sum of nis with so many degrees of freedom
};

// Where a filter is started again that has failed or lost the machine.
enum class Restart : std::uint8_t {
  kNever,
  kPresent,  // at its present state
  kInitial,  // at the model's initial one
};
// "never", "present", "initial".
std::optional<Restart> restart_named(std::string_view name);

// Starts the filter at t with the uncertainty of the start. scratch: as long as a state. where is not kNever.
[[nodiscard]] Status restart(Observer& observer, Restart where, double t, MutableView scratch);

}  // namespace panto
