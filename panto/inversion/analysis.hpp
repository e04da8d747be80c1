// What can be said about an inverse before it is solved: how inputs reach outputs, poles and zeros, index, class, and how smooth a path must be.
#pragma once

#include <complex>
#include <optional>
#include <string>

#include "panto/inversion/inverse_model.hpp"

namespace panto {

enum class Configuration : std::uint8_t { kOrthogonal, kMixed, kTangential };  // SRV-31
enum class InverseClass : std::uint8_t {
  kFlat,             // no internal dynamics
  kMinimumPhase,     // stable internal dynamics
  kMarginal,         // internal dynamics that neither decay nor grow
  kNonMinimumPhase,  // unstable internal dynamics: forward integration diverges
  kUndetermined,     // the inputs do not determine the outputs here
};
const char* to_string(Configuration c);
const char* to_string(InverseClass c);

struct ServoAnalysis {
  int degrees_of_freedom = 0;  // half the number of poles where drives add no states
  int reachable = 0;  // outputs whose accelerations the inputs reach directly: rank of P (SRV-31)
  Configuration configuration = Configuration::kOrthogonal;
  std::vector<std::complex<double>> poles, zeros;  // finite (SRV-32)
  std::vector<std::complex<double>> zeros_qz;      // by QZ on the same pencil
  std::vector<std::complex<double>>
      zeros_second_order;  // by null spaces of rows and columns (SRV-34), where all rows are on positions
  bool has_second_order = false;
  bool regular = false;              // the inverse exists, as a linear system
  int index = 0;                     // of the inverse equations (PEN-1)
  int motion_index = 0;              // of the same without λ (SRV-36)
  int plant_index = 0;               // of the equations with inputs given
  int total_relative_degree = 0;     // poles minus zeros
  std::vector<int> relative_degree;  // per output; 0: no input acts on it (SRV-33)
  bool decoupling_regular = false;
  InverseClass type = InverseClass::kUndetermined;
  int smoothness = 0;  // continuous derivatives that the path needs
};

// The equations at (y, λ, u) at rest, linearised: E ẋ = A x in x = (y, v, λ, u).
struct ServoPencil {
  Eigen::MatrixXd E, A;
  int nv = 0, n_lambda = 0, nu = 0;
};
ServoPencil servo_pencil(ServoSystem& system, double t, const Rest& rest);

// zeros count as on the imaginary axis where |Re s| < `marginal` times |s| or the largest pole's magnitude.
ServoAnalysis analyse(ServoSystem& system, double t, const Rest& rest, double marginal = 1e-6);

// On which side of a singular decoupling a point of a motion is, where the configuration is orthogonal: the sign of the determinant in SRV-35. 0: cannot be told
// from singular. `values` is scratch of the system's size.
int decoupling_side(ServoSystem& system, const ServoPoint& x, ServoValues& values);

// Errors and warnings before a forward integration along a path: E1031 non-minimum phase, E1032 no inverse, W1033 the path is not smooth enough,
// W1034 marginal internal dynamics.
Diagnostics judge(const ServoAnalysis& analysis, const Path& path);

// A zero and its conjugate, for messages: "-3.2", "-21.9 ± 376.8i".
std::string zero_text(std::complex<double> s);

}  // namespace panto
