// The inverse equations over a whole horizon at once, by collocation of fourth order: Lobatto's three points per interval, with conditions at both ends (SRV-44 … SRV-46).
// Newton's method on a chain of blocks; nothing is integrated forward, so that growing and decaying internal motion are alike.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "panto/inversion/internal_modes.hpp"
#include "panto/numerics/block_chain.hpp"
#include "panto/numerics/equality_program.hpp"

namespace panto {

// Desired outputs and their first two derivatives at t: z, ż, z̈ one after the other.
using Targets = std::function<void(double t, std::span<double> out)>;

struct HorizonEnd {
  Eigen::VectorXd y, mu;     // at rest; μ: λ and u
  EndConditions conditions;  // on (y - rest, v / frequency)
  double frequency = 1;
};

class HorizonCollocation {
 public:
  // The system must outlive it. mesh: ascending, at least two instants. independent coordinates are chosen at `states` (one column per instant, as in
  // StageSolver: y, v, w, λ, u), which is also the first guess.
  HorizonCollocation(ServoSystem& system, Targets targets, std::vector<double> mesh,
                     HorizonEnd begin, HorizonEnd end, const Eigen::MatrixXd& states);
  HorizonCollocation(const HorizonCollocation&) = delete;
  HorizonCollocation& operator=(const HorizonCollocation&) = delete;

  // Where λ or u are interpolated the chain of intervals has internal motion of its own beside that of the mechanism: conditions at both ends by the modes that one
  // interval at rest multiplies by more than one (SRV-49). Clamps stay; these conditions take what clamps leave undetermined. False: their numbers at both ends do not fit; conditions stay as they were.
  bool end_along_discrete_modes();

  // From where positions and forces are: the motion of the equations linearised there at rest, by one step of Newton's method. False: singular, nothing is changed.
  bool move_linearly();
  struct Report {
    int iterations = 0, dampings = 0;
    double step = 0;  // the last, relative to each quantity's largest value
    bool regular = true, stopped = false;
  };
  // Asked between iterations, in solve() and by those who lead this to a solution themselves: false ends them, `stopped`.
  void ask(std::function<bool()> go_on) { go_on_ = std::move(go_on); }
  [[nodiscard]] bool goes_on() const { return !go_on_ || go_on_(); }
  // Newton steps, shortened while the next would not become smaller, until one is below `tolerance`. kNotConverged: the best iterate stands.
  [[nodiscard]] Status solve(int iterations, double tolerance, Report& report);

  // The same equations as one sparse system in all unknowns, accelerations and middles included: for those who choose among the motions that obey it where no
  // conditions on internal motion are given at the ends (SRV-50).
  using Entry = SparseEntry;
  [[nodiscard]] const Eigen::VectorXd& unknowns() const { return x_; }
  void set(const Eigen::VectorXd& unknowns) { x_ = unknowns; }
  // What each unknown is measured by.
  [[nodiscard]] Eigen::VectorXd scales();
  // What is left of all equations, and its derivatives, always in the same places. False: not finite.
  [[nodiscard]] bool equations(Eigen::VectorXd& left, std::vector<Entry>* derivatives);
  // Positions at the instants and middles of states() as sums of unknowns: entries by (instant, position) in rows nv k + c.
  [[nodiscard]] std::vector<Entry> positions() const;
  // Accelerations when the rows hold as accelerations, by (y, v): at the instants and middles, nv rows each.
  [[nodiscard]] std::vector<Eigen::MatrixXd> accelerations();
  // At the first instant: directions of (y, v) that the rows on positions and speeds, and the conditions there, leave free: columns.
  [[nodiscard]] Eigen::MatrixXd free_at_begin();

  // Gives the memory of equations back: nothing can be solved any more, the solution stands.
  void finish();

  // Whether λ or u are interpolated in the middles (SRV-47).
  [[nodiscard]] bool interpolates() const;
  [[nodiscard]] const std::vector<double>& mesh() const { return mesh_; }
  // Columns: states at the instants of the mesh and, between them, in the middle: 2 n - 1 of n.
  [[nodiscard]] Eigen::MatrixXd states() const;
  [[nodiscard]] std::vector<double> times() const;
  // Largest difference of positions, speeds and inputs of two states, relative to the largest values of this solution.
  [[nodiscard]] double distance(const double* a, const double* b) const;
  // The same since a solution on a mesh whose instants are among these: by its instants.
  [[nodiscard]] std::vector<double> changes(const HorizonCollocation& coarser) const;

 private:
  // An instant or the middle of an interval, linearised: accelerations follow from the equations of motion (SRV-45),
  //   δw = a + D δ(y, v, μ),   rows that are left: c + C δ(y, v, μ) = 0.
  struct Point {
    std::shared_ptr<const Eigen::MatrixXd>
        inverse;                 // of the mass matrix: one for all points where that is constant
    Eigen::MatrixXd D, C, by_w;  // by_w: of the rows
    Eigen::VectorXd a, c;
  };
  struct Equation {
    int row = 0, level = 0, component = -1;  // component: of the path
  };
  void choose_independent();
  void choose_interpolated(double h);
  void evaluate(const double* state, double t, bool with_tangent);
  void missed(const std::vector<Equation>& equations, Eigen::VectorXd& c) const;   // at values_
  void differentiate(const std::vector<Equation>& equations, Point& point) const;  // C, by_w
  void linearise(const std::vector<Equation>& equations, Point& point);
  void leave(const std::vector<Equation>& equations, Point& point) const;  // a and c anew
  void relations(size_t at, double h, const Point& p, const Point& m, const Point& q,
                 Eigen::Index row, Eigen::MatrixXd& a, Eigen::MatrixXd& b) const;
  // Modes of (y, v / frequency, μ) in columns; conditions that keep the others out, and the growing ones.
  struct DiscreteModes {
    Eigen::MatrixXd growing, others, leave, arrive;
  };
  [[nodiscard]] bool discrete_modes(const HorizonEnd& e, double t, double h, size_t at,
                                    DiscreteModes& out);
  [[nodiscard]] bool complete(EndConditions& c, const Eigen::MatrixXd& conditions,
                              const Eigen::MatrixXd& kept_out) const;
  [[nodiscard]] bool assemble();
  // -F of all stages, with the derivatives of the last assembly.
  void right_hand_sides();
  [[nodiscard]] bool points(bool with_tangent);
  void solve_linear(Eigen::VectorXd& step) const;
  [[nodiscard]] int node(int i) const { return i * (state_ + middle_); }
  [[nodiscard]] int between(int i) const { return node(i) + state_; }
  [[nodiscard]] double length(int i) const {
    return mesh_[static_cast<size_t>(i) + 1] - mesh_[static_cast<size_t>(i)];
  }
  void middle_state(int i, double* out) const;
  void scale_unknowns();
  [[nodiscard]] double norm(const Eigen::VectorXd& step) const;

  ServoSystem& system_;
  Targets targets_;
  std::vector<double> mesh_;
  HorizonEnd begin_, end_;
  int nv_, nl_, nu_, mu_, state_, middle_, block_;  // block_: y, v, μ of an instant
  std::vector<Equation> at_instants_, in_middles_;
  std::vector<std::vector<int>> free_y_, free_v_;  // independent coordinates of each interval
  // Rows in a middle that say little about λ and u there: combinations of rows that are kept, and of λ and u that are interpolated instead (SRV-47).
  std::vector<Eigen::MatrixXd> kept_, interpolated_;
  Eigen::VectorXd x_, scale_, range_;  // scale_: of a state; range_: of motion
  std::vector<Point> instants_, middles_;
  ServoValues values_;
  Eigen::MatrixXd mass_;  // of the last point
  std::shared_ptr<const Eigen::MatrixXd> inverse_mass_;
  std::vector<double> target_;
  std::function<bool()> go_on_;
  BlockChain chain_;
  std::vector<Eigen::VectorXd> row_scale_, right_;
};

}  // namespace panto
