// Cross sections, symmetric about the neutral axis y = 0 of bending in the plane.
#pragma once

#include <cmath>
#include <numbers>

#include "panto/base/contract.hpp"

namespace panto {

namespace element_detail {
// Whether the value (of a dual or complex number: its real part) is positive and finite.
template <class P>
bool positive(const P& x) {
  if constexpr (requires { x.real(); }) {
    return x.real() > 0.0 && std::isfinite(x.real());
  } else if constexpr (requires { x.a; }) {
    return x.a > 0.0 && std::isfinite(x.a);
  } else {
    return x > 0.0 && std::isfinite(x);
  }
}
}  // namespace element_detail

// paper symbol → code → unit: A → area → m²;  I = ∫y² dA → second_moment → m⁴;  I₄ = ∫y⁴ dA → fourth_moment → m⁶.
// The rotary inertia per length is ρ I. Only the shear-deformable ANCF element asks for I₄.
template <class P>
struct CrossSection {
  P area{}, second_moment{}, fourth_moment{};
};

template <class P>
CrossSection<P> circle_section(const P& diameter) {
  PANTO_EXPECT(element_detail::positive(diameter), "a circular section needs a positive diameter");
  const P d2 = diameter * diameter;
  const double pi = std::numbers::pi;
  return {pi / 4.0 * d2, pi / 64.0 * d2 * d2, pi / 512.0 * d2 * d2 * d2};
}

template <class P>
CrossSection<P> tube_section(const P& outer_diameter, const P& inner_diameter) {
  PANTO_EXPECT(
      element_detail::positive(inner_diameter) &&
          element_detail::positive(P(outer_diameter - inner_diameter)),
      "a tube needs a positive inner diameter and an outer diameter larger than the inner one");
  const CrossSection<P> o = circle_section(outer_diameter), i = circle_section(inner_diameter);
  return {o.area - i.area, o.second_moment - i.second_moment, o.fourth_moment - i.fourth_moment};
}

// height: in the plane of bending; width: across it.
template <class P>
CrossSection<P> rectangle_section(const P& width, const P& height) {
  PANTO_EXPECT(element_detail::positive(width) && element_detail::positive(height),
               "a rectangular section needs positive width and height");
  const P h2 = height * height, a = width * height;
  return {a, a * h2 / 12.0, a * h2 * h2 / 80.0};
}

// Area and second moment given; the fourth moment is that of the rectangle with both.
template <class P>
CrossSection<P> given_section(const P& area, const P& second_moment) {
  PANTO_EXPECT(element_detail::positive(area) && element_detail::positive(second_moment),
               "a section needs positive area and second moment");
  return {area, second_moment, 1.8 * second_moment * second_moment / area};
}

}  // namespace panto
