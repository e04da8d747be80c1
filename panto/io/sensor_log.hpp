// Recorded readings of a machine: CSV tables (a column per sensor, or rows of t, sensor, value) and runs that `panto simulate` measured.
#pragma once

#include <string>
#include <vector>

#include "panto/estimation/kinematic_setup.hpp"
#include "panto/estimation/log.hpp"

namespace panto {

// Sensors named in `wanted`; empty: all sensors of the model that the log has. Columns are named as outputs or inputs of the model, a measured one of
// ours also "<sensor>.measured", which comes before the ideal one; the stamp is the column "t" or "time", else the first. Units in brackets are
// converted, without them values are SI. Errors: E0810 a sensor that the log does not have, E0811 a unit that does not fit; what the readers of tables and
// runs find. Warnings: W0814 columns that are nothing of the model, W0818 rows without a stamp.
Result<SensorLog> read_sensor_log(const std::string& path, const Model& model,
                                  const std::vector<std::string>& wanted);
// The sensors of an observer; where there are none, those that the log has are put in.
Result<SensorLog> read_sensor_log(const std::string& path, const Model& model,
                                  std::vector<SensorSettings>& sensors);
// The channels of a kinematic observer; the setup is completed, where channels are open from those that the log has.
Result<SensorLog> read_sensor_log(const std::string& path, const Model& model, const Params& params,
                                  KinematicSetup& setup);
Result<SensorLog> parse_sensor_log(std::string_view csv, const std::string& file,
                                   const Model& model, const std::vector<std::string>& wanted);

// Estimates as files. CSV: t, every quantity with "<name>.sigma", "<sensor>.innovation" with its sigma, nis. HDF5: /t, /nis, /estimates, /sigma,
// /innovations, /innovation_sigma (see docs/observe.md). Of kinematic observers also zone and "<channel>.reading", /zone and /readings.
Diagnostics write_csv(const EstimateSeries& series, const std::string& path);
Diagnostics write_hdf5(const EstimateSeries& series, const std::string& path);

}  // namespace panto
