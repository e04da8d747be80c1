// What is kept of the motion of the links of a reduced model (RER-4), and products with their padded matrices.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "panto/model/beam_links.hpp"

namespace panto::erls {

template <class T>
struct LinkState {
  std::vector<T> a, a_dot, a_ddot;  // padded n
  std::vector<T> spin, swing;  // h + G a, s1 + M_t a: momentum per ω, centrifugal force per ω²
  T inertia{0.0};              // about the origin of the link, of a
  Vec2<T> moment{};            // first moment, link axes
  std::vector<T> pull;         // k x, padded nx
  std::vector<T> turning;      // of slaves: force per turn of the link, ground axes
  std::vector<Rot2<T>> relative;  // per foreign pair: the owner's axes seen from the link
};

// Forces on a of all links, on the inputs (ground axes) and on the links' angles at fixed a.
template <class T>
struct ReducedForce {
  std::vector<T> input, torque;
  std::vector<std::vector<T>> link;
  explicit ReducedForce(const ReducedLayout& layout)
      : input(static_cast<size_t>(layout.components())), torque(layout.links.size()) {
    for (const LinkLayout& l : layout.links)
      link.emplace_back(static_cast<size_t>(lanes::padded(l.n)), T(0.0));
  }
  void clear() {
    for (T& e : input) e = T(0.0);
    for (T& e : torque) e = T(0.0);
    for (std::vector<T>& f : link)
      for (T& e : f) e = T(0.0);
  }
};

template <class T>
struct ReducedState {
  explicit ReducedState(const Model& model) : layout(model), force(layout) {
    const auto n = static_cast<size_t>(layout.components()),
               modes = static_cast<size_t>(layout.modes);
    for (std::vector<T>* v : {&x, &x_dot, &x_ddot}) v->resize(n, T(0.0));
    for (std::vector<T>* v : {&eta, &eta_dot, &eta_ddot}) v->resize(modes, T(0.0));
    size_t most = 1, factors = 0, crosses = 0;
    for (const Cluster& c : layout.clusters) {
      factors += static_cast<size_t>(c.size * c.size);
      crosses += static_cast<size_t>(c.size) * c.masters.size();
    }
    factor.resize(factors, T(0.0));
    cross.resize(crosses, T(0.0));
    for (const LinkLayout& l : layout.links) {
      LinkState<T> s;
      const auto na = static_cast<size_t>(lanes::padded(l.n)),
                 nx = static_cast<size_t>(lanes::padded(l.nx));
      for (std::vector<T>* v : {&s.a, &s.a_dot, &s.a_ddot, &s.spin, &s.swing})
        v->resize(na, T(0.0));
      for (std::vector<T>* v : {&s.pull, &s.turning}) v->resize(nx, T(0.0));
      s.relative.resize(l.foreign.size());
      most = std::max(most, na);
      links.push_back(std::move(s));
    }
    for (std::vector<T>* v : {&work, &product}) v->resize(most, T(0.0));
    node_link.assign(model.nodes.size(), -1);
    for (size_t k = 0; k < layout.links.size(); ++k)
      for (int i = 0; i < layout.links[k].nodes; ++i)
        node_link[static_cast<size_t>(layout.links[k].first_node + i)] = static_cast<int>(k);
  }

  ReducedLayout layout;
  std::vector<T> x, x_dot, x_ddot;  // static components of all inputs, ground axes
  std::vector<T> eta, eta_dot, eta_ddot;
  std::vector<T>
      factor;  // per cluster L D Lᵀ of the stiffness of the slaves, inverse of D on the diagonal
  std::vector<T> cross;  // per cluster, by rows: stiffness of the slaves to its masters
  ReducedForce<T> force;
  std::vector<LinkState<T>> links;
  std::vector<T> work, product;
  std::vector<int> node_link;
  // Nodes whose place rows, forces and actuators look at, those whose speed and acceleration they do, and all that any channel does; of these what of
  // their motion is up to date.
  std::vector<int> used, moved, accelerated, shown;
  // Nodes that actuators only turn, wherever they are: no others than these and `used` take forces.
  std::vector<int> turned;
  bool shown_place = false, shown_rate = false, shown_second = false;
  bool placed = false;  // place_links() at the present positions
};

namespace detail {

template <class T>
void set_zero(T* x, int rows) {
  if constexpr (std::is_same_v<T, double>) {
    lanes::clear(x, rows);
  } else {
    for (int i = 0; i < rows; ++i) x[i] = T(0.0);
  }
}
// y += m x with `columns` columns of m, of which `rows` rows count and ld are there.
template <class P, class T>
void add_product(const std::vector<P>& m, int ld, int rows, int columns, const T* x, T* y) {
  const P* entry = m.data();
  if constexpr (std::is_same_v<T, double> && std::is_same_v<P, double>) {
    lanes::add_product(entry, ld, ld, columns, x, y);
  } else {
    for (int j = 0; j < columns; ++j, entry += ld) {
      const T& xj = x[j];
      for (int i = 0; i < rows; ++i) y[i] += entry[i] * xj;
    }
  }
}
template <class P, class T>
T sum_of(const std::vector<P>& row, const std::vector<T>& x) {
  if constexpr (std::is_same_v<T, double> && std::is_same_v<P, double>) {
    return lanes::dot(row.data(), x.data(), static_cast<int>(x.size()));
  } else {
    T sum(0.0);
    for (size_t i = 0; i < x.size(); ++i) sum += row[i] * x[i];
    return sum;
  }
}

// x · y, padded.
template <class T>
T scalar(const T* x, const T* y, int rows) {
  if constexpr (std::is_same_v<T, double>) {
    return lanes::dot(x, y, rows);
  } else {
    T sum(0.0);
    for (int i = 0; i < rows; ++i) sum += x[i] * y[i];
    return sum;
  }
}
// xᵀ m y
template <class P, class T>
T quadratic(const std::vector<P>& m, int ld, int n, const std::vector<T>& x,
            const std::vector<T>& y) {
  T sum(0.0);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      sum += x[static_cast<size_t>(i)] *
             (m[static_cast<size_t>(j * ld + i)] * y[static_cast<size_t>(j)]);
  return sum;
}

}  // namespace detail

}  // namespace panto::erls
