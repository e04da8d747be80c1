// Systems to reduce from files, and reduced systems as files.
#pragma once

#include <string>

#include "panto/reduction/study.hpp"

namespace panto {

// M, K and, where given, C from Matrix Market files; names from comments "%dof", else "d1", "d2", … The system has passed check().
Result<LinearSystem> read_matrices(const MatrixFiles& files);

// Matrices that CalculiX stored with *FREQUENCY, SOLVER=MATRIXSTORAGE: job.sti, job.mas, job.dof; `job` with or without an ending. Node 17's degrees of
// freedom are "n17.x", "n17.y", "n17.z" ("n17.4" … beyond three); node sets come from *NSET of job.inp where it stands beside. E0917.
Result<LinearSystem> read_calculix(const std::string& job);

// Mechanisms linearised, files read beside `file`, meshes made; checked.
Result<LinearSystem> system_of(const ReduceStudy& study, const std::string& file = {});

struct LoadedReduceStudy {
  ReduceOptions options;
  LinearSystem system;
};
Result<LoadedReduceStudy> load_reduce_study(const ModelSpec& description);
Result<LoadedReduceStudy> load_reduce_study(const std::string& path);

// HDF5 (docs/reduce.md): /M, /K, /C, /basis, /names, /dofs, /masters, /selected, /interior_hz, /rankings/<method>/…; and beside it the reduced pair as Matrix Market
// files, "name.M.mtx" and "name.K.mtx" for "name.h5", and its modes for a superelement, "name.modes.csv" (W0920 where there are none).
Diagnostics write_reduction(const LinearSystem& system, const RankedReduction& reduction,
                            const std::string& path);

// The text of the file of a model with beams, with its masters and interior modes as a table [reduction] (RER-1): the reduced mechanism, which moves as far as it
// likes. E1103: a model that is reduced already, masters without a joint that moves, another pose than the initial one; what compiling it finds.
Result<std::string> reduced_model(const ModelSpec& spec, const Model& model, const Params& params,
                                  const LinearSystem& system, const RankedReduction& reduction);

}  // namespace panto
