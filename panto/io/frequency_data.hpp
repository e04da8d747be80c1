// Measured frequency responses as files: universal files, CSV, HDF5; modes as universal files (docs/ema.md tells the formats).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "panto/base/diagnostics.hpp"
#include "panto/io/uff.hpp"
#include "panto/model/frequency_data.hpp"

namespace panto {

using FrameOfNode = std::map<int, std::string>;
using PositionOfFrame = std::map<std::string, Eigen::Vector3d>;  // [m]

// By content: HDF5 by its signature, CSV by the name .csv, anything else as a universal file. `frames` names nodes of universal files; nodes that it does
// not name are called as the file calls them (a trace line of one node, the entity of a function), else "node 3". Errors: E0956 no frequency response,
// frequencies that differ from function to function or do not ascend, a pair of points that is there twice, motions of several kinds; E0957 columns or datasets that
// cannot be understood, values that are no numbers; what the readers of the formats find. W0959: functions at rotations or without direction are left out.
// `positions`: where the nodes of a universal file are, by the same names.
Result<FrequencyData> read_frequency_data(const std::string& path, const FrameOfNode& frames = {},
                                          PositionOfFrame* positions = nullptr);
Result<FrequencyData> frequency_data(const uff::File& file, const FrameOfNode& frames = {});
// A column "frequency [Hz]" and two per pair: "tip:y/base:-x re [m/s^2/N]" and "… im"; a third "… coherence". The unit tells the kind of motion. HDF5 files
// hold the same columns as series of the root, with the attributes `name` and `unit`.
Result<FrequencyData> parse_frequency_csv(std::string_view text, const std::string& file);
std::string frequency_csv(const FrequencyData& data);

// By the name of the file: .csv, .h5 or .hdf5, else a universal file with binary functions. A universal file knows directions along axes only (E0957).
Diagnostics write_frequency_data(const FrequencyData& data, const std::string& path,
                                 const PositionOfFrame& positions = {});
Result<uff::File> uff_of(const FrequencyData& data, const PositionOfFrame& positions = {});
PositionOfFrame positions_of(const uff::File& file, const FrameOfNode& frames = {});

// Modes as dataset 55, six digits. Components that are zero in every mode are not measured points when they are read back.
Result<uff::File> uff_of(const ModalTest& test, const PositionOfFrame& positions = {});
Result<ModalTest> modal_test(const uff::File& file, const FrameOfNode& frames = {});

// "tip:y", "tip:-x", "tip:0.6 0.8 0".
std::string name_of(const MeasuredPoint& point);
bool parse_point(std::string_view text, MeasuredPoint& point);

}  // namespace panto
