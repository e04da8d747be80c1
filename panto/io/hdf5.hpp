// Runs as HDF5 files, through the C interface of the library. Clients use results.hpp.
#pragma once

#include <string>
#include <string_view>

#include "panto/estimation/log.hpp"
#include "panto/estimation/twin.hpp"
#include "panto/integrate/simulate.hpp"
#include "panto/io/csv.hpp"
#include "panto/linear/trajectory.hpp"
#include "panto/reduction/reduce.hpp"

namespace panto::hdf5 {

// Creates or replaces the file; an empty answer means success, anything else is the reason of failure.
std::string write(const Run& run, const std::string& path);
std::string write(const EstimateSeries& series, const std::string& path);
std::string write(const TwinResult& result, const std::string& path);
std::string write(const LinearTrajectory& along, const std::string& model, const std::string& path);
std::string write(const LinearSystem& system, const RankedReduction& reduction,
                  const std::string& path);

std::string write(const SeriesTable& table, const std::string& path);

bool has_signature(std::string_view bytes);
// `bytes` is the file's content (padded in place where it is truncated), `path` its name for messages.
Result<Run> read(std::string& bytes, const std::string& path);
// The series of the root, all of one length, from any program; comments are a text attribute. Where one is lost there is no table (E0627).
Result<SeriesTable> read_table(std::string& bytes, const std::string& path);

}  // namespace panto::hdf5
