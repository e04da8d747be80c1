// Output redefinition: instead of the output of a flexible arm, a mixture of it and of what it would be were the links rigid; with a weight that leaves the inverse model
// minimum phase it is integrated forward, in real time (SRV-60 … SRV-64).
#pragma once

#include <optional>

#include "panto/inversion/analysis.hpp"
#include "panto/inversion/model_servo.hpp"

namespace panto {

struct Inversion;
struct InvertOptions;

struct Redefinition {
  std::vector<std::string>
      rigid;  // per output: the same of rigid links, an output or an expression
  // Two outputs x and y: angle of the link, an output or an expression. The parts along the link and across it then have weights of their own (SRV-61).
  std::string along;
  std::optional<double>
      weight,  // of the output itself, 0 … 1; none: a hundredth below the largest that stays minimum phase
      axial;  // with `along`, of the part along the link; none: a hundredth below the largest for both parts alike
  double marginal =
      1e-3;  // beams without damping: a zero is on the imaginary axis where |Re s| is less than this times |s|
  Loc loc;
};

struct WeightedZeros {
  double weight = 0;
  std::vector<std::complex<double>> zeros;  // by decreasing real part
  double worst = 0;                         // largest Re s / |s|
};

// A true output where another is followed.
struct TrueOutput {
  std::string name, unit;
  std::vector<double> inverse,
      plant;               // as the inverse model has it; simulated, empty without verification
  double mean_square = 0;  // of inverse - desired over the duration of the path (6.63)
  double largest = 0;      // of the same, over the run
  std::optional<double>
      residual;  // largest distance from the goal after the path's end; none: the run ends with the path
};

struct RedefinedOutput {
  ServoChoice choice;  // with the redefined outputs
  double weight = 0, axial = -1;
  double limit =
      1;  // largest weight that stays minimum phase, from 0 on; with `along`: across the link
  double together = 1;               // the same of both parts alike
  std::vector<WeightedZeros> along;  // zeros by weight, from 0 to 1; axial as used
  WeightedZeros used;
  std::vector<TrueOutput> truth;  // after an inversion
};

// Whether zeros lie in the right half plane, but no farther than the limit of the weight allows.
bool tolerates(const RedefinedOutput& other, const ServoAnalysis& analysis);

// The choice with outputs rigid + Γ (output - rigid); axial below zero: as Γ.
ServoChoice redefined(const ServoChoice& choice, const Redefinition& how, double weight,
                      double axial);

// Zeros along the weight, its limit by bisection, and the choice to be inverted. Errors: those of ModelServo; E1086: not one rigid output per output, weights
// outside 0 … 1, `along` of other than two outputs; E1087: not minimum phase with rigid links, or a zero at the origin.
Result<RedefinedOutput> redefine_output(const Model& model, const Params& params,
                                        const ServoChoice& choice, const Redefinition& how);

// |ζ|: how many times internal motion e^{st} grows in one step of the method (SRV-63).
double growth_per_step(const InverseOptions& options, std::complex<double> s);
// What grows in so many seconds of a forward integration: E1088, the zero at fault is named. W1089: zeros in the right half plane that the method damps at this step.
Diagnostics judge_steps(const std::vector<std::complex<double>>& zeros,
                        const InverseOptions& options, double seconds, double marginal);

// Redefined, judged, integrated forward; compared with the true outputs.
Result<Inversion> invert_redefined(const Model& model, const Params& params,
                                   const ServoChoice& choice, const Redefinition& how,
                                   const Path& path, const InvertOptions& options);

}  // namespace panto
