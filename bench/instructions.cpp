// One operation on one model inside a callgrind counting region: `instructions MODEL[:N] OPERATION`.
// The count is exact and repeatable, so bench/gates.txt can bound it.
#include <valgrind/callgrind.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bench/inverse_cases.hpp"
#include "panto/base/contract.hpp"
#include "panto/elements/ancf_cable.hpp"
#include "panto/elements/ancf_shear.hpp"
#include "panto/elements/beam.hpp"
#include "panto/estimation/force_observer.hpp"
#include "panto/estimation/observer.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/integrate/stepper.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/model/compile.hpp"

using namespace panto;

namespace {

// An arm of one ANCF beam with shear on a driven hinge, by its number of elements.
std::string ancf_arm(const std::string& elements) {
  return R"toml(space = "planar"
body = [{ name = "link", ancf = { length = 1, element = "shear", rectangle = [0.09, 0.09], E = 12e6, poisson = 0, density = 910, elements = )toml" +
         elements + R"toml( } }]
joint = [{ name = "theta", type = "revolute", parent = "ground", child = "link" }]
actuator = [{ name = "drive", type = "velocity", on = "theta", input = "pi/12*sin(pi*t)" }]
)toml";
}

// One step of a filter of that name with all encoders read, after some steps.
int filter_step(const Model& model, const std::string& name) {
  std::vector<SensorSettings> sensors;
  for (const Sensor& s : model.sensors)
    if (s.type == "encoder") {
      SensorSettings e;
      e.name = model.outputs[static_cast<size_t>(s.output)].name;
      sensors.push_back(e);
    }
  ObserverSettings settings;
  settings.filter = name;
  Result<std::unique_ptr<Observer>> made =
      Observer::create(model, nominal(model), settings, sensors);
  if (!made) {
    std::fputs(made.diagnostics().text().c_str(), stderr);
    return 2;
  }
  Observer& observer = **made;
  Filter& filter = observer.filter();
  std::vector<int> which;
  std::vector<double> y(sensors.size());
  for (size_t i = 0; i < sensors.size(); ++i) which.push_back(static_cast<int>(i));
  Status status = observer.start();
  std::vector<double> x(filter.state().begin(), filter.state().end());
  const auto step = [&] {
    // Readings near what is expected, not equal to it.
    std::copy(filter.state().begin(), filter.state().end(), x.begin());
    (void)observer.system().sense(filter.time(), x, which, y);
    for (double& e : y) e += 0.003;
  };
  for (int i = 0; i < 50 && status == Status::kOk; ++i) {
    step();
    status = filter.step(0.005, which, y);
  }
  step();
  CALLGRIND_START_INSTRUMENTATION;
  const Status last = filter.step(0.005, which, y);
  CALLGRIND_STOP_INSTRUMENTATION;
  return status == Status::kOk && last == Status::kOk ? 0 : 3;
}

// One step of a kinematic observer (acceleration as a state) driven by all accelerometers and corrected by all encoders, and with `forces` of the
// force observer behind it: the first half of the model's inputs measured, the others unknown.
int kinematic_step(const Model& model, const std::string& filter, KinematicJacobian jacobian,
                   bool forces) {
  std::vector<KinematicChannel> inputs, sensors;
  for (const Sensor& s : model.sensors) {
    KinematicChannel c;
    c.name = model.outputs[static_cast<size_t>(s.output)].name;
    if (s.type == "encoder") sensors.push_back(c);
    if (s.type == "accelerometer") inputs.push_back(c);
  }
  KinematicSettings settings;
  settings.filter = filter;
  settings.system.jacobian = jacobian;
  settings.system.top = TopState::kCombined;
  settings.system.noise.top = {100};
  auto first = KinematicObserver::create(model, nominal(model), settings, inputs, sensors);
  if (!first) {
    std::fputs(first.diagnostics().text().c_str(), stderr);
    return 2;
  }
  ForceSettings f;
  const size_t measured = forces ? model.inputs.size() / 2 : 0;
  f.unknown.resize(measured);
  for (size_t i = 0; i < measured; ++i) {
    KinematicChannel c;
    c.name = model.inputs[i].name;
    c.sigma = 1;
    f.measured.push_back(c);
    f.unknown[i].name = model.inputs[measured + i].name;
  }
  std::unique_ptr<TwoStageObserver> both;
  KinematicObserver& kinematic = **first;
  std::vector<double> u(inputs.size(), 0.1), y(sensors.size()), t(measured, 1.0);
  if (kinematic.start(0, u) != Status::kOk) return 3;
  if (forces) {
    auto second = ForceObserver::create(model, nominal(model), f);
    if (!second) {
      std::fputs(second.diagnostics().text().c_str(), stderr);
      return 2;
    }
    both = std::make_unique<TwoStageObserver>(std::move(*first), std::move(*second));
    if (both->start(t) != Status::kOk) return 3;
  }
  std::vector<double> x(kinematic.filter().state().size());
  std::vector<int> which(sensors.size());
  for (size_t i = 0; i < which.size(); ++i) which[i] = static_cast<int>(i);
  const auto step = [&](int k, bool counted) {
    std::copy(kinematic.filter().state().begin(), kinematic.filter().state().end(), x.begin());
    (void)kinematic.system().sense(kinematic.time(), x, which, y);
    for (double& e : y) e += 0.003;
    if (counted) CALLGRIND_START_INSTRUMENTATION;
    if (both)
      both->step(0.001 * k, u, y, t);
    else
      kinematic.step(0.001 * k, u, y);
    if (counted) CALLGRIND_STOP_INSTRUMENTATION;
    return kinematic.report().status == Status::kOk && !kinematic.report().zone;
  };
  bool good = true;
  for (int k = 1; k <= 50; ++k) good = step(k, false) && good;
  return step(51, true) && good ? 0 : 3;
}

// One evaluation of one element.
int element(const std::string& operation) {
  const auto section = rectangle_section(0.1, 0.1);
  const auto shear = make_ancf_shear(0.4, {2.07e11, 0.3, 7850.0}, section);
  const auto cable = make_ancf_cable(0.4, 2.07e9, 1.7e6, 78.5);
  const auto beam = beam_matrices(make_beam(0.4, 2.07e11, 7850.0, section));
  const Vec2<double> start{0.1, 0.2}, along{0.6, 0.8};
  const AncfShearVector<double> es = straight_ancf_shear(start, along, 0.41);
  const AncfCableVector<double> ec = straight_ancf_cable(start, along, 0.41);
  const BeamVector<double> r = BeamVector<double>::LinSpaced(1, 2);
  const BeamMotion<double> motion{turn(0.3), 2.0, 3.0, r, 1e-3 * r, 1e-2 * r, r};
  constexpr std::array<std::string_view, 5> names{"shear_force", "shear_tangent", "cable_force",
                                                  "cable_tangent", "beam_inertia"};
  const auto which = std::find(names.begin(), names.end(), operation) - names.begin();
  AncfShearVector<double> fs;
  AncfShearMatrix<double> ks;
  AncfCableVector<double> fc;
  AncfCableMatrix<double> kc;
  BeamForce<double> fb;
  CALLGRIND_START_INSTRUMENTATION;
  switch (which) {
    case 0:
      fs = elastic_force(shear, es);
      break;
    case 1:
      ks = elastic_tangent(shear, es);
      break;
    case 2:
      fc = elastic_force(cable, ec);
      break;
    case 3:
      kc = elastic_tangent(cable, ec);
      break;
    case 4:
      fb = inertia_force(beam, motion, LinkTerms::kComplete);
      break;
    default:
      return 1;
  }
  CALLGRIND_STOP_INSTRUMENTATION;
  return 0;
}

// A hundred steps of 0.1 ms of a fixed-step integrator, of a mechanism in motion, after some steps: matrices are not renewed in every one.
int integrator_step(const Model& model, const std::string& name) {
  constexpr double kStep = 1e-4;
  const auto ws = Workspace::create(model, nominal(model));
  const Result<AssembledState> start = assemble(*ws);
  if (!start) {
    std::fputs(start.diagnostics().text().c_str(), stderr);
    return 2;
  }
  std::vector<double> q(start->q.begin(), start->q.end()), v(start->v.begin(), start->v.end());
  for (int i = 0; i < model.joint_nv(); ++i) v[static_cast<size_t>(i)] += 1;
  ws->choose_partition(0, q);
  Ode ode(*ws, true);
  std::vector<double> x(static_cast<size_t>(ode.size()), 0.0);
  ode.pack(q, v, x);
  const auto stepper = Stepper::create(name, ode);
  double t = 0;
  bool good = ok(ode.project(0, x));
  for (int i = 0; i < 200; ++i) good = good && ok(stepper->step(t, kStep, x));
  CALLGRIND_START_INSTRUMENTATION;
  for (int i = 0; i < 100; ++i) good = good && ok(stepper->step(t, kStep, x));
  CALLGRIND_STOP_INSTRUMENTATION;
  return good ? 0 : 2;
}

// One cycle of an inverse model in the middle of its path: "invert_METHOD[_broyden|_difference]".
int inverse_step(const std::string& model, std::string method) {
  std::string jacobian = "analytic";
  for (const char* other : {"broyden", "difference"})
    if (const size_t at = method.find(std::string("_") + other); at != std::string::npos) {
      method.resize(at);
      jacobian = other;
    }
  Result<bench::InverseCase> made = bench::inverse_case(model, method, jacobian);
  if (!made || !made->inverse) {
    std::fputs(made.diagnostics().text().c_str(), stderr);
    return 2;
  }
  InverseModel& inverse = *made->inverse;
  bool good = inverse.start(0).ok();
  // A hundred cycles: what is not renewed in every one counts with its share.
  constexpr int kCycles = 100;
  for (long i = 0; i < made->steps / 3; ++i) good = inverse.step() == Status::kOk && good;
  CALLGRIND_START_INSTRUMENTATION;
  for (int i = 0; i < kCycles; ++i) good = inverse.step() == Status::kOk && good;
  CALLGRIND_STOP_INSTRUMENTATION;
  return good ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr,
                 "usage: instructions MODEL[:N|:full]|ancf_arm:N "
                 "residual|tangent|forward|moved|kinematic|kinematic_ekf|"
                 "kinematic_ekf_numeric|two_stage|invert_METHOD|FILTER|INTEGRATOR\n"
                 "       instructions element shear_force|shear_tangent|cable_force|cable_tangent|"
                 "beam_inertia\n");
    return 1;
  }
  std::string name = argv[1];
  const std::string operation = argv[2];
  if (name == "element") return element(operation);
  std::vector<Override> overrides;
  // Of a reduced model's file without its reduction.
  const size_t whole = name.find(":full");
  if (whole != std::string::npos) name.resize(whole);
  if (const size_t colon = name.find(':'); colon != std::string::npos) {
    overrides.push_back({"N", name.substr(colon + 1)});
    name.resize(colon);
  }
  const auto made = [&]() -> Result<Model> {
    if (name == "ancf_arm" && !overrides.empty())
      return compile(*parse_model_text(ancf_arm(overrides[0].value), "arm"));
    if (whole == std::string::npos) return load(name, overrides);
    const Result<ModelSpec> spec = load_spec(name);
    if (!spec) return spec.diagnostics();
    const std::string& text = spec->source_text;
    return compile(*parse_model_text(text.substr(0, text.find("[reduction]")), name));
  };
  const Result<Model> model = made();
  if (!model) {
    std::fputs(model.diagnostics().text().c_str(), stderr);
    return 2;
  }
  if (operation.starts_with("invert_")) return inverse_step(name, operation.substr(7));
  for (const FilterInfo& f : filters())
    if (f.name == operation) return filter_step(*model, operation);
  if (operation == "kinematic")
    return kinematic_step(*model, "ss_ukf", KinematicJacobian::kExact, false);
  if (operation == "kinematic_ekf")
    return kinematic_step(*model, "ekf", KinematicJacobian::kExact, false);
  if (operation == "kinematic_ekf_numeric")
    return kinematic_step(*model, "ekf", KinematicJacobian::kNumeric, false);
  if (operation == "two_stage")
    return kinematic_step(*model, "ss_ukf", KinematicJacobian::kExact, true);
  for (const IntegratorInfo& i : integrators())
    if (i.fixed_step && i.name == operation) return integrator_step(*model, operation);
  const auto ws = Workspace::create(*model, nominal(*model));
  const Result<AssembledState> start = assemble(*ws);
  if (!start) {
    std::fputs(start.diagnostics().text().c_str(), stderr);
    return 2;
  }
  const auto nv = static_cast<size_t>(model->nv), m = model->rows.size(), nu = model->inputs.size();
  std::vector<double> q(start->q.begin(), start->q.end()), v(start->v.begin(), start->v.end()),
      a(nv), lambda(m, 0.1), u(nu), u_rate(nu);
  for (double& e : v) e += 0.1;  // every term of the equations at work
  ws->inputs_at(0, u, u_rate);
  ws->choose_partition(0, q);
  const auto forward = [&] {
    if (!ok(ws->close_positions(0, q)) || !ok(ws->close_velocities(0, u, v)) ||
        !ok(ws->accelerations(0, v, u, u_rate, a)))
      std::abort();
  };
  forward();
  Point x;
  x.q = q;
  x.v = v;
  x.a = a;
  x.lambda = lambda;
  x.u = u;
  Residual residual;
  Tangent tangent;
  ws->residual(x, false, residual);
  ws->tangent(x, Blocks{}, tangent);
  if (operation == "moved")
    for (const int i : ws->independent_positions()) q[static_cast<size_t>(i)] += 1e-6;

  CALLGRIND_START_INSTRUMENTATION;
  if (operation == "forward" || operation == "moved") {
    forward();
  } else if (operation == "residual") {
    ws->residual(x, false, residual);
  } else {
    ws->tangent(x, Blocks{}, tangent);
  }
  CALLGRIND_STOP_INSTRUMENTATION;
  return 0;
}
