// Work shared by several processes (MPI). A program started alone is the only rank, and MPI is then not even initialised.
#pragma once

#include <span>

namespace panto {

class Ranks {
 public:
  // Joins the others when the program was started by mpirun (or a batch system that sets the same variables); once per program.
  static Ranks& world();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  // Entry by entry the sum over all ranks, on every rank. Where all but one rank hold zeros the result is exact.
  void sum(std::span<double> values) const;

 private:
  Ranks();
  int rank_ = 0, size_ = 1;
  bool ours_ = false;  // we started MPI, so we end it
};

}  // namespace panto
