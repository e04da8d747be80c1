// Numbers of the beams at one θ: element matrices, lumped masses (ERLS-2).
#pragma once

#include <vector>

#include "panto/elements/beam.hpp"
#include "panto/model/model.hpp"

namespace panto::erls {

template <class P>
struct NodeConstants {
  P x{0.0};                   // on the link
  P mass{0.0}, inertia{0.0};  // lumped
  P alpha{0.0};               // mass-proportional damping of its beam
};

template <class P>
struct ElementConstants {
  int body = 0, a = 0, b = 0;  // link and nodes, Kinematics indices
  int node_a = 0;              // index of the first node, the second follows
  BeamElement<P> beam;
  BeamMatrices<P> matrices;
  P mass{0.0}, alpha{0.0}, beta{0.0};
  bool damped = false;
  LinkTerms terms = LinkTerms::kComplete;
  BeamStrain strain = BeamStrain::kLinear;
};

template <class P>
struct BeamConstants {
  std::vector<NodeConstants<P>> nodes;
  std::vector<ElementConstants<P>> elements;
};

// number: value of a slot.
template <class P, class Number>
CrossSection<P> section_of(const Beam& b, const Number& number) {
  const P first = number(b.numbers[0]), second = number(b.numbers[1]);
  switch (b.section) {
    case SectionKind::kCircle:
      return circle_section(first);
    case SectionKind::kTube:
      return tube_section(first, second);
    case SectionKind::kRectangle:
      return rectangle_section(first, second);
    case SectionKind::kGiven:
      break;
  }
  return given_section(first, second);
}
template <class P, class Number>
P density_of(const Beam& b, const CrossSection<P>& section, const Number& number) {
  return b.density >= 0 ? number(b.density) : P(number(b.mass) / (section.area * number(b.length)));
}

template <class P, class Number>
BeamConstants<P> bake_beams(const Model& model, const Number& number) {
  BeamConstants<P> out;
  for (const BeamNode& n : model.nodes)
    out.nodes.push_back({number(n.x), number(n.mass), number(n.inertia),
                         number(model.beams[static_cast<size_t>(n.beam)].alpha)});
  for (const BeamSpan& span : model.elements) {
    const Beam& b = model.beams[static_cast<size_t>(span.beam)];
    const CrossSection<P> section = section_of<P>(b, number);
    ElementConstants<P> e;
    e.body = b.body + 1;
    e.node_a = span.node;
    e.a = model.n_bodies() + span.node + 1;
    e.b = e.a + 1;
    const auto at = static_cast<size_t>(span.node);
    const P length = out.nodes[at + 1].x - out.nodes[at].x;
    e.beam = make_beam(length, number(b.youngs_modulus), density_of(b, section, number), section,
                       b.rotary ? RotaryInertia::kIncluded : RotaryInertia::kNeglected);
    e.matrices = beam_matrices(e.beam);
    e.mass = e.beam.mu * length;
    e.alpha = number(b.alpha);
    e.beta = number(b.beta);
    e.damped = b.alpha >= 0 || b.beta >= 0;
    e.terms = b.first_terms ? LinkTerms::kFirst : LinkTerms::kComplete;
    e.strain = b.stiffening ? BeamStrain::kStiffening : BeamStrain::kLinear;
    out.elements.push_back(std::move(e));
  }
  return out;
}

}  // namespace panto::erls
