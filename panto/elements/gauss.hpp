// Gauss–Legendre points and weights on [0, 1]: n points integrate polynomials of degree 2n − 1 exactly.
#pragma once

#include <array>

namespace panto {

struct GaussPoint {
  double xi, weight;
};

inline constexpr std::array<GaussPoint, 2> kGauss2{{
    {0.21132486540518712, 0.5},
    {0.78867513459481288, 0.5},
}};
inline constexpr std::array<GaussPoint, 3> kGauss3{{
    {0.11270166537925831, 0.27777777777777778},
    {0.5, 0.44444444444444444},
    {0.88729833462074169, 0.27777777777777778},
}};
inline constexpr std::array<GaussPoint, 4> kGauss4{{
    {0.069431844202973712, 0.17392742256872693},
    {0.33000947820757187, 0.32607257743127307},
    {0.66999052179242813, 0.32607257743127307},
    {0.93056815579702629, 0.17392742256872693},
}};
inline constexpr std::array<GaussPoint, 5> kGauss5{{
    {0.046910077030668004, 0.11846344252809454},
    {0.23076534494715845, 0.23931433524968324},
    {0.5, 0.28444444444444444},
    {0.76923465505284155, 0.23931433524968324},
    {0.953089922969332, 0.11846344252809454},
}};

}  // namespace panto
