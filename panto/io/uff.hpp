// Universal files: the datasets of modal testing, 15 (nodes), 55 (data at nodes), 58 and 58b (functions), 82 (trace lines), 151 (header), 164 (units), as the
// Structural Dynamics Research Laboratory of the University of Cincinnati publishes them. Fields are named as there.
#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "panto/base/diagnostics.hpp"

namespace panto::uff {

struct Header {  // 151
  std::string model, description, creator, written_by;
};

// 164. Values of the file divided by these factors are SI.
struct Units {
  int code = 1;
  std::string description = "SI: Meter (newton)";
  int temperature_mode = 2;
  double length = 1, force = 1, temperature = 1, temperature_offset = 273.15;
};

struct Node {  // 15
  int label = 0;
  int definition_system = 0, displacement_system = 0, color = 0;
  Eigen::Vector3d position = Eigen::Vector3d::Zero();  // [m]
  Loc loc{};
};

struct Trace {  // 82; a node 0 lifts the pen
  int number = 0, color = 0;
  std::string name;
  std::vector<int> nodes;
};

// 55: one shape. Of analysis type 2 the reals are frequency [Hz], modal mass, viscous and hysteretic damping ratio; of 3 and 7 they begin with the
// eigenvalue [rad/s].
struct Shape {
  std::array<std::string, 5> id;
  int model_type = 1, analysis_type = 2, characteristic = 2, specific_type = 8;
  bool is_complex = false;
  std::vector<int> integers;
  std::vector<double> reals;
  std::vector<int> nodes;
  Eigen::MatrixXcd values;  // nodes x values per node; lengths in m
  Loc loc{};
};

struct Axis {
  int specific_type =
      0;  // 8 displacement, 11 velocity, 12 acceleration, 13 force, 17 time, 18 frequency
  int length_exponent = 0, force_exponent = 0, temperature_exponent = 0;
  std::string label, unit;
};

// 58 and 58b: one function.
struct Function {
  std::array<std::string, 5> id;
  int type = 4;  // 1 time response, 4 frequency response, 6 coherence
  int number = 0, version = 0, load_case = 0;
  std::string response_name, reference_name;
  int response_node = 0, response_direction = 0, reference_node = 0, reference_direction = 0;
  bool is_complex = true, is_double = true, even = true;
  double z_value = 0;
  Axis abscissa, numerator, denominator, z_axis;
  Eigen::VectorXd x;
  Eigen::VectorXcd y;  // SI
  Loc loc{};
};

struct File {
  std::string name;
  std::optional<Header> header;
  std::optional<Units> units;
  std::vector<Node> nodes;
  std::vector<Trace> traces;
  std::vector<Shape> shapes;
  std::vector<Function> functions;
};

// All values in SI units by the last dataset 164 before them; without one they are taken as SI. All that is wrong is told with line, dataset and byte (E0953):
// datasets that do not end, fields that are no numbers, counts that do not fit, binary data that is too short or in a format of VAX or IBM machines.
// Warnings: W0954 functions or shapes at nodes that have no coordinates while others have, W0955 datasets that are skipped.
Result<File> parse(std::string_view bytes, const std::string& name);
Result<File> read(const std::string& path);

enum class Format { kText, kLittleEndian, kBigEndian };  // of the functions
// Everything in SI units. Values of functions are doubles: bit for bit where binary, 12 significant digits in text (the format has no more).
std::string text(const File& file, Format format = Format::kText);
Diagnostics write(const File& file, const std::string& path, Format format = Format::kText);

}  // namespace panto::uff
