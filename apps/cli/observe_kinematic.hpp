// What is told of a kinematic observer's readings.
#pragma once

#include <string>
#include <vector>

#include "panto/estimation/kinematic_log.hpp"

namespace panto::cli {

// A line per channel, and the counts of what was bad.
std::string kinematic_table(const std::vector<ChannelRecord>& channels,
                            const KinematicCounts& counts);

}  // namespace panto::cli
