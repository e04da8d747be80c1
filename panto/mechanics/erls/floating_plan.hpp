// Which displacement of a reduced model is taken in the axes of which link, where each link finds its own, and the constant part of the mass matrix
// (RER-9).
#pragma once

#include "panto/model/beam_links.hpp"

namespace panto::erls {

struct FloatingPlan {
  struct Input {
    int at = 0;  // component
    bool pair = true, slave = false;
    int link = 0, body = 0;  // the owner, body: Kinematics index
  };
  struct Place {
    int at = 0, component = 0, row = 0, column = 0;  // in a, among all inputs, in the mass matrix
    bool pair = true, slave = false;
    int owner = 0, owner_body = 0;
    int modal = -1,
        shape =
            0;  // in a: the modal part that turns with the owner; its rows in ReducedConstants::shared
  };
  struct LinkPlan {
    int body = 0, nx = 0, cluster = -1;
    std::vector<Place> own, foreign, slaves;
    std::vector<int>
        turning;          // components of a that turn with another link, in the order of `foreign`
    std::vector<int> to;  // where the entries stand in the mass matrix
    std::vector<std::vector<double>>
        tables;  // of the entries, padded; per term but the constant one
    // Entries at the angles of the foreign pairs. Terms: c, s, c², cs of each pair, then cc, cs, sc, ss of two.
    void evaluate(const Rot2<double>* r, double* out) const noexcept {
      const auto n = static_cast<int>(tables[0].size());
      const size_t pairs = foreign.size();
      size_t k = 0;
      for (size_t i = 0; i < pairs; ++i, k += 4)
        if (i == 0)
          lanes::combine_four<false>(tables[k].data(), r[i].c, tables[k + 1].data(), r[i].s,
                                     tables[k + 2].data(), r[i].c * r[i].c, tables[k + 3].data(),
                                     r[i].c * r[i].s, out, n);
        else
          lanes::combine_four<true>(tables[k].data(), r[i].c, tables[k + 1].data(), r[i].s,
                                    tables[k + 2].data(), r[i].c * r[i].c, tables[k + 3].data(),
                                    r[i].c * r[i].s, out, n);
      for (size_t i = 0; i < pairs; ++i)
        for (size_t j = i + 1; j < pairs; ++j, k += 4)
          lanes::combine_four<true>(tables[k].data(), r[i].c * r[j].c, tables[k + 1].data(),
                                    r[i].c * r[j].s, tables[k + 2].data(), r[i].s * r[j].c,
                                    tables[k + 3].data(), r[i].s * r[j].s, out, n);
    }
  };
  struct ClusterPlan {
    int first = 0, size = 0;
    std::vector<int> links, masters;
    std::vector<Input> pairs;  // of its masters
  };

  int masters = 0, slaves = 0, modes = 0, first_mode = 0;
  int nb = 0, ldb = 0, ldw = 0, ldz = 0;
  int relatives = 0, most_entries = 0;
  std::vector<int> master_dof;
  std::vector<Input> inputs;
  std::vector<LinkPlan> links;
  std::vector<ClusterPlan> clusters;
  std::vector<int> solids;  // bodies with mass of their own
  std::vector<double> constant;

  explicit FloatingPlan(const Model& model);
  void bake(const ReducedConstants<double>& c);

 private:
  ReducedLayout layout_;
};

}  // namespace panto::erls
