// 06 Which torques hold an arm that is described in URDF, and what if it spins meanwhile?
#include <cstdio>

#include "panto/integrate/simulate.hpp"
#include "panto/io/load.hpp"
#include "panto/mechanics/assembly.hpp"

namespace {

int fail(const panto::Diagnostics& diagnostics) {
  std::fputs(diagnostics.text().c_str(), stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  // 06_arm.loops.toml beside it adds what URDF cannot say: motors, outputs, the initial pose.
  const auto model = panto::load(argc > 1 ? argv[1] : "examples/06_arm.urdf");
  if (!model) return fail(model.diagnostics());
  panto::Params params = panto::nominal(*model);
  const auto workspace = panto::Workspace::create(*model, params);
  const auto start = panto::assemble(*workspace);
  if (!start) return fail(start.diagnostics());

  // At rest (v = a = 0) the motors carry the weight alone.
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(model->nv);
  const auto view = [](const Eigen::VectorXd& x) {
    return panto::View(x.data(), static_cast<size_t>(x.size()));
  };
  panto::InverseDynamics hold;
  const panto::Point pose{0, view(start->q), view(rest), view(rest), {}, {}, {}};
  if (!panto::ok(panto::inverse_dynamics(*workspace, pose, std::vector<int>{0, 1}, hold))) return 3;
  std::printf("hold_shoulder %.15g N m\nhold_elbow %.15g N m\n", hold.u[0], hold.u[1]);

  // With these torques kept up, the spin about the waist (3 rad/s) lifts the arm.
  params.values[panto::find_parameter(*model, "shoulder_torque")] = hold.u[0];
  params.values[panto::find_parameter(*model, "elbow_torque")] = hold.u[1];
  panto::SimulationOptions options;
  options.until = 0.5;
  options.tol = 1e-10;
  const auto run = panto::simulate(*model, params, options);
  if (!run) return fail(run.diagnostics());
  for (size_t k = 0; k < run->outputs.size(); ++k) {
    std::printf("%s %.15g %s\n", run->output_names[k].c_str(), run->outputs[k].back(),
                run->output_units[k].c_str());
  }
}
