#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"
#include "panto/mechanics/labels.hpp"

namespace panto {

namespace {

constexpr double kRankTolerance = 1e-8;  // of constraint rows scaled to angles and lengths
constexpr double kNeighbour = 0.02;      // rad or lengths: how far neighbouring poses are
constexpr int kDirections = 8;           // tried, of the independent ones
constexpr double kMassless = 1e-12;      // relative inertia of a direction without any
constexpr double kStiffFrequency = 1e3;  // Hz
constexpr double kStiffRate = 1e4;       // 1/s, of dampers and friction
constexpr double kTwoPi = 2 * std::numbers::pi;

class Checker {
 public:
  explicit Checker(Workspace& workspace)
      : workspace_(workspace), model_(workspace.model()), closure_(workspace, 0) {}

  Result<CheckReport> run() {
    auto assembled = assemble(workspace_);
    if (!assembled) return assembled.diagnostics();
    report_.q = assembled->q;
    report_.v = assembled->v;
    count();
    ranks();
    inertia();
    elements();
    ranges();
    return {std::move(report_), std::move(notes_)};
  }

 private:
  void count() {
    report_.bodies = static_cast<int>(model_.file_joints.size());
    report_.joints = report_.bodies;
    for (const ConstraintGroup& g : model_.groups)
      if (!g.rows.empty() &&
          model_.rows[static_cast<size_t>(g.rows[0])].target == TargetKind::kConstant)
        ++report_.loops;
    report_.coordinates = model_.nq;
    report_.rows = model_.n_rows();
  }

  // Constraint rows in angles and lengths.
  Eigen::MatrixXd rows_at(const Eigen::VectorXd& q) {
    Eigen::MatrixXd g;
    workspace_.constraint_jacobian(0, view(q), g);
    return closure_.row_scale().asDiagonal() * g * closure_.dof_scale().asDiagonal();
  }

  [[nodiscard]] int velocity_rows() const {
    return model_.n_position_rows + model_.n_velocity_rows;
  }

  void ranks() {
    const Eigen::MatrixXd here = rows_at(report_.q);
    MinimumNorm decomposition(kRankTolerance);
    decomposition.compute(here.topRows(velocity_rows()));
    const int rank = decomposition.rank();
    report_.mobility = model_.nv - rank;

    // The generic rank: that of the neighbours on the motion (SNG-1).
    int generic = rank;
    Eigen::VectorXd generic_pose = report_.q;
    if (rank < std::min(velocity_rows(), model_.nv)) {
      const Eigen::MatrixXd free = decomposition.null_space();
      const auto count = std::min<Eigen::Index>(free.cols(), kDirections);
      for (Eigen::Index k = 0; k <= count; ++k) {
        // The last one is a mixture of all.
        const Eigen::VectorXd direction =
            k < count ? Eigen::VectorXd(free.col(k))
                      : Eigen::VectorXd(free * Eigen::VectorXd::LinSpaced(free.cols(), 0.4, 1.1));
        for (const double sign : {1.0, -1.0}) {
          Eigen::VectorXd q = report_.q;
          const Eigen::VectorXd step =
              sign * kNeighbour * closure_.dof_scale().cwiseProduct(direction);
          workspace_.move(view(q), view(step));
          if (!closure_.solve(q).converged) continue;
          MinimumNorm there(kRankTolerance);
          there.compute(rows_at(q).topRows(velocity_rows()));
          if (there.rank() <= generic) continue;
          generic = there.rank();
          generic_pose = q;
        }
      }
    }
    report_.degrees_of_freedom = model_.nv - generic;
    report_.singular_pose = generic > rank;
    if (report_.singular_pose)
      notes_.warning(522, model_.groups.empty() ? Loc{} : model_.groups[0].loc,
                     "the initial pose is singular: " + std::to_string(report_.mobility) +
                         " independent motions start here, " +
                         std::to_string(report_.degrees_of_freedom) +
                         " elsewhere; the motion may branch");
    name_redundant(rows_at(generic_pose));

    // The partition knows the generic rank before it sees the pose.
    workspace_.choose_partition(0, view(generic_pose));
    workspace_.choose_partition(0, view(report_.q));
    report_.conditioning = workspace_.conditioning();
    for (int k : workspace_.independent_speeds()) {
      std::string name = model_.speed_names[static_cast<size_t>(k)];
      for (const ScalarCoordinate& e : scalar_coordinates(model_))
        if (e.v == k) name = model_.coordinate_names[static_cast<size_t>(e.q)];
      report_.independent.push_back(std::move(name));
    }
  }

  // Row by row: what the rows before it already say is redundant.
  void name_redundant(const Eigen::MatrixXd& a) {
    Eigen::MatrixXd basis(a.cols(), std::min(a.rows(), a.cols()));
    Eigen::Index size = 0;
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      Eigen::VectorXd rest = a.row(i).transpose();
      const double norm = rest.norm();
      for (int k = 0; k < 2; ++k)
        rest -= basis.leftCols(size) * (basis.leftCols(size).transpose() * rest);
      if (size < basis.cols() && rest.norm() > kRankTolerance * norm && norm > kRankTolerance) {
        basis.col(size++) = rest.normalized();
        continue;
      }
      const int row = static_cast<int>(i);
      std::string label = group_label(model_, model_.rows[static_cast<size_t>(row)].group);
      label.erase(std::remove(label.begin(), label.end(), '"'), label.end());
      report_.redundant.push_back(label + ": " + row_component(model_, row));
    }
  }

  // Reduced mass matrix along the possible motions, and motions without inertia.
  void inertia() {
    MinimumNorm decomposition(kRankTolerance);
    decomposition.compute(rows_at(report_.q));
    motions_ = closure_.dof_scale().asDiagonal() * decomposition.null_space();
    Eigen::MatrixXd mass;
    workspace_.mass_matrix(view(report_.q), mass);
    reduced_ = symmetric_eigen(motions_.transpose() * mass * motions_);
    const Eigen::Index n = reduced_.values.size();
    if (n == 0) return;
    smallest_ = kMassless * std::max(reduced_.values(n - 1), 0.0);
    std::vector<char> named(model_.bodies.size(), 0);
    for (Eigen::Index k = 0; k < n && reduced_.values(k) <= smallest_; ++k) {
      const Eigen::VectorXd motion =
          (motions_ * reduced_.vectors.col(k)).cwiseQuotient(closure_.dof_scale());
      const double largest = motion.cwiseAbs().maxCoeff();
      for (const FileJoint& f : model_.file_joints) {
        const auto body = static_cast<size_t>(f.first + f.count - 1);
        double part = 0;
        for (int i = f.first; i < f.first + f.count; ++i) {
          const Joint& j = model_.joints[static_cast<size_t>(i)];
          if (j.nv > 0) part = std::max(part, motion.segment(j.v, j.nv).cwiseAbs().maxCoeff());
        }
        if (part < 0.1 * largest || named[body]) continue;
        named[body] = 1;
        notes_.warning(521, model_.bodies[body].loc,
                       "body \"" + model_.bodies[body].name +
                           "\" can move without moving any mass: its acceleration is not defined; "
                           "give it inertia or hold it");
      }
    }
  }

  // gᵀ M⁻¹ g along the possible motions: acceleration of a channel per unit force on it.
  double compliance(const Channel& channel) {
    Eigen::VectorXd gradient(model_.nv);
    workspace_.channel(channel, Order::kRate, view(report_.q), view(report_.v), view(gradient));
    const Eigen::VectorXd along = reduced_.vectors.transpose() * (motions_.transpose() * gradient);
    double sum = 0;
    for (Eigen::Index k = 0; k < along.size(); ++k)
      if (reduced_.values(k) > smallest_) sum += along(k) * along(k) / reduced_.values(k);
    return sum;
  }

  void elements() {
    for (const ForceElement& e : model_.forces) {
      double stiffness = 0, damping = workspace_.number(e.damping);
      switch (e.law) {
        case LawKind::kSpringDamper:
          stiffness = workspace_.number(e.stiffness);
          break;
        case LawKind::kTable: {
          const double x = workspace_.channel(e.channel, Order::kValue, view(report_.q), {}, {}) -
                           workspace_.number(e.free);
          stiffness = model_.tables[static_cast<size_t>(e.table)].at(x).rate;
          break;
        }
        case LawKind::kFriction:
          damping += workspace_.number(e.level) / workspace_.number(e.speed);
          break;
        case LawKind::kApplied:
          damping = 0;
          break;
      }
      const double per_force = stiffness != 0 || damping != 0 ? compliance(e.channel) : 0;
      const double frequency = std::sqrt(std::max(0.0, stiffness * per_force)) / kTwoPi;
      const double rate = damping * per_force;
      report_.frequencies_hz.push_back(frequency);
      std::array<char, 160> text{};
      if (frequency > kStiffFrequency) {
        std::snprintf(text.data(), text.size(),
                      " is stiff: it implies %.3g Hz; explicit steps must stay below %.2g s",
                      frequency, 2 / (kTwoPi * frequency));
      } else if (rate > kStiffRate) {
        std::snprintf(text.data(), text.size(),
                      " is stiff: its damping implies a time constant of %.3g s; explicit steps "
                      "must stay below %.2g s",
                      1 / rate, 2 / rate);
      } else {
        continue;
      }
      notes_.warning(523, e.loc, "force \"" + e.name + "\"" + text.data());
    }
  }

  void ranges() {
    for (const Joint& j : model_.joints) {
      if (j.nv != 1 || model_.limits.empty()) continue;
      const Limits& limits = model_.limits[static_cast<size_t>(j.v)];
      const double x = report_.q(j.q);
      const double low = limits.lower >= 0 ? workspace_.number(limits.lower) : -HUGE_VAL,
                   high = limits.upper >= 0 ? workspace_.number(limits.upper) : HUGE_VAL;
      if (x >= low && x <= high) continue;
      Channel c;
      c.angular = j.type != JointType::kPrismatic;
      notes_.warning(524, j.spec >= 0 ? model_.file_joints[static_cast<size_t>(j.spec)].loc : Loc{},
                     model_.coordinate_names[static_cast<size_t>(j.q)] + " starts at " +
                         quantity_text(c, x) + ", outside its range [" + quantity_text(c, low) +
                         ", " + quantity_text(c, high) + "]");
    }
  }

  Workspace& workspace_;
  const Model& model_;
  Closure closure_;
  CheckReport report_;
  Diagnostics notes_;
  Eigen::MatrixXd motions_;  // speeds per independent motion
  SymmetricEigen reduced_;
  double smallest_ = 0;
};

}  // namespace

Result<CheckReport> check(Workspace& workspace) { return Checker(workspace).run(); }

}  // namespace panto
