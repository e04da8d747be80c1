// The residual over complex numbers: the oracle of derivatives. An imaginary part of 1e-40 is exact, nothing is subtracted.
#pragma once

#include <complex>
#include <memory>
#include <type_traits>
#include <utility>

#include "panto/mechanics/rigid/equations.hpp"
#include "tests/laws/laws.hpp"

namespace panto::laws {

using Complex = std::complex<double>;
inline constexpr double kStep = 1e-40;

// Real results of one directional derivative.
struct Derivative {
  Eigen::VectorXd r, phi, phi_dot, phi_ddot, y;
  double energy = 0;
};

// Directions: δq and δv in speeds, the others as they are; empty: zero.
struct Direction {
  Eigen::VectorXd q, v, a, lambda, u, theta;
};

template <class S>
class ComplexResidual {
 public:
  explicit ComplexResidual(const Model& m)
      : model_(m), equations_(std::make_unique<rigid::Equations<S, Complex>>(m)) {
    const Params p = nominal(m);
    constants_ = rigid::bake<S, double>(
        m, std::span<const double>(p.values.data(), static_cast<size_t>(p.values.size())));
  }

  // Derivative of everything along one direction.
  Derivative along(const Sample& s, const Direction& d) {
    const auto seed = [](std::vector<Complex>& to, const Eigen::VectorXd& x,
                         const Eigen::VectorXd& dx) {
      to.resize(static_cast<size_t>(x.size()));
      for (size_t i = 0; i < to.size(); ++i) {
        const auto k = static_cast<Eigen::Index>(i);
        to[i] = {x(k), dx.size() > 0 ? kStep * dx(k) : 0.0};
      }
    };
    Eigen::VectorXd dq;
    if (d.q.size() > 0) {
      dq.setZero(s.q.size());
      for (const Joint& j : model_.joints) {
        if (j.type == JointType::kSpherical) {
          // ½ q ⊗ (0, δ)
          const Eigen::Vector4d p = s.q.segment(j.q, 4);
          const Eigen::Vector3d w = d.q.segment(j.v, 3), x = p.tail(3);
          dq(j.q) = -0.5 * x.dot(w);
          dq.segment(j.q + 1, 3) = 0.5 * (p(0) * w + Eigen::Vector3d(x(1) * w(2) - x(2) * w(1),
                                                                     x(2) * w(0) - x(0) * w(2),
                                                                     x(0) * w(1) - x(1) * w(0)));
        }
      }
      for (const ScalarCoordinate& e : scalar_coordinates(model_)) dq(e.q) = d.q(e.v);
    }
    seed(q_, s.q, dq);
    seed(v_, s.v, d.v);
    seed(a_, s.a, d.a);
    seed(lambda_, s.lambda, d.lambda);
    seed(u_, s.u, d.u);
    rigid::Arguments<Complex> x;
    x.t = s.t;
    x.q = q_.data();
    x.v = v_.data();
    x.a = a_.data();
    x.lambda = lambda_.data();
    x.u = u_.data();
    x.u_rate = s.u_rate.data();
    if (d.theta.size() > 0) {
      std::vector<Complex> theta;
      seed(theta, nominal(model_).values, d.theta);
      return evaluate(rigid::bake<S, Complex>(model_, std::span<const Complex>(theta)), x);
    }
    return evaluate(constants_, x);
  }

  // A channel's own rate and acceleration, and the derivatives of its value and rate along the motion (δq = v, δv = a).
  struct Motion {
    double rate = 0, acceleration = 0, value_derivative = 0, rate_derivative = 0;
  };
  std::vector<Motion> motions(const Sample& s, const std::vector<Channel>& channels) {
    Direction d;
    d.q = s.v;
    d.v = s.a;
    along(s, d);
    std::vector<Motion> result;
    for (const Channel& channel : channels) {
      for (int f : {channel.frame_a, channel.frame_b})
        if (f >= 0) equations_->kin.place_frame(constants_, f);
      const auto c = rigid::evaluate_channel<rigid::Depth::kAcceleration>(equations_->kin,
                                                                          constants_, channel);
      result.push_back(
          {c.rate.real(), c.acceleration.real(), c.value.imag() / kStep, c.rate.imag() / kStep});
    }
    return result;
  }

 private:
  template <class P>
  Derivative evaluate(const rigid::Constants<S, P>& c, const rigid::Arguments<Complex>& x) {
    equations_->evaluate(c, x);
    equations_->outputs(c, x);
    const auto take = [](const std::vector<Complex>& from, int count) {
      Eigen::VectorXd to(count);
      for (int i = 0; i < count; ++i) to(i) = from[static_cast<size_t>(i)].imag() / kStep;
      return to;
    };
    const int np = model_.n_position_rows;
    Derivative d;
    d.r = take(equations_->r, model_.nv);
    d.phi = take(equations_->phi, np);
    d.phi_dot = take(equations_->phi_dot, np + model_.n_velocity_rows);
    d.phi_ddot = take(equations_->phi_ddot, model_.n_rows());
    d.y = take(equations_->y, static_cast<int>(model_.outputs.size()));
    d.energy = (equations_->kinetic_energy(c) + equations_->potential_energy(c)).imag() / kStep;
    return d;
  }

  const Model& model_;
  rigid::Constants<S, double> constants_;
  std::vector<Complex> q_, v_, a_, lambda_, u_;
  std::unique_ptr<rigid::Equations<S, Complex>> equations_;
};

// f(ComplexResidual<space of the model>)
template <class F>
void with_complex(const Model& model, F&& f) {
  if (model.space == SpaceKind::kPlanar) {
    ComplexResidual<Planar> residual(model);
    f(residual);
  } else {
    ComplexResidual<Spatial> residual(model);
    f(residual);
  }
}

}  // namespace panto::laws
