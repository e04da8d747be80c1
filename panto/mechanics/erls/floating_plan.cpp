#include "panto/mechanics/erls/floating_plan.hpp"

#include <Eigen/Core>
#include <algorithm>

namespace panto::erls {

FloatingPlan::FloatingPlan(const Model& model) : layout_(model) {
  const ReducedLayout& layout = layout_;
  masters = layout.masters;
  slaves = layout.slaves;
  modes = layout.modes;
  first_mode = layout.first_mode;
  master_dof = layout.master_dof;
  nb = masters + modes;
  ldb = lanes::padded(nb);
  ldw = ldb + lanes::padded(static_cast<int>(layout.links.size()));
  ldz = ldb + lanes::padded(slaves);
  const auto first_link = [&](int input) {
    for (size_t k = 0; k < layout.links.size(); ++k)
      for (const LinkLayout::Part& p : layout.links[k].parts)
        if (p.input == input) return static_cast<int>(k);
    return 0;
  };
  for (size_t i = 0; i < layout.inputs.size(); ++i) {
    const LinkInput& in = layout.inputs[i];
    Input to;
    to.at = in.at;
    to.pair = in.pair;
    to.slave = in.at >= masters;
    to.link = to.slave && in.owner >= 0 ? in.owner : first_link(static_cast<int>(i));
    to.body = layout.links[static_cast<size_t>(to.link)].body;
    inputs.push_back(to);
  }
  for (size_t k = 0; k < layout.links.size(); ++k) {
    const LinkLayout& l = layout.links[k];
    LinkPlan to;
    to.body = l.body;
    to.nx = l.nx;
    to.cluster = l.cluster;
    for (const LinkLayout::Part& p : l.parts) {
      const Input& in = inputs[static_cast<size_t>(p.input)];
      Place place;
      place.at = p.at;
      place.component = p.component;
      place.column = p.slave ? nb + p.component - masters : p.component;
      place.row = p.slave ? ldb + p.component - masters : p.component;
      place.pair = p.pair;
      place.slave = p.slave;
      place.owner = in.link;
      place.owner_body = in.body;
      for (const LinkLayout::Foreign& f : l.foreign)
        if (p.slave && f.slave == p.component - masters) {
          place.modal = f.at;
          place.shape = f.slave * modes;
        }
      (p.pair && in.link != static_cast<int>(k) ? to.foreign : to.own).push_back(place);
      if (p.slave) to.slaves.push_back(place);
    }
    relatives += static_cast<int>(to.foreign.size());
    for (const Place& p : to.foreign)
      for (const int first : {p.at, p.modal})
        for (int i = 0; i < 2 && first >= 0; ++i) to.turning.push_back(first + i);
    links.push_back(std::move(to));
  }
  for (const Cluster& c : layout.clusters) {
    ClusterPlan to;
    to.first = c.first;
    to.size = c.size;
    to.links = c.links;
    to.masters = c.masters;
    for (const Input& in : inputs)
      if (in.pair && std::find(c.masters.begin(), c.masters.end(), in.at) != c.masters.end())
        to.pairs.push_back(in);
    clusters.push_back(std::move(to));
  }
  for (size_t i = 0; i < model.bodies.size(); ++i)
    if (!model.bodies[i].solids.empty()) solids.push_back(static_cast<int>(i));
  constant.assign(static_cast<size_t>(ldz * (nb + slaves)), 0.0);
  for (size_t k = 0; k < links.size(); ++k) {
    const auto n = static_cast<size_t>(layout.links[k].nx + modes);
    most_entries = std::max(most_entries, lanes::padded(static_cast<int>(n * n)));
  }
}

void FloatingPlan::bake(const ReducedConstants<double>& c) {
  using Matrix = Eigen::MatrixXd;
  std::fill(constant.begin(), constant.end(), 0.0);
  for (size_t k = 0; k < links.size(); ++k) {
    LinkPlan& l = links[k];
    const LinkMatrices<double>& m = c.links[k];
    const Matrix mass = Eigen::Map<const Matrix>(m.M.data(), m.ld, m.n).topRows(m.n);
    const int n = l.nx + modes;
    // a = B b, columns of b as the inputs stand in a, then the amplitudes.
    Matrix fixed = Matrix::Zero(m.n, n);
    std::vector<int> row(static_cast<size_t>(n)), column(static_cast<size_t>(n));
    const auto name = [&](const Place& p) {
      for (int i = 0; i < (p.pair ? 2 : 1); ++i) {
        const auto at = static_cast<size_t>(p.at + i);
        column[at] = p.column + i;
        row[at] = p.row + i;
      }
    };
    for (const Place& p : l.own) {
      name(p);
      for (int i = 0; i < (p.pair ? 2 : 1); ++i) fixed(p.at + i, p.at + i) = 1;
    }
    for (int i = 0; i < modes; ++i) {
      fixed(l.nx + i, l.nx + i) = 1;
      row[static_cast<size_t>(l.nx + i)] = column[static_cast<size_t>(l.nx + i)] = masters + i;
    }
    std::vector<Matrix> turning;  // per foreign pair: with its cosine, with its sine
    for (const Place& p : l.foreign) {
      name(p);
      Matrix cosine = Matrix::Zero(m.n, n), sine = cosine;
      cosine(p.at, p.at) = cosine(p.at + 1, p.at + 1) = 1;
      sine(p.at, p.at + 1) = -1;
      sine(p.at + 1, p.at) = 1;
      for (int i = 0; i < modes && p.modal >= 0; ++i) {
        const double x = c.shared[static_cast<size_t>(p.shape + i)],
                     y = c.shared[static_cast<size_t>(p.shape + modes + i)];
        cosine(p.modal, l.nx + i) = x;
        cosine(p.modal + 1, l.nx + i) = y;
        sine(p.modal, l.nx + i) = -y;
        sine(p.modal + 1, l.nx + i) = x;
      }
      turning.push_back(cosine);
      turning.push_back(sine);
    }
    const auto both = [&](const Matrix& a, const Matrix& b) {
      const Matrix product = a.transpose() * mass * b;
      return Matrix(product + product.transpose());
    };
    Matrix still = fixed.transpose() * mass * fixed;
    std::vector<Matrix> terms;
    for (size_t i = 0; i < turning.size(); i += 2) {
      const Matrix &cosine = turning[i], &sine = turning[i + 1];
      terms.push_back(both(fixed, cosine));
      terms.push_back(both(fixed, sine));
      terms.emplace_back(cosine.transpose() * mass * cosine - sine.transpose() * mass * sine);
      terms.push_back(both(cosine, sine));
      still += sine.transpose() * mass * sine;
    }
    for (size_t i = 0; i < turning.size(); i += 2)
      for (size_t j = i + 2; j < turning.size(); j += 2)
        for (size_t e = 0; e < 4; ++e)
          terms.push_back(both(turning[i + e / 2], turning[j + e % 2]));
    l.to.clear();
    l.tables.assign(terms.size(), {});
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(i), to = static_cast<size_t>(j);
        // Below the diagonal of b; all of the slaves' columns.
        if (column[to] < nb && (row[at] < row[to] || row[at] >= ldb)) continue;
        const int place = column[to] * ldz + row[at];
        constant[static_cast<size_t>(place)] += still(i, j);
        const bool moves =
            std::any_of(terms.begin(), terms.end(), [&](const Matrix& t) { return t(i, j) != 0; });
        if (!moves) continue;
        l.to.push_back(place);
        for (size_t t = 0; t < terms.size(); ++t) l.tables[t].push_back(terms[t](i, j));
      }
    const auto padded = static_cast<size_t>(lanes::padded(static_cast<int>(l.to.size())));
    for (std::vector<double>& t : l.tables) t.resize(padded, 0.0);
  }
}

}  // namespace panto::erls
