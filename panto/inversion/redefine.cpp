#include "panto/inversion/redefine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/inversion/invert.hpp"
#include "panto/numerics/eigenproblems.hpp"
#include "panto/numerics/pencil.hpp"

namespace panto {
namespace {

using Complex = std::complex<double>;

constexpr int kSamples = 20;     // weights at which zeros are shown
constexpr double kWidth = 1e-4;  // of the interval that the limit is found in
constexpr double kBelow = 0.99;  // of the limit: at the limit itself two zeros meet
constexpr double kGrows = 5;     // e^5 times until the end of a run is too much

// Re s / |s|; a zero that is one at the origin to round-off has no direction.
double direction(Complex s, double fastest) {
  return std::abs(s) > 1e-9 * fastest ? s.real() / std::abs(s) : 0;
}

Result<WeightedZeros> zeros_of(const Model& model, const Params& params, const ServoChoice& choice,
                               double weight) {
  Result<std::unique_ptr<ModelServo>> servo = ModelServo::create(model, params, choice);
  if (!servo.ok()) return servo.diagnostics();
  const Result<Path> here = path_at_rest(**servo);
  if (!here.ok()) return here.diagnostics();
  const Result<Rest> rest = rest_at(**servo, *here, 0);
  if (!rest.ok()) return rest.diagnostics();
  const ServoPencil p = servo_pencil(**servo, 0, *rest);
  const PencilStructure s = reduce_pencil(p.E, p.A, Eigen::MatrixXd(p.E.rows(), 0));
  if (!s.regular) {
    Diagnostics d;
    d.error(1032, choice.loc,
            fmt::format("no inverse with weight {:.4g}: the inputs do not determine the outputs",
                        weight));
    return d;
  }
  WeightedZeros out{weight, s.values(), 0};
  double fastest = 0;
  for (const Complex z : out.zeros) fastest = std::max(fastest, std::abs(z));
  out.worst = out.zeros.empty() ? 0 : -1;
  for (const Complex z : out.zeros) out.worst = std::max(out.worst, direction(z, fastest));
  return out;
}

// Whether one is at the origin to round-off, which splits a double one into a slow pair of any kind.
bool drifts(const std::vector<Complex>& zeros) {
  constexpr double kDrifts = 1e-5;  // of their middle magnitude, as for stable inversion
  double slowest = 1e300, sum = 0;
  for (const Complex s : zeros) {
    slowest = std::min(slowest, std::abs(s));
    sum += std::log(std::max(std::abs(s), 1e-3));
  }
  return !zeros.empty() &&
         slowest < kDrifts * std::max(1.0, std::exp(sum / static_cast<double>(zeros.size())));
}

std::string method_of(const InverseOptions& o) {
  return o.scheme == InverseScheme::kRadau5 ? "radau5" : fmt::format("bdf{}", o.order);
}

// The largest weight from 0 on whose zeros stay out of the right half plane; `along` gets what was seen on the way.
template <class Zeros>
Result<double> largest(const Zeros& zeros, double marginal, std::vector<WeightedZeros>* along) {
  double good = 0, bad = -1;
  for (int k = 0; k <= kSamples; ++k) {
    if (bad >= 0 && along == nullptr) break;
    const double weight = static_cast<double>(k) / kSamples;
    Result<WeightedZeros> at = zeros(weight);
    if (!at.ok()) return at.diagnostics();
    if (bad < 0) (at->worst > marginal ? bad : good) = weight;
    if (along != nullptr) along->push_back(std::move(*at));
  }
  if (bad < 0) return 1.0;
  if (bad == 0) return -1.0;
  while (bad - good > kWidth) {
    const double middle = (good + bad) / 2;
    const Result<WeightedZeros> at = zeros(middle);
    if (!at.ok()) return at.diagnostics();
    (at->worst > marginal ? bad : good) = middle;
  }
  return good;
}

TrueOutput compared(const Inversion& found, const Path& path, size_t i, TrueOutput out) {
  double sum = 0, last = path.begin();
  for (size_t k = 0; k < found.t.size(); ++k) {
    const double e = out.inverse[k] - found.desired[i][k];
    out.largest = std::max(out.largest, std::abs(e));
    if (found.t[k] <= path.end() + 1e-9) {
      sum += e * e * (found.t[k] - last);
      last = found.t[k];
    } else {
      out.residual = std::max(out.residual.value_or(0), std::abs(e));
    }
  }
  out.mean_square = sum / (path.end() - path.begin());
  return out;
}

}  // namespace

bool tolerates(const RedefinedOutput& other, const ServoAnalysis& analysis) {
  return analysis.type == InverseClass::kNonMinimumPhase && other.weight <= other.limit;
}

ServoChoice redefined(const ServoChoice& choice, const Redefinition& how, double weight,
                      double axial) {
  ServoChoice out = choice;
  std::vector<std::string> apart;
  for (size_t i = 0; i < choice.outputs.size(); ++i)
    apart.push_back(fmt::format("(({}) - ({}))", choice.outputs[i], how.rigid[i]));
  for (size_t i = 0; i < choice.outputs.size(); ++i) {
    out.outputs[i] = fmt::format("({}) + {:.12g}*{}", how.rigid[i], weight, apart[i]);
    if (axial >= 0 && axial != weight)
      out.outputs[i] +=
          fmt::format(" + {:.12g}*{}({})*(cos({})*{} + sin({})*{})", axial - weight,
                      i == 0 ? "cos" : "sin", how.along, how.along, apart[0], how.along, apart[1]);
  }
  return out;
}

Result<RedefinedOutput> redefine_output(const Model& model, const Params& params,
                                        const ServoChoice& choice, const Redefinition& how) {
  Diagnostics d;
  if (how.rigid.empty())
    d.error(1086, how.loc,
            "redefine: a weight or a direction alone; needed is what each output would be were the "
            "links rigid (`redefine`, in a study `redefine.rigid`)");
  else if (how.rigid.size() != choice.outputs.size())
    d.error(1086, how.loc,
            fmt::format("redefine: {} rigid outputs for {} outputs that follow a path",
                        how.rigid.size(), choice.outputs.size()));
  for (const std::optional<double> w : {how.weight, how.axial})
    if (w && !(*w >= 0 && *w <= 1))
      d.error(1086, how.loc, fmt::format("redefine: a weight is from 0 to 1, not {:.4g}", *w));
  if (!how.along.empty() && choice.outputs.size() != 2)
    d.error(1086, how.loc,
            fmt::format("redefine: parts along a link and across it need two outputs, x and y, "
                        "there are {}",
                        choice.outputs.size()));
  if (how.along.empty() && how.axial)
    d.error(1086, how.loc, "redefine: a weight of the axial part needs the direction \"along\"");
  if (!(how.marginal > 0 && how.marginal < 1))
    d.error(1086, how.loc,
            fmt::format("redefine: \"marginal\" is between 0 and 1, not {:.4g}", how.marginal));
  if (!d.ok()) return d;
  // What is wrong in an expression is said of it, not of the mixture.
  const ServoChoice mixture = redefined(choice, how, 0.5, how.along.empty() ? -1 : 0.25);
  if (const auto mixed = ModelServo::create(model, params, mixture); !mixed.ok()) {
    if (const auto as_it_is = ModelServo::create(model, params, choice); !as_it_is.ok())
      return as_it_is.diagnostics();
    const auto check = [&](const char* key, size_t i, const std::string& expression) {
      ServoChoice alone = choice;
      alone.outputs[i] = "(" + expression + ")";
      const auto servo = ModelServo::create(model, params, alone);
      if (servo.ok()) return;
      for (const Diagnostic& item : servo.diagnostics().items())
        d.error(item.id, how.loc, fmt::format("redefine, {}: {}", key, item.message));
    };
    for (size_t i = 0; i < how.rigid.size(); ++i) check("rigid", i, how.rigid[i]);
    if (!how.along.empty()) check("along", 0, how.along);
    return d.ok() ? mixed.diagnostics() : d;
  }

  RedefinedOutput out;
  const bool apart = !how.along.empty();
  const auto together = [&](double w) {
    return zeros_of(model, params, redefined(choice, how, w, -1), w);
  };
  const Result<WeightedZeros> rigid = together(0);
  if (!rigid.ok()) return rigid.diagnostics();
  if (drifts(rigid->zeros)) {
    d.error(1087, how.loc,
            "redefine: a zero at the origin with the rigid outputs alone: internal motion drifts, "
            "they are not minimum phase");
    return d;
  }
  Result<double> limit = largest(together, how.marginal, apart ? nullptr : &out.along);
  if (!limit.ok()) return limit.diagnostics();
  if (*limit < 0) {
    d.error(1087, how.loc,
            fmt::format("redefine: a zero at {} 1/s with the rigid outputs alone: no mixture is "
                        "minimum phase",
                        zero_text(rigid->zeros.front())));
    return d;
  }
  out.together = out.limit = *limit;
  if (apart) {
    // Zeros of a bar leave the axis first (SRV-62).
    out.axial = how.axial.value_or(kBelow * out.together);
    const auto across = [&](double w) {
      return zeros_of(model, params, redefined(choice, how, w, out.axial), w);
    };
    limit = largest(across, how.marginal, &out.along);
    if (!limit.ok()) return limit.diagnostics();
    out.limit = std::max(*limit, 0.0);
  }
  out.weight = how.weight.value_or(out.limit < 1 ? kBelow * out.limit : 1);
  out.choice = redefined(choice, how, out.weight, out.axial);
  Result<WeightedZeros> used = zeros_of(model, params, out.choice, out.weight);
  if (!used.ok()) return used.diagnostics();
  out.used = std::move(*used);
  return out;
}

double growth_per_step(const InverseOptions& options, Complex s) {
  const Complex z = s * options.dt;
  if (options.scheme == InverseScheme::kRadau5)
    return std::abs((1.0 + z * (0.4 + z * 0.05)) / (1.0 + z * (-0.6 + z * (0.15 - z / 60.0))));
  // Σ α_i ζ^(k-i) - z ζ^k, times its conjugate: a real polynomial with roots of the same magnitudes.
  const std::vector<double> alpha = bdf_coefficients(options.order);
  const int k = options.order;
  std::vector<Complex> p(alpha.begin(), alpha.end());
  p[0] -= z;
  std::vector<double> square(static_cast<size_t>(2 * k) + 1, 0.0);
  for (int i = 0; i <= k; ++i)
    for (int j = 0; j <= k; ++j)
      square[static_cast<size_t>(i + j)] +=
          (p[static_cast<size_t>(i)] * std::conj(p[static_cast<size_t>(j)])).real();
  Eigen::MatrixXd companion = Eigen::MatrixXd::Zero(2 * k, 2 * k);
  companion.diagonal(-1).setOnes();
  for (int i = 0; i < 2 * k; ++i) companion(0, i) = -square[static_cast<size_t>(i) + 1] / square[0];
  double growth = 0;
  const ComplexPairs pairs = state_pairs(companion);
  for (Eigen::Index i = 0; i < pairs.values.size(); ++i)
    growth = std::max(growth, std::abs(pairs.values[i]));
  return growth;
}

Diagnostics judge_steps(const std::vector<Complex>& zeros, const InverseOptions& options,
                        double seconds, double marginal) {
  Diagnostics d;
  const double steps = seconds / options.dt;
  double fastest = 0;
  for (const Complex s : zeros) fastest = std::max(fastest, std::abs(s));
  std::string growing, damped;
  double most = 0, least = 0;
  int more = 0;
  for (const Complex s : zeros) {
    if (s.imag() < 0) continue;
    const double growth = growth_per_step(options, s);
    if (steps * std::log(std::max(growth, 1e-300)) > kGrows) {
      if (growing.size() < 60)
        growing += (growing.empty() ? "" : ", ") + zero_text(s);
      else
        ++more;
      most = std::max(most, growth);
    } else if (direction(s, fastest) > marginal) {
      if (damped.size() < 60) damped += (damped.empty() ? "" : ", ") + zero_text(s);
      least = std::max(least, growth);
    }
  }
  if (!growing.empty()) {
    const std::string others = more > 0 ? fmt::format(" and {} more", more) : "";
    d.error(1088, {},
            fmt::format(
                "the forward integration diverges: internal motion of the zeros at {}{} 1/s "
                "grows {:.4g} times in every step of {:.4g} s by {}, 1e{:.0f} times until "
                "the end; take a smaller weight, weights along the link and across it, or "
                "a step and a method (bdf2, radau5) that damp it",
                growing, others, most, options.dt, method_of(options), steps * std::log10(most)));
  } else if (!damped.empty()) {
    d.warning(1089, {},
              fmt::format("zeros at {} 1/s in the right half plane: {} damps them with a step of "
                          "{:.4g} s ({:.3g} times per step), with smaller steps they grow",
                          damped, method_of(options), options.dt, least));
  }
  return d;
}

Result<Inversion> invert_redefined(const Model& model, const Params& params,
                                   const ServoChoice& choice, const Redefinition& how,
                                   const Path& path, const InvertOptions& options) {
  if (options.method != InvertMethod::kForward) {
    Diagnostics d;
    d.error(1086, how.loc,
            "redefine: for methods that go forward in time; stable inversion follows the output "
            "itself");
    return d;
  }
  Result<RedefinedOutput> other = redefine_output(model, params, choice, how);
  if (!other.ok()) return other.diagnostics();
  InvertOptions forward = options;
  const double until =
      options.until > 0 ? options.until : path.end() + 0.25 * (path.end() - path.begin());
  Diagnostics notes = judge_steps(other->used.zeros, options.inverse, until, how.marginal);
  if (!notes.ok() && !options.force) return notes;
  forward.force = true;
  forward.expected = notes.items().empty() ? "" : notes.items().front().message;
  Result<Inversion> found = invert(model, params, other->choice, path, forward);
  Diagnostics all;
  for (const Diagnostic& item : notes.items())
    if (options.force || item.severity == Severity::kWarning)
      all.warning(item.id, how.loc, item.message);
  // What is said of the zeros here is said more precisely above.
  for (const Diagnostic& item : found.diagnostics().items()) {
    if (item.id == 1031 || item.id == 1034) continue;
    if (item.severity == Severity::kError)
      all.error(item.id, item.loc, item.message);
    else
      all.warning(item.id, item.loc, item.message);
  }
  if (!found.ok()) return all;

  Result<std::unique_ptr<ModelServo>> truth = ModelServo::create(model, params, choice);
  if (!truth.ok()) return truth.diagnostics();
  ModelServo& servo = **truth;
  const auto n = static_cast<size_t>(servo.nv());
  std::vector<double> y(n), still(n, 0.0), lambda(static_cast<size_t>(servo.n_lambda()), 0.0),
      u(static_cast<size_t>(servo.nu()), 0.0);
  ServoValues values;
  values.resize(servo.nv(), servo.n_lambda(), servo.nu());
  std::vector<TrueOutput> outputs(choice.outputs.size());
  for (size_t k = 0; k < found->t.size(); ++k) {
    for (size_t c = 0; c < n; ++c) y[c] = found->y[c][k];
    servo.evaluate({found->t[k], y, still, still, lambda, u}, false, values);
    for (size_t i = 0; i < outputs.size(); ++i)
      outputs[i].inverse.push_back(
          values.g0[static_cast<Eigen::Index>(servo.n_lambda()) + static_cast<Eigen::Index>(i)]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].name = choice.outputs[i];
    outputs[i].unit = found->output_units[i];
    if (!found->plant.empty()) outputs[i].plant = course_of(servo.outputs()[i], found->plant);
    other->truth.push_back(compared(*found, path, i, std::move(outputs[i])));
  }
  found->redefined = std::move(*other);
  return {std::move(*found), std::move(all)};
}

}  // namespace panto
