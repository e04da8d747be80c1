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
  nb = masters + modes;
  ldb = lanes::padded(nb);
  ldm = lanes::padded(masters);
  ldz = ldk = ldb + lanes::padded(slaves);
  still = ldz * (nb + slaves);
  // A master is owned by the largest link that has it: what turns is then small.
  const auto largest_link = [&](int input) {
    int best = -1;
    for (size_t k = 0; k < layout.links.size(); ++k)
      for (const LinkLayout::Part& p : layout.links[k].parts)
        if (p.input == input &&
            (best < 0 || layout.links[k].n > layout.links[static_cast<size_t>(best)].n))
          best = static_cast<int>(k);
    return best;
  };
  const auto place = [&](int component) {
    return component < masters ? component : ldb + component - masters;
  };
  for (size_t i = 0; i < layout.inputs.size(); ++i) {
    const LinkInput& in = layout.inputs[i];
    Input to;
    to.at = place(in.at);
    to.pair = in.pair;
    to.slave = in.at >= masters;
    to.link = to.slave ? in.owner : largest_link(static_cast<int>(i));
    to.body = layout.links[static_cast<size_t>(to.link)].body;
    for (int k = 0; k < (in.pair ? 2 : 1) && !to.slave; ++k)
      to.dof[k] = layout.master_dof[static_cast<size_t>(in.at + k)];
    inputs.push_back(to);
  }
  std::vector<std::vector<int>> angles_of(layout.clusters.size());
  for (size_t k = 0; k < layout.links.size(); ++k) {
    const LinkLayout& l = layout.links[k];
    LinkPlan to;
    to.body = l.body;
    to.nx = l.nx;
    to.groups = lanes::padded(l.n) / lanes::kWidth;
    for (const LinkLayout::Part& p : l.parts) {
      const Input& in = inputs[static_cast<size_t>(p.input)];
      if (!p.pair || in.link == static_cast<int>(k)) {
        to.own.push_back({p.at, in.at, p.pair});
        if (p.slave) to.slaves.push_back(to.own.back());
        continue;
      }
      Foreign f;
      f.at = p.at;
      f.component = in.at;
      f.slave = p.slave;
      f.angle = angles++;
      f.owner = in.link;
      f.owner_body = in.body;
      for (const LinkLayout::Foreign& e : l.foreign)
        if (p.slave && e.slave == p.component - masters) {
          f.modal = e.at;
          f.shape = e.slave * modes;
        }
      to.follows |= f.slave;
      if (l.cluster >= 0) angles_of[static_cast<size_t>(l.cluster)].push_back(f.angle);
      to.foreign.push_back(f);
    }
    for (const Foreign& f : to.foreign)
      for (const int first : {f.at, f.modal})
        for (int i = 0; i < 2 && first >= 0; ++i) to.moving.push_back(first + i);
    for (const Own& o : to.slaves)
      for (int i = 0; i < (o.pair ? 2 : 1); ++i) to.moving.push_back(o.at + i);
    links.push_back(std::move(to));
  }
  ldf = lanes::padded(angles);
  ldw = ldf + ldb;
  slaves_of.resize(static_cast<size_t>(ldb / lanes::kWidth));
  for (size_t i = 0; i < layout.clusters.size(); ++i) {
    const Cluster& c = layout.clusters[i];
    clusters.push_back({c.first, c.size, c.masters, angles_of[i]});
    for (size_t g = 0; g < slaves_of.size(); ++g) {
      const auto here = [g](int m) { return static_cast<size_t>(m / lanes::kWidth) == g; };
      if (!std::any_of(c.masters.begin(), c.masters.end(), here)) continue;
      for (int k = 0; k < c.size; ++k) slaves_of[g].push_back(c.first + k);
    }
  }
  for (size_t i = 0; i < model.bodies.size(); ++i)
    if (!model.bodies[i].solids.empty()) solids.push_back(static_cast<int>(i));
  constant.assign(static_cast<size_t>(still + ldk * lanes::padded(slaves) + lanes::kWidth), 0.0);
}

void FloatingPlan::bake(const ReducedConstants<double>& c) {
  using Matrix = Eigen::MatrixXd;
  std::fill(constant.begin(), constant.end(), 0.0);
  struct Entry {
    int to = 0;
    std::vector<double> terms;
  };
  std::vector<std::vector<Entry>> entries(links.size());
  for (size_t k = 0; k < links.size(); ++k) {
    const LinkPlan& l = links[k];
    const LinkMatrices<double>& m = c.links[k];
    const Matrix mass = Eigen::Map<const Matrix>(m.M.data(), m.ld, m.n).topRows(m.n);
    Matrix stiffness = Matrix::Zero(m.n, m.n);
    stiffness.topLeftCorner(m.nx, m.nx) =
        Eigen::Map<const Matrix>(m.k.data(), m.ldx, m.nx).topRows(m.nx);
    const int n = l.nx + modes;
    // a = B b, columns of b as the inputs stand in a, then the amplitudes.
    Matrix fixed = Matrix::Zero(m.n, n);
    std::vector<int> place(static_cast<size_t>(n), -1);  // of inputs
    const auto name = [&](int at, int component, int count) {
      for (int i = 0; i < count; ++i) place[static_cast<size_t>(at + i)] = component + i;
    };
    for (const Own& o : l.own) {
      name(o.at, o.component, o.pair ? 2 : 1);
      for (int i = 0; i < (o.pair ? 2 : 1); ++i) fixed(o.at + i, o.at + i) = 1;
    }
    for (int i = 0; i < modes; ++i) fixed(l.nx + i, l.nx + i) = 1;
    std::vector<Matrix> turning;  // per foreign pair: with its cosine, with its sine
    for (const Foreign& f : l.foreign) {
      name(f.at, f.component, 2);
      Matrix cosine = Matrix::Zero(m.n, n), sine = cosine;
      cosine(f.at, f.at) = cosine(f.at + 1, f.at + 1) = 1;
      sine(f.at, f.at + 1) = -1;
      sine(f.at + 1, f.at) = 1;
      for (int i = 0; i < modes && f.modal >= 0; ++i) {
        const double x = c.shared[static_cast<size_t>(f.shape + i)],
                     y = c.shared[static_cast<size_t>(f.shape + modes + i)];
        cosine(f.modal, l.nx + i) = x;
        cosine(f.modal + 1, l.nx + i) = y;
        sine(f.modal, l.nx + i) = -y;
        sine(f.modal + 1, l.nx + i) = x;
      }
      turning.push_back(cosine);
      turning.push_back(sine);
    }
    const auto slave = [&](int i) { return i < l.nx && place[static_cast<size_t>(i)] >= ldb; };
    // Below the diagonal of b; all of the slaves' columns.
    const auto in_mass = [&](int i, int j) {
      const auto row = [&](int e, int from) {
        return e >= l.nx  ? masters + e - l.nx
               : slave(e) ? from + place[static_cast<size_t>(e)] - ldb
                          : place[static_cast<size_t>(e)];
      };
      const int column = row(j, nb), to = row(i, ldb);
      return column < nb && (to < column || to >= ldb) ? -1 : column * ldz + to;
    };
    const auto in_stiffness = [&](int i, int j) {
      return slave(i) && j < l.nx ? still + (place[static_cast<size_t>(i)] - ldb) * ldk +
                                        place[static_cast<size_t>(j)]
                                  : -1;
    };
    // between: weight of the entries between slaves.
    const auto project = [&](const Matrix& a, const auto& to, double between) {
      const auto both = [&](const Matrix& x, const Matrix& y) {
        const Matrix product = x.transpose() * a * y;
        return Matrix(product + product.transpose());
      };
      Matrix constant_part = fixed.transpose() * a * fixed;
      std::vector<Matrix> terms;
      for (size_t i = 0; i < turning.size(); i += 2) {
        const Matrix &cosine = turning[i], &sine = turning[i + 1];
        terms.push_back(both(fixed, cosine));
        terms.push_back(both(fixed, sine));
        terms.emplace_back(cosine.transpose() * a * cosine - sine.transpose() * a * sine);
        terms.push_back(both(cosine, sine));
        constant_part += sine.transpose() * a * sine;
      }
      for (size_t i = 0; i < turning.size(); i += 2)
        for (size_t j = i + 2; j < turning.size(); j += 2)
          for (size_t e = 0; e < 4; ++e)
            terms.push_back(both(turning[i + e / 2], turning[j + e % 2]));
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
          Entry entry;
          entry.to = to(i, j);
          if (entry.to < 0) continue;
          const double weight = slave(i) && slave(j) ? between : 1;
          constant[static_cast<size_t>(entry.to)] += weight * constant_part(i, j);
          bool moves = false;
          for (const Matrix& t : terms) {
            entry.terms.push_back(weight * t(i, j));
            moves |= t(i, j) != 0;
          }
          if (moves) entries[k].push_back(std::move(entry));
        }
    };
    project(mass, in_mass, 0.5);
    project(stiffness, in_stiffness, 1);
  }
  // The first link that has an entry sets it, constant part included.
  std::vector<bool> known(constant.size(), false);
  for (size_t k = 0; k < links.size(); ++k) {
    LinkPlan& l = links[k];
    const auto middle =
        std::stable_partition(entries[k].begin(), entries[k].end(),
                              [&](const Entry& e) { return !known[static_cast<size_t>(e.to)]; });
    // Whole groups: what is only room goes to the last number.
    const auto fill = [&](auto where) {
      const auto count = where - entries[k].begin();
      const Entry room{static_cast<int>(constant.size()) - 1,
                       std::vector<double>(static_cast<size_t>(l.terms()), 0.0)};
      entries[k].insert(where, static_cast<size_t>(lanes::padded(static_cast<int>(count)) - count),
                        room);
    };
    l.sets = lanes::padded(static_cast<int>(middle - entries[k].begin()));
    fill(middle);
    fill(entries[k].end());
    l.to.clear();
    const auto terms = static_cast<size_t>(l.terms()), width = static_cast<size_t>(lanes::kWidth),
               stride = (terms + 1) * width;
    l.table.assign((entries[k].size() + width - 1) / width * stride, 0.0);
    for (size_t i = 0; i < entries[k].size(); ++i) {
      const Entry& e = entries[k][i];
      double* to = l.table.data() + i / width * stride + i % width;
      if (!known[static_cast<size_t>(e.to)]) to[0] = constant[static_cast<size_t>(e.to)];
      known[static_cast<size_t>(e.to)] = true;
      for (size_t t = 0; t < terms; ++t) to[(t + 1) * width] = e.terms[t];
      l.to.push_back(e.to);
    }
  }
}

}  // namespace panto::erls
