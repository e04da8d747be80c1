#include "panto/identification/poses.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numbers>
#include <optional>

#include "panto/identification/modal_map.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/numerics/assignment.hpp"
#include "panto/numerics/random.hpp"
#include "panto/numerics/ranks.hpp"

namespace panto {

namespace {

constexpr double kDegree = std::numbers::pi / 180;
constexpr int kAttempts = 50;         // draws per pose before it counts as not found
constexpr double kStep = 0.3;         // on the way to a pose: rad, or lengths of the mechanism
constexpr double kBorder = 0.02;      // of a range: nearer than this is at the border
constexpr double kLimitSlack = 1e-9;  // rad or m, round-off of closed loops

// Streams of the random generator; one per coordinate or parameter follows.
constexpr std::uint64_t kPoseStream = 1000, kParameterStream = 1000000;

enum class Draw : std::uint8_t { kGood, kUnreachable, kBeyondLimits, kSingular };

struct Drawn {  // a coordinate that is drawn
  int q = 0, v = 0;
  double low = 0, high = 0;
  bool angular = false;
};

// Finds poses; one per thread.
class PoseFinder {
 public:
  PoseFinder(const Model& model, const Params& params, const std::vector<Drawn>& drawn,
             const Eigen::VectorXd& start, std::uint64_t seed)
      : model_(model),
        drawn_(drawn),
        start_(start),
        seed_(seed),
        workspace_(Workspace::create(model, params)) {}

  Draw draw(int number, int attempt, Eigen::VectorXd& q) {
    std::vector<double> target(drawn_.size());
    for (size_t i = 0; i < drawn_.size(); ++i)
      target[i] = drawn_[i].low + (drawn_[i].high - drawn_[i].low) *
                                      uniform(seed_, kPoseStream + i,
                                              static_cast<std::uint64_t>(number) * kAttempts +
                                                  static_cast<std::uint64_t>(attempt));
    q = start_;
    if (model_.n_position_rows == 0) {
      for (size_t i = 0; i < drawn_.size(); ++i) q(drawn_[i].q) = target[i];
    } else if (!go_to(target, q)) {
      return Draw::kUnreachable;
    }
    for (const Joint& j : model_.joints) {
      if (j.nv != 1) continue;
      const Limits& l = model_.limits[static_cast<size_t>(j.v)];
      if ((l.lower >= 0 && q(j.q) < workspace_->number(l.lower) - kLimitSlack) ||
          (l.upper >= 0 && q(j.q) > workspace_->number(l.upper) + kLimitSlack))
        return Draw::kBeyondLimits;
    }
    return Draw::kGood;
  }

 private:
  // Straight in the drawn coordinates, loops closed all the way, so that the mechanism stays in its way of assembly.
  bool go_to(const std::vector<double>& target, Eigen::VectorXd& q) {
    double far = 0;
    for (size_t i = 0; i < drawn_.size(); ++i)
      far = std::max(far, std::abs(target[i] - start_(drawn_[i].q)) /
                              (drawn_[i].angular ? 1 : workspace_->length()));
    const int steps = std::max(1, static_cast<int>(std::ceil(far / kStep)));
    Closure closure(*workspace_, 0);
    for (int k = 1; k <= steps; ++k) {
      closure.wanted.clear();
      for (size_t i = 0; i < drawn_.size(); ++i) {
        WantedValue w;
        w.channel.kind = ChannelKind::kCoordinate;
        w.channel.dof = drawn_[i].v;
        w.channel.angular = drawn_[i].angular;
        const double from = start_(drawn_[i].q);
        w.value = from + (target[i] - from) * k / steps;
        closure.wanted.push_back(w);
      }
      if (!closure.solve(q).converged) return false;
    }
    return true;
  }

  const Model& model_;
  const std::vector<Drawn>& drawn_;
  const Eigen::VectorXd& start_;
  std::uint64_t seed_;
  std::unique_ptr<Workspace> workspace_;
};

std::vector<std::string> single_coordinates(const Model& model) {
  std::vector<std::string> names;
  for (const Joint& j : model.joints)
    if (j.nv == 1) names.push_back(model.coordinate_names[static_cast<size_t>(j.q)]);
  return names;
}

std::string in_words(double value, bool angular) {
  return angular ? fmt::format("{:.6g} deg", value / kDegree) : fmt::format("{:.6g} m", value);
}

class Study {
 public:
  Study(const Model& model, const Params& params, const PosesOptions& options)
      : model_(model),
        params_(params),
        options_(options),
        workspace_(Workspace::create(model, params)) {}

  Result<PoseStudy> run() {
    find_parameters();
    const Result<AssembledState> start = assemble(*workspace_);
    notes_.append(start.diagnostics());
    if (!start.ok()) return notes_;
    start_ = start->q;
    find_ranges();
    if (options_.poses < 1 || options_.samples < 2 || options_.together < 1 ||
        !(options_.spread > 0 && options_.spread < 1))
      notes_.error(702, {},
                   "poses: at least 1 pose, 2 samples and sets of 1, and a spread between 0 and 1 "
                   "are needed");
    if (!notes_.ok()) return notes_;
    workspace_->choose_partition(0, view(start_), true);
    modes_ = static_cast<int>(workspace_->independent_positions().size());
    const int features = options_.damping ? 2 * modes_ : modes_;
    for (int i = 0; i < features; ++i)
      out_.features.push_back(i < modes_ ? fmt::format("f{}", i + 1)
                                         : fmt::format("damping{}", i - modes_ + 1));
    draw_parameters();
    compute();
    collect();
    if (out_.poses.empty()) {
      notes_.error(704, {},
                   fmt::format("poses: none of {} draws is reachable ({} cannot be closed, {} "
                               "leave joint limits, {} are singular); give other ranges",
                               out_.drawn, out_.unreachable, out_.beyond_limits, out_.singular));
      return notes_;
    }
    choose_set();
    look_at_borders();
    return {std::move(out_), std::move(notes_)};
  }

 private:
  // One pose as a row of numbers, the way it travels between ranks.
  [[nodiscard]] size_t width() const {
    return 5 + static_cast<size_t>(model_.nq) + 2 * out_.features.size() * out_.parameters.size();
  }

  void find_parameters() {
    out_.parameters = options_.parameters;
    if (options_.parameters.empty())
      notes_.error(701, {}, "poses: name the parameters that are to be identified");
    std::vector<std::string> known;
    for (const ParameterInfo& p : model_.parameters) known.push_back(p.name);
    for (const std::string& name : options_.parameters) {
      const int index = find_parameter(model_, name);
      if (index < 0) {
        notes_.error(701, {},
                     fmt::format("poses: \"{}\" is no parameter of {}{}", name, model_.name,
                                 did_you_mean(name, known)));
        continue;
      }
      if (params_.values(index) == 0)
        notes_.error(703, {},
                     fmt::format("poses: parameter \"{}\" is zero; give it the value that is "
                                 "expected, --set {}=…",
                                 name, name));
      parameters_.push_back(index);
      out_.nominal.push_back(params_.values(index));
    }
  }

  void find_ranges() {
    std::vector<PoseRange> wanted = options_.ranges;
    if (wanted.empty()) {
      workspace_->choose_partition(0, view(start_), true);
      for (const int v : workspace_->independent_positions())
        for (const Joint& j : model_.joints) {
          if (j.v != v || j.nv != 1) continue;
          const std::string& name = model_.coordinate_names[static_cast<size_t>(j.q)];
          const Limits& l = model_.limits[static_cast<size_t>(v)];
          const bool angular = j.type == JointType::kRevolute;
          if (!angular && (l.lower < 0 || l.upper < 0)) continue;  // stays where it is
          wanted.push_back({name, l.lower >= 0 ? workspace_->number(l.lower) : -90 * kDegree,
                            l.upper >= 0 ? workspace_->number(l.upper) : 90 * kDegree});
        }
    }
    for (const PoseRange& r : wanted) {
      const auto joint =
          std::find_if(model_.joints.begin(), model_.joints.end(), [&](const Joint& j) {
            return j.nv == 1 && model_.coordinate_names[static_cast<size_t>(j.q)] == r.coordinate;
          });
      if (joint == model_.joints.end()) {
        notes_.error(
            506, {},
            fmt::format("poses: \"{}\" is no coordinate of {} that can be drawn{}", r.coordinate,
                        model_.name, did_you_mean(r.coordinate, single_coordinates(model_))));
        continue;
      }
      const bool angular = joint->type == JointType::kRevolute;
      const Limits& l = model_.limits[static_cast<size_t>(joint->v)];
      const auto words = [&](double x) { return in_words(x, angular); };
      if (!(r.low <= r.high))
        notes_.error(702, {},
                     fmt::format("poses: the range of \"{}\" is empty: {} to {}", r.coordinate,
                                 words(r.low), words(r.high)));
      if ((l.lower >= 0 && r.low < workspace_->number(l.lower) - kLimitSlack) ||
          (l.upper >= 0 && r.high > workspace_->number(l.upper) + kLimitSlack))
        notes_.error(
            702, {},
            fmt::format("poses: the range of \"{}\", {} to {}, leaves the joint's limits, {} to {}",
                        r.coordinate, words(r.low), words(r.high),
                        l.lower >= 0 ? words(workspace_->number(l.lower)) : "none",
                        l.upper >= 0 ? words(workspace_->number(l.upper)) : "none"));
      drawn_.push_back({joint->q, joint->v, r.low, r.high, angular});
      out_.ranges.push_back(r);
    }
    out_.coordinates = model_.coordinate_names;
  }

  // The same sets in every pose, so that poses differ by their geometry alone.
  void draw_parameters() {
    if (options_.local) return;
    const auto count = static_cast<Eigen::Index>(parameters_.size());
    sets_.resize(count, options_.samples);
    for (Eigen::Index k = 0; k < count; ++k)
      for (Eigen::Index j = 0; j < options_.samples; ++j)
        sets_(k, j) =
            out_.nominal[static_cast<size_t>(k)] *
            (1 + options_.spread *
                     (2 * uniform(options_.seed, kParameterStream + static_cast<std::uint64_t>(k),
                                  static_cast<std::uint64_t>(j)) -
                      1));
    centred_ = sets_.colwise() - sets_.rowwise().mean();
    centred_ = centred_.array().colwise() / centred_.rowwise().norm().array();
  }

  void compute() {
    const Ranks& ranks = Ranks::world();
    rows_.assign(static_cast<size_t>(options_.poses) * width(), 0);
    std::atomic<int> done = 0;
    std::atomic<bool> ended = false;
    std::mutex speaking;
    tbb::task_arena arena(options_.threads > 0 ? options_.threads : tbb::task_arena::automatic);
    arena.execute([&] {
      tbb::parallel_for(tbb::blocked_range<int>(0, options_.poses),
                        [&](const tbb::blocked_range<int>& block) {
                          PoseFinder finder(model_, params_, drawn_, start_, options_.seed);
                          for (int i = block.begin(); i < block.end() && !ended; ++i) {
                            if (i % ranks.size() == ranks.rank()) one_pose(finder, i);
                            const int finished = ++done;
                            const std::unique_lock lock(speaking, std::try_to_lock);
                            if (lock.owns_lock() && options_.progress &&
                                !options_.progress(finished / static_cast<double>(options_.poses)))
                              ended = true;
                          }
                        });
    });
    out_.complete = !ended;
    ranks.sum(rows_);
  }

  void one_pose(PoseFinder& finder, int number) {
    double* row = rows_.data() + static_cast<size_t>(number) * width();
    Eigen::VectorXd q;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const Draw outcome = finder.draw(number, attempt, q);
      std::optional<Result<ModalMap>> map;
      bool good = outcome == Draw::kGood;
      if (good) {
        map.emplace(ModalMap::create(model_, params_, view(q), parameters_, Operation::kHere));
        good = map->ok() && (*map)->modes() == modes_ && judge(**map, row);
      }
      row[1 + static_cast<int>(good ? Draw::kGood
                                    : (outcome == Draw::kGood ? Draw::kSingular : outcome))] += 1;
      if (!good) continue;
      row[0] = 1;
      std::copy_n(q.data(), q.size(), row + 5);
      return;
    }
  }

  // Correlations and sensitivities of one pose; false where frequencies do not exist.
  bool judge(ModalMap& map, double* row) const {
    const auto features = static_cast<Eigen::Index>(out_.features.size()),
               count = static_cast<Eigen::Index>(parameters_.size());
    Eigen::Map<Eigen::MatrixXd> correlation(row + 5 + model_.nq, features, count),
        sensitivity(row + 5 + model_.nq + features * count, features, count);
    ModalValues values;
    ModalSlopes slopes;
    const View theta(out_.nominal);
    if (!map.evaluate(theta, values, &slopes)) return false;
    const auto relative = [&](double slope, double value, Eigen::Index k) {
      return value != 0 ? slope * theta[static_cast<size_t>(k)] / value : 0;
    };
    for (Eigen::Index k = 0; k < count; ++k)
      for (Eigen::Index i = 0; i < features; ++i)
        sensitivity(i, k) =
            i < modes_ ? relative(slopes.hz(i, k), values.hz(i), k)
                       : relative(slopes.damping(i - modes_, k), values.damping(i - modes_), k);
    if (!sensitivity.allFinite()) return false;
    if (options_.local) {
      // For parameters drawn with one relative spread, ρ tends to these as the spread goes to zero.
      for (Eigen::Index i = 0; i < features; ++i) {
        const double norm = sensitivity.row(i).norm();
        if (norm > 0) correlation.row(i) = sensitivity.row(i) / norm;
      }
      return true;
    }
    Eigen::MatrixXd table(features, sets_.cols());
    if (!options_.damping) {
      if (!map.frequencies(sets_, table)) return false;
    } else {
      for (Eigen::Index j = 0; j < sets_.cols(); ++j) {
        if (!map.evaluate({sets_.col(j).data(), static_cast<size_t>(count)}, values)) return false;
        table.col(j) << values.hz, values.damping;
      }
    }
    table.colwise() -= Eigen::VectorXd(table.rowwise().mean());
    const Eigen::VectorXd norm = table.rowwise().norm();
    correlation = table * centred_.transpose();
    for (Eigen::Index i = 0; i < features; ++i) {
      // A feature that does not depend on the parameters (a rigid mode) has the scatter of round-off only.
      if (sensitivity.row(i).cwiseAbs().maxCoeff() > 1e-9 && norm(i) > 0)
        correlation.row(i) /= norm(i);
      else
        correlation.row(i).setZero();
    }
    return true;
  }

  void collect() {
    const auto features = static_cast<Eigen::Index>(out_.features.size()),
               count = static_cast<Eigen::Index>(parameters_.size());
    for (int i = 0; i < options_.poses; ++i) {
      const double* row = rows_.data() + static_cast<size_t>(i) * width();
      const auto outcomes = [&](Draw d) { return static_cast<int>(row[1 + static_cast<int>(d)]); };
      out_.unreachable += outcomes(Draw::kUnreachable);
      out_.beyond_limits += outcomes(Draw::kBeyondLimits);
      out_.singular += outcomes(Draw::kSingular);
      out_.drawn += outcomes(Draw::kGood) + outcomes(Draw::kUnreachable) +
                    outcomes(Draw::kBeyondLimits) + outcomes(Draw::kSingular);
      if (row[0] == 0) continue;
      ScoredPose pose;
      pose.number = i;
      pose.q = Eigen::Map<const Eigen::VectorXd>(row + 5, model_.nq);
      pose.correlation = Eigen::Map<const Eigen::MatrixXd>(row + 5 + model_.nq, features, count);
      pose.sensitivity = Eigen::Map<const Eigen::MatrixXd>(row + 5 + model_.nq + features * count,
                                                           features, count);
      pose.score = localisation(pose.correlation, pose.told_by);
      pose.information = information(pose.sensitivity.transpose() * pose.sensitivity);
      out_.poses.push_back(std::move(pose));
    }
    std::stable_sort(out_.poses.begin(), out_.poses.end(),
                     [](const ScoredPose& a, const ScoredPose& b) { return a.score > b.score; });
  }

  static double information(const Eigen::MatrixXd& normal) {
    // Relative frequencies change by half of a relative stiffness: with S = ½ a parameter counts 0.
    const Eigen::LDLT<Eigen::MatrixXd> ldlt(4 * normal);
    const Eigen::VectorXd pivots = ldlt.vectorD();
    if (!(pivots.minCoeff() > 0)) return -std::numeric_limits<double>::infinity();
    return pivots.array().log10().sum() / (2 * static_cast<double>(normal.rows()));
  }

  void choose_set() {
    std::vector<const Eigen::MatrixXd*> blocks;
    for (const ScoredPose& p : out_.poses) blocks.push_back(&p.sensitivity);
    const auto count = static_cast<Eigen::Index>(parameters_.size());
    out_.together =
        most_informative(blocks, std::min<int>(options_.together, static_cast<int>(blocks.size())));
    Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(count, count);
    for (const int i : out_.together)
      normal += blocks[static_cast<size_t>(i)]->transpose() * *blocks[static_cast<size_t>(i)];
    out_.together_information = information(normal);
    const Eigen::MatrixXd covariance = normal.ldlt().solve(Eigen::MatrixXd::Identity(count, count));
    for (Eigen::Index k = 0; k < count; ++k)
      out_.together_deviation.push_back(std::isfinite(out_.together_information)
                                            ? std::sqrt(std::max(0.0, covariance(k, k)))
                                            : std::numeric_limits<double>::infinity());
  }

  void look_at_borders() {
    const ScoredPose& best = out_.poses.front();
    std::string at;
    for (size_t i = 0; i < drawn_.size(); ++i) {
      const Drawn& d = drawn_[i];
      const double near = kBorder * (d.high - d.low);
      if (d.high > d.low && std::min(best.q(d.q) - d.low, d.high - best.q(d.q)) < near)
        at += fmt::format("{}{} = {}", at.empty() ? "" : ", ", out_.ranges[i].coordinate,
                          in_words(best.q(d.q), d.angular));
    }
    if (!at.empty())
      notes_.warning(705, {},
                     fmt::format("poses: the best pose is at the border of what was drawn ({}); a "
                                 "wider range may hold a better one",
                                 at));
  }

  const Model& model_;
  const Params& params_;
  const PosesOptions& options_;
  std::unique_ptr<Workspace> workspace_;
  Diagnostics notes_;
  PoseStudy out_;
  std::vector<int> parameters_;
  std::vector<Drawn> drawn_;
  Eigen::VectorXd start_;
  int modes_ = 0;
  Eigen::MatrixXd sets_, centred_;
  std::vector<double> rows_;  // found, outcomes (4), q, correlation, sensitivity per pose
};

}  // namespace

double localisation(const Eigen::MatrixXd& correlation, std::vector<int>& told_by) {
  const Eigen::MatrixXd size = correlation.cwiseAbs();
  told_by = best_assignment(size.transpose());
  double own = 0, others = 0;
  int pairs = 0;
  // Entries in the row of a pair that are no pair themselves.
  Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> other =
      Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>::Constant(size.rows(), size.cols(), false);
  for (Eigen::Index k = 0; k < size.cols(); ++k) {
    const int i = told_by[static_cast<size_t>(k)];
    if (i < 0) continue;
    own += size(i, k);
    ++pairs;
    other.row(i) = true;
  }
  for (Eigen::Index k = 0; k < size.cols(); ++k)
    if (told_by[static_cast<size_t>(k)] >= 0) other(told_by[static_cast<size_t>(k)], k) = false;
  const auto count = other.count();
  if (count > 0) others = other.select(size.array(), 0.0).sum() / static_cast<double>(count);
  return pairs > 0 ? own / pairs - others : 0;
}

std::vector<int> most_informative(const std::vector<const Eigen::MatrixXd*>& sensitivity,
                                  int count) {
  const auto n = static_cast<int>(sensitivity.size());
  if (n == 0 || count < 1) return {};
  const Eigen::Index size = sensitivity[0]->cols();
  std::vector<Eigen::MatrixXd> own;
  double scale = 0;
  for (const Eigen::MatrixXd* s : sensitivity) {
    own.push_back(s->transpose() * *s);
    scale = std::max(scale, own.back().trace());
  }
  // A little of everything keeps the determinant of too few measurements meaningful while the set grows.
  const Eigen::MatrixXd prior = 1e-9 * scale * Eigen::MatrixXd::Identity(size, size);
  const auto value = [&](const Eigen::MatrixXd& normal) {
    return Eigen::LLT<Eigen::MatrixXd>(normal)
        .matrixL()
        .toDenseMatrix()
        .diagonal()
        .array()
        .log()
        .sum();
  };
  std::vector<int> chosen;
  Eigen::MatrixXd sum = prior;
  const auto best_beside = [&](const Eigen::MatrixXd& rest, double& best) {
    int found = -1;
    for (int i = 0; i < n; ++i) {
      if (std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
      const double v = value(rest + own[static_cast<size_t>(i)]);
      if (v > best) {
        best = v;
        found = i;
      }
    }
    return found;
  };
  for (int k = 0; k < count; ++k) {
    double best = -std::numeric_limits<double>::infinity();
    chosen.push_back(std::max(0, best_beside(sum, best)));
    sum += own[static_cast<size_t>(chosen.back())];
  }
  for (bool better = count > 1; better;) {
    better = false;
    for (int& one : chosen) {
      const Eigen::MatrixXd rest = sum - own[static_cast<size_t>(one)];
      double best = value(sum) + 1e-12;
      const int other = best_beside(rest, best);
      if (other < 0) continue;
      sum = rest + own[static_cast<size_t>(other)];
      one = other;
      better = true;
    }
  }
  return chosen;
}

Result<PoseStudy> poses(const Model& model, const Params& params, const PosesOptions& options) {
  return Study(model, params, options).run();
}

}  // namespace panto
