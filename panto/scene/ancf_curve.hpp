// Points along ANCF beams, which the scene has as nodes after those of the rigid links' beams: displacement from the undeformed beam in ground axes, and the
// slope of the tangent against it.
#pragma once

#include "panto/mechanics/ancf/constants.hpp"
#include "panto/mechanics/workspace.hpp"

namespace panto::scene {

inline constexpr int kPointsPerElement = 8;

class AncfCurve {
 public:
  explicit AncfCurve(const Workspace& workspace);

  struct Sample {
    int beam = 0;  // index into Model::beams
    double x = 0;  // along the undeformed beam
    size_t element = 0;
    double xi = 0;
  };
  // Beam after beam, from start to end.
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  [[nodiscard]] double mass(int beam) const;  // of its elements
  [[nodiscard]] std::vector<std::string> names() const;
  // Appends x, y and slope of every sample. `value`: of an elastic coordinate by its speed index. `shape`: of small motion, to be added to others.
  template <class Value>
  void append(const Value& value, bool shape, std::vector<double>& out) const {
    for (const Sample& s : samples_) {
      const auto& e = constants_.elements[s.element];
      const auto r = position_weights(e.cable, s.xi), d = axis_weights(e.cable, s.xi);
      Vec2<double> u{}, gradient{};
      for (size_t k = 0; k < 2; ++k) {
        const AncfNode& n = model_.ancf_nodes[static_cast<size_t>(e.node_a) + k];
        const auto pair = [&](const std::array<int, 2>& dof) {
          return Vec2<double>{dof[0] < 0 ? 0.0 : value(dof[0]), dof[1] < 0 ? 0.0 : value(dof[1])};
        };
        const Vec2<double> place = pair(n.place), axis = pair(n.axis);
        u += r[2 * k] * place + r[2 * k + 1] * axis;
        gradient += d[2 * k] * place + d[2 * k + 1] * axis;
      }
      const double angle = angle_[static_cast<size_t>(s.beam)];
      const Vec2<double> ground = rotate(turn(angle), u);
      out.push_back(ground.x);
      out.push_back(ground.y);
      out.push_back(shape ? gradient.y : gradient.y / (1 + gradient.x));
    }
  }

 private:
  const Model& model_;
  ancf::BeamConstants<double> constants_;
  std::vector<double> angle_;  // per beam, of the undeformed one
  std::vector<Sample> samples_;
};

}  // namespace panto::scene
