// Result files: runs as HDF5 (everything) and CSV (outputs, measurements and energy, for spreadsheets), linear models along a motion as HDF5.
// All are written under a temporary name and renamed: under the final name there is a complete file or none (E0620).
#pragma once

#include <string>

#include "panto/integrate/simulate.hpp"
#include "panto/linear/trajectory.hpp"

namespace panto {

// Columns: t, every output, "<sensor>.measured" (empty where the sensor gave nothing), energy.kinetic, energy.potential, energy.entered,
// energy.taken; units in the header, 17 significant digits.
Diagnostics write_csv(const Run& run, const std::string& path);

// Layout (see docs/simulate.md): /t, /outputs/<name>, /measurements/<sensor>/{t, values}, /energy/<kind>,
// /states/{q, v, a, lambda}/<name>, /model; every series has the attributes `name` and `unit`. The same run gives the same bytes:
// no dates, no wall-clock times.
Diagnostics write_hdf5(const Run& run, const std::string& path);

// Layout (see docs/linearize.md): /time, /A, /B, ... (times x rows x columns), /q, /v, /u (times x entries), /states, /inputs, /outputs: names, one per line.
Diagnostics write_hdf5(const LinearTrajectory& along, const std::string& model,
                       const std::string& path);

// By content, not by name. Truncated files give what they still hold, with warnings E0623..E0627; files that are no run of ours E0626.
Result<Run> read_run(const std::string& path);

// The model a run came from, compiled again from the text and settings it keeps. E0629 where it keeps none; else what compile() finds.
Result<Model> model_of(const Run& run);

}  // namespace panto
