// Which displacement of a reduced model is taken in the axes of which link, where each link finds its own, and what of the mass matrix and of the stiffness
// of the slaves is constant or turns with the angles between links (RER-9).
#pragma once

#include "panto/model/beam_links.hpp"

namespace panto::erls {

struct FloatingPlan {
  // Displacements by place: masters from 0, slaves from ldb; amplitudes have the places from `masters` on.
  struct Input {
    int at = 0;  // place
    bool pair = true, slave = false;
    int body = 0, link = 0;  // the owner, body: Kinematics index
    int dof[2] = {-1, -1};   // speeds of a master
  };
  struct Own {
    int at = 0, component = 0;  // in a, place
    bool pair = true;
  };
  struct Foreign {  // a pair that turns by `angle` in this link
    int at = 0, component = 0, angle = 0;
    bool slave = false;
    int owner = 0, owner_body = 0;
    int modal = -1,
        shape =
            0;  // in a: the modal part that turns with the owner; its rows in ReducedConstants::shared
  };
  struct LinkPlan {
    int body = 0, nx = 0, groups = 0;
    std::vector<Own> own, slaves;  // slaves: those of `own`
    std::vector<Foreign> foreign;
    bool follows = false;     // one of `foreign` is a slave
    std::vector<int> moving;  // in a: what moves while masters and amplitudes are held, foreign
                              // pairs (static, modal), then own slaves
    // Entries that turn: per group of four the constant part, then one vector per term; where they stand, `sets` of them to be set, the others added.
    std::vector<double> table;
    std::vector<int> to;
    int sets = 0;
    // Terms: c, s, c², cs of each foreign pair, then cc, cs, sc, ss of two.
    [[nodiscard]] int terms() const noexcept {
      const auto n = static_cast<int>(foreign.size());
      return 4 * n + 2 * n * (n - 1);
    }
  };
  struct ClusterPlan {
    int first = 0, size = 0;
    std::vector<int> masters, angles;
  };

  static constexpr int kMostPairs = 8;  // of one link

  int masters = 0, slaves = 0, modes = 0, first_mode = 0, angles = 0;
  int nb = 0, ldb = 0, ldm = 0;
  int ldf = 0, ldw = 0;  // rows of W: angles, from ldf masters and zeros for the amplitudes
  // The numbers: nb + slaves columns of ldz rows (masters, amplitudes; from ldb slaves, half of what is between these) of the mass matrix, then from `still`
  // per slave a row of ldk with its static stiffness (masters; from ldb slaves).
  int ldz = 0, ldk = 0, still = 0;
  std::vector<Input> inputs;
  std::vector<LinkPlan> links;
  std::vector<ClusterPlan> clusters;
  std::vector<std::vector<int>> slaves_of;  // per group of b: slaves that follow masters in it
  std::vector<int> solids;                  // bodies with mass of their own
  std::vector<double> constant;

  explicit FloatingPlan(const Model& model);
  void bake(const ReducedConstants<double>& c);

 private:
  ReducedLayout layout_;
};

}  // namespace panto::erls
