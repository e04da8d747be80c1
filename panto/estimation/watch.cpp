#include "panto/estimation/watch.hpp"

#include <algorithm>

#include "panto/numerics/quantiles.hpp"

namespace panto {

namespace {

constexpr double kAlarm = 1 - 1e-6;  // probability of the band of the innovations' mean

}  // namespace

InnovationWatch::InnovationWatch(int window) : updates_(static_cast<size_t>(std::max(1, window))) {}

bool InnovationWatch::add(double nis, int used, int rejected) noexcept {
  if (used + rejected == 0) return false;
  Update& oldest = updates_[at_];
  if (count_ == updates_.size()) {
    sum_.nis -= oldest.nis;
    sum_.used -= oldest.used;
    sum_.rejected -= oldest.rejected;
  }
  oldest = {nis, used, rejected};
  sum_.nis += nis;
  sum_.used += used;
  sum_.rejected += rejected;
  at_ = (at_ + 1) % updates_.size();
  count_ = std::min(count_ + 1, updates_.size());
  if (count_ < updates_.size()) return false;
  if (at_ == 0) {  // rounding of the differences does not add up
    sum_.nis = 0;
    for (const Update& u : updates_) sum_.nis += u.nis;
  }
  if (sum_.used > 0 && sum_.used != degrees_) {
    degrees_ = sum_.used;
    limit_ = chi_squared_quantile(kAlarm, degrees_);
  }
  const bool bad = sum_.rejected > sum_.used || !(sum_.nis <= limit_);
  bad_ = bad ? bad_ + 1 : 0;
  return bad_ == updates_.size();
}

void InnovationWatch::reset() noexcept {
  at_ = count_ = bad_ = 0;
  sum_ = {};
}

std::optional<Restart> restart_named(std::string_view name) {
  if (name == "never") return Restart::kNever;
  if (name == "present") return Restart::kPresent;
  if (name == "initial") return Restart::kInitial;
  return std::nullopt;
}

Status restart(Observer& observer, Restart where, double t, MutableView scratch) {
  if (where == Restart::kInitial) return observer.start(t);
  Filter& filter = observer.filter();
  std::copy(filter.state().begin(), filter.state().end(), scratch.begin());
  filter.system().unsettle(scratch);
  return filter.start(t, scratch, observer.initial_covariance());
}

}  // namespace panto
