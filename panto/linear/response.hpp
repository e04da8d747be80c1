// Frequency responses, poles and zeros of a linearised mechanism.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "panto/linear/linearize.hpp"

namespace panto {

// H(iω) = C (iω - A)⁻¹ (B + iω B_rate) + D + iω D_rate, one matrix (outputs x inputs) per frequency [Hz].     (LIN-4)
// A is brought to triangular form once; each frequency then costs n² per input. Undamped resonances give infinite entries.
std::vector<Eigen::MatrixXcd> frequency_response(const LinearModel& linear,
                                                 std::span<const int> outputs,
                                                 std::span<const int> inputs,
                                                 std::span<const double> frequencies_hz);

std::vector<std::complex<double>> poles(const LinearModel& linear);

// Invariant zeros from the chosen inputs to as many outputs: s for which [A - s, B; C, D] loses rank. Inputs whose rates act (drives of order 0)
// are refused by contract.
std::vector<std::complex<double>> zeros(const LinearModel& linear, std::span<const int> outputs,
                                        std::span<const int> inputs);

}  // namespace panto
