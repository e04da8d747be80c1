#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "panto/numerics/random.hpp"
#include "panto/updating/updater.hpp"

namespace panto::update_run {
namespace {

constexpr double kExactShape = 1e-10;  // of the largest reading, for simulated tests without noise
constexpr std::uint64_t kFrequencyStream = 4000, kShapeStream = 5000;

}  // namespace

bool Updater::simulate() {
  const SimulatedTest& s = study_.simulate.front();
  truth_ = Eigen::VectorXd::Zero(count());
  for (const auto& [name, value] : s.truth) {
    const int h = parameter_number(name);
    if (h < 0) {
      notes_.error(701, s.loc,
                   fmt::format("truth: \"{}\" is not among the parameters to be updated; give "
                               "its value in [set]",
                               name));
      continue;
    }
    truth_(h) = (value - nominal_(h)) / reference_(h);
  }
  if (!notes_.ok()) return false;
  std::vector<PoseState> states;
  if (!engine_->evaluate(truth_, false, states)) {
    notes_.error(975, s.loc, "simulate: the truth has no modes");
    return false;
  }
  for (size_t k = 0; k < states.size(); ++k) {
    PoseReadings& r = readings_[k];
    const auto n = static_cast<int>(states[k].pairs.values.size());
    for (int& mode : r.modes) {
      if (mode >= n || !(states[k].pairs.values(std::min(mode, n - 1)) > 0)) {
        notes_.error(972, study_.poses[k].loc,
                     fmt::format("pose \"{}\": mode {} is no vibration of the model",
                                 study_.poses[k].name, mode + 1));
        return false;
      }
      r.omega.push_back(std::sqrt(states[k].pairs.values(mode)));
      r.omega_sigma.push_back(s.frequency_noise * r.omega.back());
      Eigen::VectorXd y = states[k].rows * states[k].pairs.vectors.col(mode);
      y /= std::max(y.lpNorm<Eigen::Infinity>(), 1e-300);
      r.shapes.push_back(std::move(y));
      r.shape_sigma.push_back(s.shape_noise > 0 ? s.shape_noise : kExactShape);
      mode = -1;  // by its shape, as a measured one
    }
  }
  exact_ = readings_;
  readings_ = drawn(0);
  return true;
}

std::vector<PoseReadings> Updater::drawn(int draw) const {
  const SimulatedTest& s = study_.simulate.front();
  std::vector<PoseReadings> out = exact_;
  std::uint64_t reading = 0;
  const auto number = static_cast<std::uint64_t>(draw);
  for (PoseReadings& r : out)
    for (size_t i = 0; i < r.omega.size(); ++i) {
      r.omega[i] *= 1 + s.frequency_noise * normal(study_.seed, kFrequencyStream + reading, number);
      for (Eigen::Index k = 0; k < r.shapes[i].size(); ++k)
        r.shapes[i](k) += s.shape_noise * normal(study_.seed, kShapeStream + reading,
                                                 number * 100000 + static_cast<std::uint64_t>(k));
      ++reading;
    }
  return out;
}

void Updater::draw() {
  const int draws = study_.simulate.front().draws;
  Eigen::MatrixXd values(count(), draws);
  std::vector<double> before(static_cast<size_t>(draws)), after(before);
  std::vector<char> good(static_cast<size_t>(draws), 0), improved(good), nearer(good), within(good);
  std::atomic<int> done = 0;
  std::atomic<bool> ended = false;
  std::mutex speaking;
  const auto one = [&](UpdateEngine& engine, int n) {
    const std::vector<PoseReadings> readings = drawn(n);
    const Outcome found = by_method(engine, readings, -1);
    std::vector<PoseState> states;
    if (!found.ok || !engine.evaluate(found.chi, false, states)) return;
    const auto at = static_cast<size_t>(n);
    good[at] = improved[at] = nearer[at] = 1;
    within[at] =
        (found.chi.array() >= low_.array()).all() && (found.chi.array() <= high_.array()).all() ? 1
                                                                                                : 0;
    values.col(n) = engine.theta(found.chi);
    int modes = 0;
    for (size_t k = 0; k < readings.size(); ++k) {
      const ModePairing first = engine.pair(before_[k], readings[k]),
                        last = engine.pair(states[k], readings[k]);
      for (size_t i = 0; i < readings[k].omega.size(); ++i, ++modes) {
        const auto error = [&](const PoseState& s, int mode, double omega) {
          return std::abs(std::sqrt(std::abs(s.pairs.values(mode))) / omega - 1);
        };
        const double measured = readings[k].omega[i], truth = exact_[k].omega[i];
        const double was = error(before_[k], first.modes[i], measured),
                     is = error(states[k], last.modes[i], measured);
        if (!(error(states[k], last.modes[i], truth) < error(before_[k], first.modes[i], truth)))
          nearer[at] = 0;
        before[at] += was;
        after[at] += is;
        if (!(is < was)) improved[at] = 0;
      }
    }
    before[at] /= modes;
    after[at] /= modes;
  };
  tbb::task_arena arena(study_.threads > 0 ? study_.threads : tbb::task_arena::automatic);
  arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<int>(0, draws), [&](const tbb::blocked_range<int>& range) {
      UpdateEngine own = engine_->clone();
      for (int n = range.begin(); n < range.end() && !ended; ++n) {
        one(own, n);
        const double finished = ++done / static_cast<double>(draws);
        const std::unique_lock lock(speaking, std::try_to_lock);
        if (lock.owns_lock() && progress_ && !progress_(finished)) ended = true;
      }
    });
  });
  out_.complete = !ended;
  DrawnUpdates& d = out_.draws;
  d.draws = done;
  d.mean = d.std = Eigen::VectorXd::Zero(count());
  int used = 0;
  for (int n = 0; n < draws; ++n) {
    const auto at = static_cast<size_t>(n);
    if (good[at] == 0) continue;
    ++used;
    d.all_improved += improved[at];
    d.all_nearer += nearer[at];
    d.within_bounds += within[at];
    d.mean += values.col(n);
    d.mean_error_before += before[at];
    d.mean_error_after += after[at];
  }
  d.failed = d.draws - used;
  if (used == 0) return;
  d.mean /= used;
  d.mean_error_before /= used;
  d.mean_error_after /= used;
  for (int n = 0; n < draws; ++n)
    if (good[static_cast<size_t>(n)] != 0) d.std += (values.col(n) - d.mean).cwiseAbs2();
  d.std = (d.std / std::max(1, used - 1)).cwiseSqrt();
}

}  // namespace panto::update_run
