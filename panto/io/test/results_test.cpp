#include "panto/io/results.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "panto/io/atomic_file.hpp"
#include "panto/io/study.hpp"
#include "panto/io/test/example_run.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

namespace fs = std::filesystem;

class Results : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }

  test::TemporaryFolder folder_;
};

TEST_F(Results, Hdf5ReadsBackBitForBit) {
  const auto run = example_run();
  ASSERT_TRUE(write_hdf5(run, path("run.h5")).ok());
  const auto back = read_run(path("run.h5"));
  ASSERT_TRUE(back.ok()) << back.diagnostics().text();
  EXPECT_EQ(back.diagnostics().text(), "");
  EXPECT_EQ(back->model, run.model);
  EXPECT_EQ(back->integrator, run.integrator);
  EXPECT_EQ(back->t, run.t);
  EXPECT_EQ(back->output_names, run.output_names);
  EXPECT_EQ(back->output_units, run.output_units);
  EXPECT_EQ(back->outputs, run.outputs);
  EXPECT_EQ(back->coordinate_names, run.coordinate_names);
  EXPECT_EQ(back->speed_units, run.speed_units);
  EXPECT_EQ(back->multiplier_names, run.multiplier_names);
  EXPECT_EQ(back->q, run.q);
  EXPECT_EQ(back->v, run.v);
  EXPECT_EQ(back->a, run.a);
  EXPECT_EQ(back->lambda, run.lambda);
  EXPECT_EQ(back->taken, run.taken);
  EXPECT_EQ(back->energy_max_drift, run.energy_max_drift);
  EXPECT_EQ(back->stats.evaluations, run.stats.evaluations);
  ASSERT_EQ(back->measured.size(), 1U);
  EXPECT_EQ(back->measured[0].t, run.measured[0].t);
  EXPECT_EQ(back->measured[0].values, run.measured[0].values);
  EXPECT_EQ(back->model_text, run.model_text);
  EXPECT_EQ(back->settings, run.settings);
  EXPECT_TRUE(back->complete);
}

TEST_F(Results, TheSameRunGivesTheSameBytes) {
  auto run = example_run();
  ASSERT_TRUE(write_hdf5(run, path("a.h5")).ok());
  run.stats.wall_seconds = 99;
  sleep(1);  // a stored date would differ now
  ASSERT_TRUE(write_hdf5(run, path("b.h5")).ok());
  EXPECT_EQ(*read_bytes(path("a.h5")), *read_bytes(path("b.h5")));
}

TEST_F(Results, NumpyReadsNamesUnitsAndValues) {
  ASSERT_TRUE(write_hdf5(example_run(), path("run.h5")).ok());
  std::ofstream(path("read.py")) << R"(
import sys, h5py, numpy as np
f = h5py.File(sys.argv[1], "r")
text = lambda x: x.decode() if isinstance(x, bytes) else x
assert text(f.attrs["model"]) == "example" and text(f.attrs["integrator"]) == "cvode"
assert f["t"].shape == (101,) and f["t"].dtype == np.float64 and text(f["t"].attrs["unit"]) == "s"
th = f["outputs/theta"]
assert text(th.attrs["unit"]) == "rad" and np.allclose(th[:], np.sin(f["t"][:]), rtol=0, atol=1e-15)
assert [text(d.attrs["name"]) for d in f["outputs"].values()][1] == 'pin/x, "left"'
assert set(f["energy"]) == {"kinetic", "potential", "entered", "taken"}
assert text(f["states/a/theta_dot"].attrs["unit"]) == "rad/s^2"
assert text(f["states/lambda/pin: x"].attrs["unit"]) == "N"
assert f["measurements/gyro/values"][1] == 0.25
)";
  const std::string command = "/usr/bin/python3 " + path("read.py") + " " + path("run.h5");
  if (std::system("/usr/bin/python3 -c 'import h5py' 2>/dev/null") != 0)  // NOLINT
    GTEST_SKIP() << "python3-h5py is not installed";
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT
}

TEST_F(Results, CsvHoldsOutputsMeasurementsAndEnergy) {
  const auto run = example_run();
  ASSERT_TRUE(write_csv(run, path("run.csv")).ok());
  std::ifstream file(path("run.csv"));
  std::string header;
  std::getline(file, header);
  EXPECT_EQ(header,
            "t [s],theta [rad],\"pin/x, \"\"left\"\" [m]\",.,gyro.measured [rad/s],energy.kinetic "
            "[J],energy.potential [J],energy.entered [J],energy.taken [J]\r");
  const auto back = read_run(path("run.csv"));
  ASSERT_TRUE(back.ok()) << back.diagnostics().text();
  EXPECT_EQ(back->t, run.t);
  EXPECT_EQ(back->output_names, run.output_names);
  EXPECT_EQ(back->output_units, run.output_units);
  EXPECT_EQ(back->outputs, run.outputs);
  EXPECT_EQ(back->taken, run.taken);
  EXPECT_EQ(back->measured.at(0).values, run.measured[0].values);
  // taken grows by 1e-9 J/s more than entered: 1e-8 J after 10 s, up to round-off of 7 J.
  EXPECT_NEAR(back->energy_max_drift, 1e-8, 1e-14);
}

TEST_F(Results, NothingButTheResultIsLeftInTheFolder) {
  ASSERT_TRUE(write_hdf5(example_run(), path("run.h5")).ok());
  ASSERT_TRUE(write_hdf5(example_run(), path("run.h5")).ok());
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_.path())) ++files;
  EXPECT_EQ(files, 1U);
}

TEST_F(Results, ALinkStaysALink) {
  std::ofstream(path("real.csv")) << "old";
  fs::create_symlink("real.csv", path("link.csv"));
  ASSERT_TRUE(write_csv(example_run(), path("link.csv")).ok());
  EXPECT_TRUE(fs::is_symlink(path("link.csv")));
  EXPECT_TRUE(read_run(path("real.csv")).ok());
}

TEST_F(Results, LinearModelsAlongAMotionAreArraysOverTime) {
  LinearTrajectory along;
  for (int i = 0; i < 3; ++i) {
    along.time.push_back(0.5 * i);
    OperatingPoint point;
    point.q = Eigen::VectorXd::Constant(3, i);
    point.v = Eigen::VectorXd::Constant(2, 10 + i);
    along.points.push_back(point);
    LinearModel m;
    m.states = {"z", "z_dot"};
    m.A.resize(2, 2);
    m.A << i, 1, -2, -3;
    m.B_x.resize(2, 0);
    along.models.push_back(m);
  }
  ASSERT_TRUE(write_hdf5(along, "thing", path("linear.h5")).ok());
  const hid_t file = H5Fopen(path("linear.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const auto read = [&](const char* name, std::vector<hsize_t>& shape) {
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    shape.resize(static_cast<size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    std::vector<double> values(static_cast<size_t>(H5Sget_simple_extent_npoints(space)));
    if (!values.empty())
      H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Sclose(space);
    H5Dclose(set);
    return values;
  };
  std::vector<hsize_t> shape;
  EXPECT_EQ(read("A", shape), (std::vector<double>{0, 1, -2, -3, 1, 1, -2, -3, 2, 1, -2, -3}));
  EXPECT_EQ(shape, (std::vector<hsize_t>{3, 2, 2}));
  EXPECT_TRUE(read("B", shape).empty());
  EXPECT_EQ(shape, (std::vector<hsize_t>{3, 2, 0}));
  EXPECT_EQ(read("time", shape), along.time);
  EXPECT_EQ(read("v", shape), (std::vector<double>{10, 10, 11, 11, 12, 12}));
  EXPECT_EQ(shape, (std::vector<hsize_t>{3, 2}));
  H5Fclose(file);
}

TEST_F(Results, RowsOfATwinStudyAreColumns) {
  TwinResult r;
  r.model = "four";
  r.channels = {"theta"};
  r.units = {"rad"};
  for (int i = 0; i < 3; ++i) {
    TwinRow row;
    row.filter = i == 0 ? "ukf" : "error_ekf";
    row.sensors = "encoder";
    row.error_level = "high";
    row.seed = static_cast<std::uint64_t>(i);
    if (i < 2) row.rmse = {0.5 + i};  // the third was not run
    row.lost = i;
    row.lost_at = i == 0 ? std::nan("") : 2.5;
    r.rows.push_back(row);
  }
  TwinSeries s;
  s.row = 1;
  s.t = {0.1, 0.2};
  s.truth = s.estimate = s.sigma = {{1, 2}};
  s.sensors = {"encoder"};
  s.innovation_t = s.innovation = s.innovation_sigma = {{0.2}};
  r.series = {s};
  ASSERT_TRUE(write_hdf5(r, path("rows.h5")).ok());
  const hid_t file = H5Fopen(path("rows.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const auto read = [&](const char* name) {
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    std::vector<double> values(static_cast<size_t>(H5Sget_simple_extent_npoints(space)));
    H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Sclose(space);
    H5Dclose(set);
    return values;
  };
  EXPECT_EQ(read("rows/rmse/theta"), (std::vector<double>{0.5, 1.5}));
  EXPECT_EQ(read("rows/lost"), (std::vector<double>{0, 1}));
  EXPECT_TRUE(std::isnan(read("rows/lost_at")[0]));
  EXPECT_EQ(read("series/1/truth/theta"), (std::vector<double>{1, 2}));
  EXPECT_EQ(read("series/1/innovation/encoder"), std::vector<double>{0.2});
  const hid_t set = H5Dopen2(file, "rows/filter", H5P_DEFAULT), type = H5Dget_type(set);
  ASSERT_EQ(H5Tget_size(type), 9U);
  std::string names(18, ' ');
  H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, names.data());
  EXPECT_EQ(names, std::string("ukf\0\0\0\0\0\0error_ekf", 18));
  H5Tclose(type);
  H5Dclose(set);
  H5Fclose(file);
}

}  // namespace
}  // namespace panto
