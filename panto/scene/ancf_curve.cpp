#include "panto/scene/ancf_curve.hpp"

#include <fmt/format.h>

namespace panto::scene {

AncfCurve::AncfCurve(const Workspace& workspace)
    : model_(workspace.model()),
      constants_(ancf::bake_beams<double>(model_, [&](Slot s) { return workspace.number(s); })) {
  for (const Beam& b : model_.beams) {
    const int frame = model_.joints[static_cast<size_t>(b.body)].parent_frame;
    angle_.push_back(b.ancf() && frame >= 0
                         ? workspace.number(model_.frames[static_cast<size_t>(frame)].rotation[0])
                         : 0.0);
  }
  for (size_t k = 0; k < model_.ancf_elements.size(); ++k) {
    const BeamSpan& span = model_.ancf_elements[k];
    const bool first = model_.beams[static_cast<size_t>(span.beam)].first_node == span.node;
    const auto& e = constants_.elements[k];
    for (int i = first ? 0 : 1; i <= kPointsPerElement; ++i) {
      const double xi = static_cast<double>(i) / kPointsPerElement;
      samples_.push_back(
          {span.beam, constants_.nodes[static_cast<size_t>(span.node)].x + xi * e.cable.L, k, xi});
    }
  }
}

double AncfCurve::mass(int beam) const {
  double sum = 0;
  for (size_t k = 0; k < model_.ancf_elements.size(); ++k)
    if (model_.ancf_elements[k].beam == beam)
      sum += constants_.elements[k].cable.rhoA * constants_.elements[k].cable.L;
  return sum;
}

std::vector<std::string> AncfCurve::names() const {
  std::vector<std::string> out;
  int number = 0;
  for (size_t i = 0; i < samples_.size(); ++i) {
    number = i > 0 && samples_[i - 1].beam == samples_[i].beam ? number + 1 : 1;
    out.push_back(fmt::format("{}.point{}",
                              model_.beams[static_cast<size_t>(samples_[i].beam)].name, number));
  }
  return out;
}

}  // namespace panto::scene
