#include "panto/numerics/ranks.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace panto {

namespace {

constexpr size_t kMessage = size_t{1} << 24;  // MPI counts are int

bool started_by_mpi() {
  constexpr std::array kVariables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
  return std::any_of(kVariables.begin(), kVariables.end(),
                     [](const char* name) { return std::getenv(name) != nullptr; });
}

}  // namespace

Ranks::Ranks() {
  if (!started_by_mpi()) return;
  int running = 0;
  MPI_Initialized(&running);
  if (running == 0) {
    MPI_Init(nullptr, nullptr);
    ours_ = true;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

Ranks::~Ranks() {
  if (ours_) MPI_Finalize();
}

Ranks& Ranks::world() {
  static Ranks ranks;
  return ranks;
}

void Ranks::sum(std::span<double> values) const {
  if (size_ == 1) return;
  for (size_t first = 0; first < values.size(); first += kMessage)
    MPI_Allreduce(MPI_IN_PLACE, values.data() + first,
                  static_cast<int>(std::min(kMessage, values.size() - first)), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
}

}  // namespace panto
