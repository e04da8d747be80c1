#include "panto/scene/modes_report.hpp"

#include <fmt/format.h>

#include <array>

#include "panto/mechanics/closure.hpp"
#include "panto/scene/ancf_curve.hpp"
#include "panto/scene/run_report.hpp"
#include "panto/scene/scene.hpp"

namespace panto::scene {
namespace {

constexpr double kStep =
    1e-5;  // of a coordinate, for displacements of bodies: accurate to 1e-10, drawn to 1e-3

}  // namespace

// By central differences.
std::vector<double> mode_displacements(Workspace& workspace, const Eigen::VectorXd& q,
                                       const Eigen::VectorXd& shape) {
  std::array<std::vector<FramePose>, 2> ends;
  for (const int side : {0, 1}) {
    Eigen::VectorXd moved = q;
    const Eigen::VectorXd step = (side == 0 ? -kStep : kStep) * shape;
    workspace.move(view(moved), view(step));
    workspace.body_poses(view(moved), ends[static_cast<size_t>(side)]);
  }
  std::vector<double> out;
  for (const int body : bodies_of(workspace.model())) {
    const auto b = static_cast<size_t>(body);
    const FramePose &from = ends[0][b], &to = ends[1][b];
    for (size_t k = 0; k < 3; ++k) out.push_back((to.position[k] - from.position[k]) / (2 * kStep));
    // R₁ R₀ᵀ ≈ 1 + [ρ×]: the axial vector of its skew part.
    const auto entry = [&](size_t i, size_t j) {
      double sum = 0;
      for (size_t c = 0; c < 3; ++c) sum += to.axes[3 * c + i] * from.axes[3 * c + j];
      return sum;
    };
    for (const auto& [i, j] : {std::pair<size_t, size_t>{2, 1}, {0, 2}, {1, 0}})
      out.push_back((entry(i, j) - entry(j, i)) / (4 * kStep));
  }
  for (const BeamNode& n : workspace.model().nodes)
    for (const int dof : n.dof) out.push_back(dof < 0 ? 0 : shape[dof]);
  AncfCurve(workspace).append([&](int dof) { return shape[dof]; }, true, out);
  return out;
}

Report report_of_modes(Workspace& workspace, const OperatingPoint& point,
                       const panto::Modes& modes) {
  const Model& model = workspace.model();
  const Params params = nominal(model);
  Report report = report_of_model(model, params);
  const std::vector<double> q(point.q.begin(), point.q.end());
  report.motions = {motion_at(model, params, 0, q)};
  report.modes.emplace();
  report.modes->pose = report.motions[0].poses;

  TablePanel table;
  table.title = "Modes";
  table.columns = {{"mode", ""}, {"frequency", "Hz"}, {"damping ratio", ""}, {"growth", "1/s"}};
  for (const std::string& e : modes.elements) table.columns.push_back({"strain of " + e, "%"});
  BarsPanel strain;
  strain.title = "Where each mode strains the mechanism";
  strain.unit = "%";
  strain.categories = modes.elements;
  for (size_t k = 0; k < modes.list.size(); ++k) {
    const panto::Mode& m = modes.list[k];
    report.modes->list.push_back({m.frequency_hz,
                                  m.damping,
                                  fmt::format("mode {}", k + 1),
                                  mode_displacements(workspace, point.q, m.shape),
                                  {}});
    std::vector<Cell> row{static_cast<double>(k + 1), m.frequency_hz, m.damping, m.growth_rate};
    BarSet bars{fmt::format("mode {}", k + 1), {}, {}, {}};
    for (const double share : m.strain) {
      row.emplace_back(100 * share);
      bars.values.push_back(100 * share);
    }
    table.rows.push_back(std::move(row));
    strain.series.push_back(std::move(bars));
  }
  ScatterPanel poles;
  poles.title = "Poles";
  poles.x = {"real part", "1/s"};
  poles.y = {"imaginary part", "rad/s"};
  PointSet crosses{"poles", {}, {}, Marker::kCross};
  for (const std::complex<double>& s : modes.eigenvalues) {
    crosses.x.push_back(s.real());
    crosses.y.push_back(s.imag());
  }
  poles.series.push_back(std::move(crosses));
  std::vector<Panel> panels{std::move(table)};
  if (!modes.elements.empty()) panels.emplace_back(std::move(strain));
  if (modes.eigenvalues.size() > 0) panels.emplace_back(std::move(poles));
  report.panels.insert(report.panels.begin(), std::make_move_iterator(panels.begin()),
                       std::make_move_iterator(panels.end()));
  if (point.residual > 0)
    report.notes.push_back(fmt::format(
        "The pose is no equilibrium: a force of {:.3g} (N or N m) is left over.", point.residual));
  return report;
}

}  // namespace panto::scene
