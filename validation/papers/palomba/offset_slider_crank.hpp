// The offset slider-crank of Palomba's test TS-I in closed form: one coordinate θ, crank torque T and slider force F. Uniform bars, slider along +x at
// height h:  I(θ) θ̈ + I′(θ)/2 θ̇² + V′(θ) = T + F x_s′(θ).
#pragma once

#include <cmath>

namespace panto::validation::palomba {

struct OffsetSliderCrank {
  double mc = 1.872, mr = 3.744, ms = 1.2, c = 0.3, r = 0.6, h = 0.05, g = 9.81;
  double phi = 0, x1 = 0, inertia = 0, half_slope = 0, weight = 0, x2 = 0, slider = 0;
  // Rod angle, slider x and its first two derivatives by θ, I, I'/2 and V' at θ.
  void at(double th) {
    const double w = c * std::sin(th) - h, d = std::sqrt(r * r - w * w);
    phi = std::asin(-w / r);
    slider = c * std::cos(th) + d;
    const double p1 = -c * std::cos(th) / d,
                 p2 = (c * std::sin(th) + r * std::sin(phi) * p1 * p1) / d;
    x1 = -c * std::sin(th) - r * std::sin(phi) * p1;
    x2 = -c * std::cos(th) - r * (std::cos(phi) * p1 * p1 + std::sin(phi) * p2);
    const double xg1 = -c * std::sin(th) - 0.5 * r * std::sin(phi) * p1,
                 yg1 = c * std::cos(th) + 0.5 * r * std::cos(phi) * p1,
                 xg2 = -c * std::cos(th) - 0.5 * r * (std::cos(phi) * p1 * p1 + std::sin(phi) * p2),
                 yg2 =
                     -c * std::sin(th) + 0.5 * r * (-std::sin(phi) * p1 * p1 + std::cos(phi) * p2);
    inertia =
        mc * c * c / 3 + mr * r * r / 12 * p1 * p1 + mr * (xg1 * xg1 + yg1 * yg1) + ms * x1 * x1;
    half_slope = mr * r * r / 12 * p1 * p2 + mr * (xg1 * xg2 + yg1 * yg2) + ms * x1 * x2;
    weight = g * (0.5 * mc * c * std::cos(th) + mr * yg1);
  }
  // f12, after at().
  [[nodiscard]] double torque(double rate, double theta_ddot, double force) const {
    return inertia * theta_ddot + half_slope * rate * rate + weight - force * x1;
  }
  [[nodiscard]] double acceleration(double rate, double torque, double force) const {
    return (torque + force * x1 - weight - half_slope * rate * rate) / inertia;
  }
  [[nodiscard]] double slider_acceleration(double rate, double theta_ddot) const {
    return x1 * theta_ddot + x2 * rate * rate;
  }
};

}  // namespace panto::validation::palomba
