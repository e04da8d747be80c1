// What interior modes of two references have in common (RER-8, RER-10), with the links at given angles, and how well modes fit there (RER-7, RER-11).
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <memory>
#include <span>
#include <vector>

#include "panto/model/beam_links.hpp"

namespace panto::erls {

struct FloatingPlan;
// What modes of a reference have where they belong.
struct ReferenceFit {
  double flexibility = 0;      // share of that of all displacements
  Eigen::VectorXd energies;    // φᵀ K_ss φ
  std::vector<double> angles;  // of the links there
};
struct Reference {
  Eigen::MatrixXd shapes;  // as Reduction::shapes
  ReferenceFit fit;
  ReducedConstants<double> constants;
  std::shared_ptr<const FloatingPlan> plan;  // where links move as floating frames
};

// Nothing but bake() and fit() allocates. Angles and rates: one per beam.
class ReferenceMap {
 public:
  explicit ReferenceMap(const Model& model);
  void bake(const BeamConstants<double>& c);

  // Largest eigenvalue of |Ψᵀ M_ss Ψ − 1|.
  [[nodiscard]] double drift(const Eigen::MatrixXd& shapes,
                             std::span<const double> angles) noexcept;
  // Flexibility and strain energies of modes with the links where these are their own.
  [[nodiscard]] ReferenceFit fit(const Eigen::MatrixXd& shapes, std::span<const double> angles);
  // RER-11: the largest of drift(), the share of the flexibility that is lost, and the growth of a mode's strain energy times kEnergyWeight.
  [[nodiscard]] double misfit(const Eigen::MatrixXd& shapes, const ReferenceFit& fit,
                              std::span<const double> angles) noexcept;
  // η⁺ = X η, η̇⁺ = X η̇ + V η: X = P Ψ_from, V = P (Ψ̇_from − Ψ̇_to X), P = (Ψ_toᵀ M_ss Ψ_to)⁻¹ Ψ_toᵀ M_ss. False: Ψ_to is not independent.
  [[nodiscard]] bool compute(const Eigen::MatrixXd& from, const Eigen::MatrixXd& to,
                             std::span<const double> angles,
                             std::span<const double> rates) noexcept;
  [[nodiscard]] const Eigen::MatrixXd& x() const { return x_; }
  [[nodiscard]] const Eigen::MatrixXd& v() const { return v_; }
  // After compute(): largest displacement that is lost, of Ψ_from η − Ψ_to η⁺ [m, rad].
  [[nodiscard]] double lost(const Eigen::Ref<const Eigen::VectorXd>& eta) noexcept;

 private:
  struct Turned {  // a displacement, or a pair of them, and where its modal part turns
    int slave = 0, row = 0, beam = 0;
    bool pair = false;
  };
  void turn(const Eigen::MatrixXd& shapes, std::span<const double> angles,
            Eigen::MatrixXd& psi) const noexcept;
  void rate(const Eigen::MatrixXd& psi, std::span<const double> rates,
            Eigen::MatrixXd& out) const noexcept;
  void assemble(const std::vector<Eigen::MatrixXd>& links, std::span<const double> angles,
                Eigen::MatrixXd& all) noexcept;
  void place(std::span<const double> angles) noexcept;
  void place_stiffness(std::span<const double> angles) noexcept;
  void products(const Eigen::MatrixXd& shapes, std::span<const double> angles) noexcept;
  void energies(const Eigen::MatrixXd& shapes, std::span<const double> angles) noexcept;
  [[nodiscard]] double flexibility() noexcept;
  [[nodiscard]] double departure() noexcept;

  ReducedLayout layout_;
  std::vector<Turned> turned_;
  std::vector<std::vector<int>> slave_;  // per link, by 3 node + axis
  std::vector<Eigen::MatrixXd> link_mass_, link_stiffness_, ground_;
  Eigen::MatrixXd mass_, stiffness_, from_, to_, rate_, weighted_, gram_, x_, v_, moved_;
  Eigen::MatrixXd energy_, part_, all_part_;
  std::vector<double> placed_;  // angles of mass_
  bool stiff_ = false;          // stiffness_ and what follows from it are of them too
  double all_flexibility_ =
      0;  // tr K_ss⁻¹ M_ss there; 0: the displacements can move without strain
  Eigen::VectorXd gone_;
  Eigen::LLT<Eigen::MatrixXd> llt_, all_llt_;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen_;
};

}  // namespace panto::erls
