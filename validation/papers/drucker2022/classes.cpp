// Drücker, doctoral thesis on servo-constraints, Table 3.3: class and relative degree of the example systems, from our model files (the flexible link: by the
// thesis' own equations, linearised, for its free and its normal cross-section).
//
// Everything is an integer; the band of one half, set before the run, asks for the very number. "zeros to the right" are invariant zeros in the right half
// plane: none of a flat or minimum phase system, one or more of a non-minimum phase one (printed as 1).
#include <fmt/format.h>

#include <algorithm>

#include "panto/inversion/analysis.hpp"
#include "panto/inversion/invert.hpp"
#include "panto/inversion/test/cases.hpp"
#include "validation/support.hpp"

namespace panto::validation::drucker2022 {
namespace {

constexpr double kExact = 0.5;

Result<ServoAnalysis> analysed(const std::string& model, const std::vector<Override>& set,
                               const ServoChoice& choice) {
  Result<Loaded> loaded = load_model(model, set);
  if (!loaded.ok()) return loaded.diagnostics();
  Result<std::unique_ptr<ModelServo>> servo =
      ModelServo::create(*loaded->model, loaded->params, choice);
  if (!servo.ok()) return servo.diagnostics();
  Result<AnalysedRest> rest = analyse_at_rest(**servo);
  if (!rest.ok()) return rest.diagnostics();
  return rest->analysis;
}

void add(std::vector<Row>& rows, const std::string& label, const ServoAnalysis& a,
         const std::vector<int>& degrees, InverseClass type, const std::string& note = "") {
  for (size_t i = 0; i < degrees.size(); ++i)
    rows.push_back({fmt::format("{}: relative degree {}", label, i + 1),
                    static_cast<double>(degrees[i]),
                    i < a.relative_degree.size() ? static_cast<double>(a.relative_degree[i]) : -1,
                    "", kExact, note});
  const bool flat = type == InverseClass::kFlat;
  if (flat)
    rows.push_back({label + ": zeros", 0, static_cast<double>(a.zeros.size()), "", kExact, note});
  else
    rows.push_back({label + ": zeros to the right",
                    type == InverseClass::kNonMinimumPhase ? 1. : 0.,
                    a.type == InverseClass::kNonMinimumPhase ? 1. : 0., "", kExact, note});
}

}  // namespace

Result<std::vector<Row>> table3_3() {
  std::vector<Row> rows;
  Diagnostics d;
  const auto from_file = [&](const std::string& label, const std::string& model,
                             const std::vector<Override>& set, const ServoChoice& choice,
                             const std::vector<int>& degrees, InverseClass type,
                             const std::string& note = "") {
    const Result<ServoAnalysis> a = analysed(model, set, choice);
    if (a.ok())
      add(rows, label, *a, degrees, type, note);
    else
      d.append(a.diagnostics());
  };
  from_file("cable robot, complex", "cable_robot", {},
            {{"x_P", "z_P", "tilt"}, {}, {"u_T", "u_L1", "u_L2"}, {}}, {4, 2, 2},
            InverseClass::kFlat, "rope spacing 0.35 m and a box's inertia are assumed");
  from_file("cable robot, reduced", "cable_robot_reduced", {},
            {{"x_P", "z_P"}, {}, {"u_T", "u_L"}, {}}, {4, 2}, InverseClass::kFlat);
  for (int disks = 2; disks <= 5; ++disks)
    for (const int dampers : {0, 1, disks - 1}) {
      if (dampers == 1 && disks == 2) continue;
      from_file(fmt::format("torsional oscillator, N = {}, n_d = {}", disks, dampers),
                "torsional_oscillator",
                {{"N", std::to_string(disks)}, {"n", std::to_string(dampers)}},
                {{"z"}, {}, {"u"}, {}}, {2 * disks - dampers},
                dampers == 0 ? InverseClass::kFlat : InverseClass::kMinimumPhase);
    }
  const struct {
    const char* alpha;
    bool damped;
    int degree;
  } cars[] = {{"90 deg", true, 3},  {"90 deg", false, 4}, {"15 deg", true, 3},
              {"15 deg", false, 4}, {"0 deg", true, 4},   {"0 deg", false, 6}};
  for (const auto& c : cars) {
    const std::string d12 = c.damped ? "1 N s/m" : "0 N s/m";
    from_file(fmt::format("mass-on-car, {}, {}", c.alpha, c.damped ? "damped" : "undamped"),
              "mass_on_car", {{"alpha", c.alpha}, {"d1", d12}, {"d2", d12}}, {{"z"}, {}, {"u"}, {}},
              {c.degree}, c.degree == 6 ? InverseClass::kFlat : InverseClass::kMinimumPhase);
  }
  from_file("2D manipulator", "manipulator_2d", {}, {{"z"}, {}, {"u"}, {}}, {2},
            InverseClass::kNonMinimumPhase);
  const ServoChoice tip{{"tip_x", "tip_y", "tip_z"}, {}, {"u1", "u2", "u3"}, {}};
  from_file("3D manipulator, centre of mass of link 4 half way", "arm_spatial", {{"s4", "0.25 m"}},
            tip, {2, 2, 2}, InverseClass::kNonMinimumPhase);
  from_file("3D manipulator, mass redistributed", "arm_spatial", {{"s4", "0.168 m"}}, tip,
            {2, 2, 2}, InverseClass::kMinimumPhase,
            "the centre of mass of link 4 is not printed; 0.168 m is assumed");
  for (int elements = 1; elements <= 3; ++elements)
    for (int k = 0; k < 4; ++k) {
      const bool normal = k >= 2, rate = k % 2 != 0;
      auto system = LinearServo::create(inversion_test::ancf_arm(elements, normal, rate));
      if (!system.ok()) return system.diagnostics();
      const Result<Rest> rest = rest_at(*system, inversion_test::turn(), 0);
      if (!rest.ok()) return rest.diagnostics();
      add(rows,
          fmt::format("flexible one-link, {} elements, {} section, {}", elements,
                      normal ? "normal" : "free", rate ? "rate" : "torque"),
          analyse(*system, 0, *rest), {4 - k}, InverseClass::kNonMinimumPhase);
    }
  const Result<ServoAnalysis> two =
      analysed("flexible_two_link", {}, {{"tip_x", "tip_y"}, {}, {"shoulder", "elbow"}, {}});
  if (two.ok()) {
    add(rows, "flexible two-link", *two, {}, InverseClass::kNonMinimumPhase);
    rows.push_back({"flexible two-link: decoupling matrix regular", 0,
                    two->decoupling_regular ? 1. : 0., "", kExact,
                    "the number of elements is not printed; 4 are assumed"});
  } else {
    d.append(two.diagnostics());
  }
  if (!d.ok()) return d;
  return rows;
}

}  // namespace panto::validation::drucker2022
