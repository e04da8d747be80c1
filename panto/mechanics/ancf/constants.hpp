// Numbers of ANCF beams at one θ: elements, their constant masses, lumped masses (ANCF-3).
#pragma once

#include <array>
#include <vector>

#include "panto/model/beam_constants.hpp"

namespace panto::ancf {

template <class P>
struct NodeConstants {
  P x{0.0};                   // along the undeformed beam
  P mass{0.0}, inertia{0.0};  // lumped
};

// Mass and gravity act on the nodal vectors r, ∂r/∂x of both nodes (four), with shear also on ∂r/∂y (two), the same for both components.
template <class P>
struct ElementConstants {
  int body = 0;    // the undeformed beam, Kinematics index
  int node_a = 0;  // index of the first node, the second follows
  bool shear = false;
  AncfShearElement<P> with_shear;
  AncfCableElement<P> cable;
  std::array<P, 16> mass{};   // on r, ∂r/∂x of the first node, then of the second; by rows
  std::array<P, 4> weight{};  // mass that gravity acts on
  P section_mass{0.0};        // ∂r/∂y with itself; with that of the other node half as much
};

// A turning ground adds 2 Ω cos s J ė − Ω² (x, cos² s y) to accelerations (ANCF-4): J a quarter turn, s the setting.
template <class P>
struct Rotation {
  bool turns = false;
  P coriolis{0.0};            // 2 Ω cos s
  P along{0.0}, across{0.0};  // Ω², Ω² cos² s
  template <class T>
  [[nodiscard]] Vec2<T> acceleration(const Vec2<T>& place, const Vec2<T>& velocity) const {
    return {-coriolis * velocity.y - along * place.x, coriolis * velocity.x - across * place.y};
  }
  template <class T>
  [[nodiscard]] T potential(const Vec2<T>& place) const {  // per mass
    return -0.5 * (along * (place.x * place.x) + across * (place.y * place.y));
  }
};

template <class P>
struct BeamConstants {
  std::vector<NodeConstants<P>> nodes;
  std::vector<ElementConstants<P>> elements;
  Rotation<P> rotation;
};

// number: value of a slot.
template <class P, class Number>
BeamConstants<P> bake_beams(const Model& model, const Number& number) {
  BeamConstants<P> out;
  for (const AncfNode& n : model.ancf_nodes)
    out.nodes.push_back({number(n.x), number(n.mass), number(n.inertia)});
  for (const BeamSpan& span : model.ancf_elements) {
    const Beam& b = model.beams[static_cast<size_t>(span.beam)];
    const CrossSection<P> section = erls::section_of<P>(b, number);
    ElementConstants<P> e;
    e.body = b.body + 1;
    e.node_a = span.node;
    e.shear = b.kind == BeamKind::kAncfShear;
    const auto at = static_cast<size_t>(span.node);
    const P length = out.nodes[at + 1].x - out.nodes[at].x,
            density = erls::density_of(b, section, number),
            youngs_modulus = number(b.youngs_modulus), mass_per_length = density * section.area;
    e.cable =
        make_ancf_cable(length, P(youngs_modulus * section.area),
                        P(youngs_modulus * section.second_moment), mass_per_length, b.curvature);
    if (e.shear) {
      AncfMaterial<P> material;
      material.youngs_modulus = youngs_modulus;
      material.poissons_ratio = number(b.poissons_ratio);
      material.density = density;
      if (b.shear_factor >= 0) material.shear_factor = number(b.shear_factor);
      e.with_shear = make_ancf_shear(length, material, section, b.law);
      e.section_mass = mass_matrix(e.with_shear)(4, 4);
    }
    // Along the axis both elements have the same functions, hence the same mass.
    const AncfCableMatrix<P> mass = mass_matrix(e.cable);
    const AncfCableVector<P> gravity = gravity_load(e.cable, Vec2<P>{P(1.0), P(0.0)});
    for (size_t i = 0; i < 4; ++i) {
      e.weight[i] = gravity[static_cast<int>(2 * i)];
      for (size_t j = 0; j < 4; ++j)
        e.mass[4 * i + j] = mass(static_cast<int>(2 * i), static_cast<int>(2 * j));
    }
    out.elements.push_back(std::move(e));
  }
  if (model.rotation_rate >= 0) {
    using std::cos;
    const P rate = number(model.rotation_rate), c = cos(number(model.rotation_setting));
    out.rotation = {true, 2.0 * rate * c, rate * rate, rate * rate * (c * c)};
  }
  return out;
}

}  // namespace panto::ancf
