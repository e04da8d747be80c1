// Stable inversion without conditions at the ends: of all motions that obey the inverse equations over the horizon the one that stays nearest to rest (SRV-51 … SRV-54).
#pragma once

#include "panto/inversion/collocation.hpp"

namespace panto {

// Minimises ½∫|y - rest|² dt. rest: positions at times() of the problem, by column. Conditions that the problem has at its ends are kept: they must leave
// growing and decaying modes free.
// Direct: the discretised integral under the discretised equations, by an interior point method (SRV-52).
[[nodiscard]] Status nearest_to_rest(HorizonCollocation& problem, const Eigen::MatrixXd& rest,
                                     int iterations, double tolerance,
                                     HorizonCollocation::Report& report);
// Indirect: the motion and its adjoint as one boundary value problem (SRV-53, SRV-54). kSingular where inputs do not act on their rows at once.
[[nodiscard]] Status nearest_by_adjoint(HorizonCollocation& problem, const Eigen::MatrixXd& rest,
                                        int iterations, double tolerance,
                                        HorizonCollocation::Report& report);

}  // namespace panto
