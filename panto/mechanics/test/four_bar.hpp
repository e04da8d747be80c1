// The four-bar of the assembly, check and equilibrium tests.
#pragma once

#include <cmath>

#include "panto/mechanics/test/model_builder.hpp"

namespace panto::test {

// Crank 1, coupler 2, rocker sqrt(13), base 4: closed at theta = 0 with beta = +-90 deg relative to the crank.
struct FourBar : ModelBuilder {
  Channel theta, beta, gamma;
  int tip = -1, end = -1;
  explicit FourBar(double base = 4, double crank = 1, double coupler = 2,
                   double rocker = std::sqrt(13.0))
      : ModelBuilder(SpaceKind::kPlanar) {
    gravity(0, -9.81);
    const int b1 = body("theta", JointType::kRevolute, kGround, -1, -1, {bar(1, crank)});
    const int b2 =
        body("beta", JointType::kRevolute, b1, frame(b1, {crank, 0}), -1, {bar(2, coupler)});
    tip = frame(b2, {coupler, 0});
    const int b3 = body("gamma", JointType::kRevolute, kGround, frame(kGround, {base, 0}), -1,
                        {bar(4, rocker)});
    end = frame(b3, {rocker, 0});
    pin("pin", tip, end, 7);
    theta = coordinate(0);
    beta = coordinate(1);
    gamma = coordinate(2);
  }
};

}  // namespace panto::test
