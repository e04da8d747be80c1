// The search behind assemble(): which initial values are kept, tried starts, and the explanation of a failure.
#pragma once

#include <string>
#include <vector>

#include "panto/mechanics/assembly.hpp"
#include "panto/mechanics/closure.hpp"

namespace panto {

class Assembler {
 public:
  Assembler(Workspace& workspace, double t, View q_guess);

  // A given value of the initial state (not a guess): a joint coordinate, another channel, or the orientation of a ball joint.
  struct Given {
    int condition = -1;    // index into Model::initial
    int orientation = -1;  // or into Model::orientations
    std::string name;
    Loc loc;
  };
  // Which of the given values to insist on; the others only serve as guesses.
  using Kept = std::vector<char>;

  // Positions: from the guesses, then from perturbed starts. q: the assembled pose, or the nearest to one.
  bool positions(const Kept& kept, Eigen::VectorXd& q, int& iterations);
  bool positions(Eigen::VectorXd& q, int& iterations);
  // Why positions() failed; q is its nearest pose.
  void explain_positions(const Eigen::VectorXd& q, Diagnostics& out);

  // Speeds of least kinetic energy (ASM-2; or least far from guessed speeds) that satisfy constraints and given speeds.
  bool velocities(const Eigen::VectorXd& q, Eigen::VectorXd& v, Diagnostics& out);

 private:
  enum class Known : char { kFree, kGuess, kGiven };
  struct Rate {
    int condition = -1;
    Eigen::VectorXd gradient;
    double value = 0;
  };

  void configure(const Kept& kept);
  void set_orientation(const InitialOrientation& o);
  ClosureResult attempt(Eigen::VectorXd& q);
  void perturb(int attempt, Eigen::VectorXd& q) const;
  bool release(Eigen::VectorXd& q, int& iterations);
  Kept conflicting();
  std::string given_text(const Given& g, const Eigen::VectorXd* instead) const;
  double value_at(const Given& g, const Eigen::VectorXd& q) const;
  // Least-energy speeds with the loops and the rates kept; the worst row left, relative.
  double speeds(const std::vector<Rate>& rates, const Kept& kept, Eigen::VectorXd& v);

  Workspace& workspace_;
  const Model& model_;
  double t_;
  Closure closure_;
  std::vector<Given> given_;
  Eigen::VectorXd start_;
  std::vector<Known> known_;         // per speed, with the values kept by configure()
  std::vector<WantedValue> wanted_;  // kept values that are not coordinates
  std::vector<WantedValue> soft_;    // guesses that are not coordinates

  Eigen::MatrixXd metric_, loops_;  // of the speeds
  Eigen::VectorXd loop_rates_, v_guess_;
};

}  // namespace panto
