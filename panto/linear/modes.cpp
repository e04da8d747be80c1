#include "panto/linear/modes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "panto/mechanics/closure.hpp"
#include "panto/numerics/eigenproblems.hpp"
#include "panto/numerics/sparse_pairs.hpp"

namespace panto {

namespace {

// ω² below this, relative to the largest, is known to the round-off of the eigenproblem alone; the strain energy of its shape is known better, to that of K's entries:
// relative to |z|ᵀ|K||z|.
constexpr double kSoft = 1e-12, kEnergy = 1e-14;
constexpr double kSlow = 1e-6;     // ω² [1/s²] of a quarter of an hour: counts as rigid
constexpr double kNeutral = 1e-7;  // real parts below this, relative to the largest eigenvalue
constexpr int kLarge = 300;        // sizes from which asking for a few modes takes the sparse path

// Stiffness of a force element along its channel and the channel's gradient at the point.
double element_stiffness(const Workspace& workspace, const ForceElement& e, double x) {
  switch (e.law) {
    case LawKind::kSpringDamper:
      return workspace.number(e.stiffness);
    case LawKind::kTable:
      return workspace.model()
          .tables[static_cast<size_t>(e.table)]
          .at(x - workspace.number(e.free))
          .rate;
    case LawKind::kApplied:
    case LawKind::kFriction:
      break;
  }
  return 0;
}

void scale_largest(Eigen::VectorXd& x) {
  Eigen::Index at = 0;
  if (x.size() > 0 && x.cwiseAbs().maxCoeff(&at) > 0) x /= x(at);
}

}  // namespace

Result<Modes> modes(Workspace& workspace, const OperatingPoint& point, const LinearModel& linear,
                    const ModesOptions& options) {
  const Model& model = workspace.model();
  if (!linear.second_order()) {
    Diagnostics d;
    d.error(509, {},
            "modes: velocity-controlled drives leave no second-order form; the poles tell "
            "how the mechanism moves");
    return d;
  }
  Modes out;
  const Eigen::Index n = linear.K_z.rows();
  const Eigen::MatrixXd k = 0.5 * (linear.K_z + linear.K_z.transpose());
  const double size = k.size() > 0 ? k.cwiseAbs().maxCoeff() : 0;
  if (size > 0) out.asymmetry = (linear.K_z - k).cwiseAbs().maxCoeff() / size;
  const bool few = options.count > 0 && options.count < n;
  std::optional<ModalPairs> pairs;
  if (few && n > kLarge) pairs = lowest_pairs(k, linear.M_z, options.count);
  if (!pairs) pairs = symmetric_pairs(k, linear.M_z);
  if (!pairs) {
    Diagnostics d;
    d.error(
        516, {},
        "modes: the mass matrix is not positive definite: a direction free to move has no inertia");
    return d;
  }
  // Round-off of ω²: of the eigenproblem itself, and of K's entries seen through the inverse of M.
  const double largest = pairs->largest;

  struct Spring {
    double stiffness;
    Eigen::VectorXd gradient;
  };
  std::vector<Spring> springs;
  springs.reserve(model.forces.size());
  for (const ForceElement& e : model.forces) {
    out.elements.push_back(e.name);
    Spring s{0, Eigen::VectorXd::Zero(model.nv)};
    if (e.law == LawKind::kSpringDamper || e.law == LawKind::kTable) {
      const double x = workspace.channel(e.channel, Order::kValue, view(point.q), view(point.v),
                                         view(s.gradient));
      s.stiffness = element_stiffness(workspace, e, x);
    }
    springs.push_back(std::move(s));
  }

  const Eigen::Index count =
      few ? std::min<Eigen::Index>(options.count, pairs->values.size()) : pairs->values.size();
  for (Eigen::Index i = 0; i < count; ++i) {
    Mode mode;
    mode.z = pairs->vectors.col(i);
    double square = pairs->values(i);
    if (std::abs(square) <= kSoft * largest) {
      square = mode.z.dot(k * mode.z);
      const double entries = mode.z.cwiseAbs().dot(k.cwiseAbs() * mode.z.cwiseAbs());
      if (std::abs(square) <= std::max(kEnergy * entries, kSlow)) square = 0;
    }
    const double omega = std::sqrt(std::abs(square));
    if (square > 0) mode.frequency_hz = omega / (2 * std::numbers::pi);
    if (square < 0) mode.growth_rate = omega;
    if (mode.frequency_hz > 0) mode.damping = mode.z.dot(linear.D_z * mode.z) / (2 * omega);
    mode.shape = linear.R * mode.z;
    const double potential = 0.5 * mode.z.dot(k * mode.z);
    mode.strain_rest = potential != 0 && omega > 0 ? 1 : 0;
    for (const Spring& s : springs) {
      const double stretch = s.gradient.dot(mode.shape);
      mode.strain.push_back(omega > 0 ? 0.5 * s.stiffness * stretch * stretch / potential : 0.0);
      mode.strain_rest -= mode.strain.back();
    }
    mode.kinetic = mode.shape.cwiseProduct(linear.M * mode.shape);
    mode.participation = linear.B_z.transpose() * mode.z;
    scale_largest(mode.shape);
    out.list.push_back(std::move(mode));
  }

  if (!few) {
    const ComplexPairs poles = state_pairs(linear.A);
    out.eigenvalues = poles.values;
    out.vectors = linear.R * poles.vectors.topRows(linear.R.cols());
    for (Eigen::Index i = 0; i < out.vectors.cols(); ++i) {
      Eigen::Index at = 0;
      if (out.vectors.rows() > 0 && out.vectors.col(i).cwiseAbs().maxCoeff(&at) > 0)
        out.vectors.col(i) /= out.vectors.col(i)(at);
    }
    double fastest = 0;
    out.growth_rate = out.eigenvalues.size() > 0 ? -HUGE_VAL : 0;
    for (const std::complex<double>& s : out.eigenvalues) {
      fastest = std::max(fastest, std::abs(s));
      out.growth_rate = std::max(out.growth_rate, s.real());
    }
    out.stable = out.growth_rate <= kNeutral * fastest;
  } else {
    for (const Mode& m : out.list) {
      out.growth_rate = std::max(out.growth_rate, m.growth_rate);
      out.stable = out.stable && m.growth_rate == 0;
    }
  }
  return out;
}

}  // namespace panto
