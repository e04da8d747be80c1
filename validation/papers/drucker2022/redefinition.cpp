// Drücker, doctoral thesis on servo-constraints, Section 6.5 and the tables of Chapter 6: output redefinition of the flexible arms, relative degrees of the four cases.
//
// | thesis           | here                                              |
// |------------------|---------------------------------------------------|
// | Γ, z_rigid       | weight, `rigid` of a redefinition                 |
// | z_flex           | atan2(tip_y, tip_x); tip_x, tip_y                 |
// | e_t (6.63)       | TrueOutput::mean_square, of the inverse's motion  |
// | residual         | largest deviation of the tip between 1 and 2 s    |
//
// Ten elements, BDF2, 10 ms, 2 s, as printed; of the two-link arm the number of elements is not: ten. The figures print no numbers: "printed" are those of the text. Bands, set
// before the run: half a unit of the last printed digit, 10 % where the text says "about"; where the text says nothing, 5 % of an independent recomputation from the
// thesis' data, named so; counts and integers: one half.
#include <fmt/format.h>

#include <algorithm>

#include "panto/inversion/invert.hpp"
#include "tests/inversion/flexible_arms.hpp"
#include "validation/support.hpp"

namespace panto::validation::drucker2022 {
namespace {

using namespace inversion_test;
constexpr double kDegree = std::numbers::pi / 180, kExact = 0.5;
const char* const kRecomputed = "not printed: recomputed from the thesis' data by others";

InvertOptions forward(double dt, double until) {
  InvertOptions o;
  o.inverse.order = 2;
  o.inverse.dt = dt;
  o.until = until;
  o.verify = false;
  return o;
}

}  // namespace

Result<std::vector<Row>> fig6_13() {
  std::vector<Row> rows;
  Diagnostics d;
  for (const int elements : {1, 4, 10}) {
    const Result<Model> arm = flexible_arm(elements);
    if (!arm.ok()) return arm.diagnostics();
    const auto found = redefine_output(*arm, nominal(*arm), tip_direction(), driven_section());
    if (!found.ok()) return found.diagnostics();
    rows.push_back({fmt::format("one-link, N = {}: largest weight", elements),
                    elements == 10 ? 0.75 : 0.765, found->limit, "", elements == 10 ? 0.01 : 0.005,
                    elements == 10 ? "" : kRecomputed});
  }
  const Result<Model> arm = flexible_arm(10);
  std::vector<double> errors;
  for (const double weight : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75}) {
    const auto found = invert_redefined(*arm, nominal(*arm), tip_direction(),
                                        driven_section(weight), one_link_swing(), forward(0.01, 2));
    if (!found.ok()) return found.diagnostics();
    const TrueOutput& tip = found->redefined->truth.front();
    errors.push_back(tip.mean_square);
    const std::string label = fmt::format("one-link, N = 10, weight {}", weight);
    if (weight == 0)
      rows.push_back({label + ": e_t", 5.7e-3, tip.mean_square, "rad^2", 0.05 * 5.7e-3, ""});
    if (weight == 0.75)
      rows.push_back({label + ": e_t", 6e-5, tip.mean_square, "rad^2", 0.6e-5,
                      "an independent recomputation has 7.7e-5"});
    if (weight == 0)
      rows.push_back({label + ": left after the move", 8.3, *tip.residual / kDegree, "deg", 0.05,
                      "8.4 elsewhere in the text"});
    if (weight == 0.2)
      rows.push_back({label + ": left after the move", 5, *tip.residual / kDegree, "deg", 0.5,
                      "an independent recomputation has 5.3"});
    if (weight == 0.75)
      rows.push_back({label + ": less than 1 deg left after the move", 1,
                      *tip.residual < kDegree ? 1. : 0., "", kExact, ""});
  }
  int rises = 0;
  for (size_t i = 1; i < errors.size(); ++i) rises += errors[i] >= errors[i - 1] ? 1 : 0;
  rows.push_back({"one-link: weights at which e_t does not fall", 0, static_cast<double>(rises), "",
                  kExact, ""});

  const Result<Model> two = flexible_two_link(10);
  if (!two.ok()) return two.diagnostics();
  Redefinition apart = straight_links();
  apart.along = "section_angle";
  const auto limits = redefine_output(*two, nominal(*two), tip_position(), apart);
  if (!limits.ok()) return limits.diagnostics();
  rows.push_back({"two-link: largest weight across the link", 0.75, limits->limit, "", 0.01, ""});
  rows.push_back({"two-link: largest weight along the link too", 0.75, limits->together, "", 0.01,
                  "axial zeros leave the imaginary axis at 0.5: the thesis does not speak of them, "
                  "BDF2 with 10 ms damps them"});
  for (const auto& [weight, printed] :
       {std::pair{0.0, 2.0e-3}, std::pair{0.2, 8.3e-4}, std::pair{0.75, 2.2e-5}}) {
    const auto found = invert_redefined(*two, nominal(*two), tip_position(), straight_links(weight),
                                        two_link_circle(), forward(0.01, 3));
    if (!found.ok()) return found.diagnostics();
    rows.push_back({fmt::format("two-link, weight {}: e_t", weight), printed,
                    found->redefined->truth[0].mean_square + found->redefined->truth[1].mean_square,
                    "m^2", 0.05 * printed, kRecomputed});
  }
  const auto finer = invert_redefined(*two, nominal(*two), tip_position(), straight_links(0.75),
                                      two_link_circle(), forward(0.005, 3));
  rows.push_back({"two-link, weight 0.75, 5 ms: refused for the zeros at fault", 1,
                  !finer.ok() && finer.diagnostics().items().front().id == 1088 ? 1. : 0., "",
                  kExact, "recomputed by others: it diverges"});
  return rows;
}

// Table 6.2, and the degrees of freedom of Table 2.1 with it, from model files.
Result<std::vector<Row>> table6() {
  std::vector<Row> rows;
  const struct {
    const char* name;
    bool perpendicular, torque;
    int degree, held;
  } cases[] = {{"1, free section, torque", false, true, 4, 2},
               {"2, free section, rate", false, false, 3, 3},
               {"3, normal section, torque", true, true, 2, 3},
               {"4, normal section, rate", true, false, 1, 4}};
  double apart = 0;
  for (int elements = 1; elements <= 3; ++elements) {
    std::vector<double> before;
    for (const auto& c : cases) {
      const Result<Model> arm = flexible_arm(elements, c.perpendicular, c.torque);
      if (!arm.ok()) return arm.diagnostics();
      auto servo = ModelServo::create(*arm, nominal(*arm), tip_direction());
      if (!servo.ok()) return servo.diagnostics();
      const Result<AnalysedRest> rest = analyse_at_rest(**servo);
      if (!rest.ok()) return rest.diagnostics();
      const ServoAnalysis& a = rest->analysis;
      const size_t half = a.poles.size() / 2;
      const std::string label = fmt::format("N = {}, case {}", elements, c.name);
      rows.push_back({label + ": relative degree", static_cast<double>(c.degree),
                      static_cast<double>(a.relative_degree.front()), "", kExact, ""});
      rows.push_back(
          {label + ": degrees of freedom", static_cast<double>(6 * (elements + 1) - c.held),
           static_cast<double>(half), "", kExact,
           c.torque ? "" : "half the poles: the driven angle is a state without a speed"});
      rows.push_back({label + ": non-minimum phase", 1,
                      a.type == InverseClass::kNonMinimumPhase ? 1. : 0., "", kExact, ""});
      std::vector<double> zeros;
      for (const auto& z : a.zeros) zeros.push_back(std::abs(z));
      std::sort(zeros.begin(), zeros.end());
      if (!c.torque && zeros.size() != before.size()) apart = 1;
      for (size_t k = 0; !c.torque && k < std::min(before.size(), zeros.size()); ++k)
        apart = std::max(apart, std::abs(zeros[k] / before[k] - 1));
      before = std::move(zeros);
    }
  }
  rows.push_back({"largest relative difference of a zero's magnitude, torque and rate", 0, apart,
                  "", 1e-3, ""});
  return rows;
}

}  // namespace panto::validation::drucker2022
