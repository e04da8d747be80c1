#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <set>

#include "panto/io/frequency_data.hpp"
#include "panto/io/frequency_files.hpp"

namespace panto {

using frequency_files::ascends;
using frequency_files::index_of;
using frequency_files::kNaN;
using frequency_files::kWindow;
using frequency_files::MotionText;
using frequency_files::resize;
using frequency_files::text_of;

namespace {

// 1, 2, 3 for x, y, z, with sign; 0: along no axis.
int axis_of(const Eigen::Vector3d& direction) {
  for (int i = 0; i < 3; ++i)
    if (std::abs(std::abs(direction(i)) - 1) < 1e-12) return direction(i) > 0 ? i + 1 : -i - 1;
  return 0;
}

Eigen::Vector3d direction_of(int axis) {
  return Eigen::Vector3d::Unit(std::abs(axis) - 1) * (axis < 0 ? -1.0 : 1.0);
}

// What nodes are called.
class NodeNames {
 public:
  NodeNames(const uff::File& file, const FrameOfNode& frames) : frames_(frames) {
    for (const uff::Trace& t : file.traces)
      if (t.nodes.size() == 1 && !t.name.empty() && t.name != "NONE")
        frames_.emplace(t.nodes[0], t.name);
    // An entity may hold many nodes; it names one only where it has one.
    std::map<std::string, std::set<int>> entities;
    const auto add = [&](const std::string& name, int node) {
      if (!name.empty()) entities[name].insert(node);
    };
    for (const uff::Function& f : file.functions) {
      add(f.response_name, f.response_node);
      add(f.reference_name, f.reference_node);
    }
    for (const auto& [name, nodes] : entities)
      if (nodes.size() == 1) frames_.emplace(*nodes.begin(), name);
  }
  [[nodiscard]] std::string operator()(int node) const {
    const auto found = frames_.find(node);
    return found != frames_.end() ? found->second : fmt::format("node {}", node);
  }

 private:
  FrameOfNode frames_;
};

// Nodes of a file that is written, numbered in the order of their frames.
class Numbering {
 public:
  int operator()(const std::string& frame) {
    const auto [at, added] = numbers_.emplace(frame, static_cast<int>(order_.size()) + 1);
    if (added) order_.push_back(frame);
    return at->second;
  }
  void describe(uff::File& file, const PositionOfFrame& positions) const {
    for (size_t i = 0; i < order_.size(); ++i) {
      const int label = static_cast<int>(i) + 1;
      uff::Trace trace;
      trace.number = label;
      trace.name = order_[i];
      trace.nodes = {label};
      file.traces.push_back(trace);
      const auto position = positions.find(order_[i]);
      if (position == positions.end()) continue;
      uff::Node node;
      node.label = label;
      node.position = position->second;
      file.nodes.push_back(node);
    }
  }

 private:
  std::map<std::string, int> numbers_;
  std::vector<std::string> order_;
};

std::optional<Motion> motion_of(int specific_type) {
  switch (specific_type) {
    case 8:
      return Motion::kDisplacement;
    case 11:
      return Motion::kVelocity;
    case 12:
      return Motion::kAcceleration;
    default:
      return std::nullopt;
  }
}

bool fits_six_digits(const Eigen::VectorXd& x) {
  if (x.size() < 2) return true;
  const auto rounded = [](double v) { return std::stod(fmt::format("{:.5E}", v)); };
  const double first = rounded(x(0)),
               step = rounded((x(x.size() - 1) - x(0)) / static_cast<double>(x.size() - 1));
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (std::abs(x(i) - first - static_cast<double>(i) * step) > 1e-13 * std::abs(x(x.size() - 1)))
      return false;
  return true;
}

uff::Header header() {
  return {.model = "pantograph",
          .description = "",
          .creator = "pantograph",
          .written_by = "pantograph"};
}

}  // namespace

std::string name_of(const MeasuredPoint& p) {
  for (int axis : {1, 2, 3, -1, -2, -3})
    if (p.direction == direction_of(axis))
      return fmt::format("{}:{}{}", p.frame, axis < 0 ? "-" : "", "xyz"[std::abs(axis) - 1]);
  return fmt::format("{}:{} {} {}", p.frame, p.direction.x(), p.direction.y(), p.direction.z());
}

bool parse_point(std::string_view text, MeasuredPoint& point) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  point.frame = text.substr(0, colon);
  const std::string direction(text.substr(colon + 1));
  const std::string_view axis = std::string_view(direction).substr(
      direction.starts_with('-') || direction.starts_with('+') ? 1 : 0);
  if (axis.size() == 1 && axis[0] >= 'x' && axis[0] <= 'z') {
    point.direction = direction_of((axis[0] - 'x' + 1) * (direction.starts_with('-') ? -1 : 1));
    return true;
  }
  // Three numbers between blanks.
  Eigen::Vector3d d;
  const char* at = direction.c_str();
  for (int i = 0; i < 3; ++i) {
    char* end = nullptr;
    d(i) = std::strtod(at, &end);
    if (end == at) return false;
    at = end;
  }
  const double length = d.norm();
  if (*at != '\0' || !(length > 0) || !std::isfinite(length)) return false;
  point.direction = std::abs(length - 1) > 1e-12 ? Eigen::Vector3d(d / length) : d;
  return true;
}

Result<FrequencyData> frequency_data(const uff::File& file, const FrameOfNode& frames) {
  Diagnostics d;
  FrequencyData data;
  const NodeNames names(file, frames);
  const uff::Function* first = nullptr;
  std::vector<const uff::Function*> used, coherent;
  int left_out = 0;
  Loc left_at;
  std::optional<Motion> motion;
  for (const uff::Function& f : file.functions) {
    if (f.type != 4 && f.type != 6) continue;
    const auto translation = [](int axis) { return axis != 0 && std::abs(axis) <= 3; };
    if (!translation(f.response_direction) || !translation(f.reference_direction)) {
      if (left_out++ == 0) left_at = f.loc;
      continue;
    }
    if (f.type == 6) {
      coherent.push_back(&f);
      continue;
    }
    if (first == nullptr) first = &f;
    if (f.x.size() != first->x.size() ||
        (f.x - first->x).cwiseAbs().maxCoeff() > 1e-5 * std::abs(first->x(first->x.size() - 1))) {
      d.error(
          956, f.loc,
          fmt::format("the frequencies of this function are not those of the first one (line {})",
                      first->loc.line));
      continue;
    }
    if (!f.y.allFinite()) {
      d.error(957, f.loc, "the function has values that are no numbers");
      continue;
    }
    if (const auto kind = motion_of(f.numerator.specific_type)) {
      if (motion && *motion != *kind)
        d.error(956, f.loc, "displacements, velocities and accelerations are mixed in one file");
      motion = kind;
    }
    used.push_back(&f);
  }
  if (left_out > 0)
    d.warning(959, left_at,
              fmt::format("{} functions at rotations or without direction are left out", left_out));
  if (first == nullptr && d.ok())
    d.error(956, {file.name, 0, 0}, "holds no frequency response (dataset 58 of type 4)");
  if (!d.ok()) return d;
  data.motion = motion.value_or(Motion::kAcceleration);
  data.frequency_hz = first->x;
  if (!ascends(data.frequency_hz)) {
    d.error(956, first->loc, "the frequencies do not ascend from 0 Hz or above");
    return d;
  }
  const auto response = [&](const uff::Function& f) {
    return MeasuredPoint{names(f.response_node), direction_of(f.response_direction)};
  };
  const auto excitation = [&](const uff::Function& f) {
    return MeasuredPoint{names(f.reference_node), direction_of(f.reference_direction)};
  };
  for (const uff::Function* f : used) {
    index_of(data.responses, response(*f));
    index_of(data.excitations, excitation(*f));
    const size_t at = f->id[3].find(kWindow);
    if (at == 0) data.window_decay = std::strtod(f->id[3].c_str() + kWindow.size(), nullptr);
  }
  resize(data, first->x.size(), !coherent.empty());
  for (const uff::Function* f : used) {
    const auto column = data.pair(index_of(data.responses, response(*f)),
                                  index_of(data.excitations, excitation(*f)));
    if (!std::isnan(data.h(0, column).real()))
      d.error(956, f->loc,
              fmt::format("the response {} to {} is there twice", name_of(response(*f)),
                          name_of(excitation(*f))));
    data.h.col(column) = f->y;
  }
  for (const uff::Function* f : coherent) {
    const size_t responses = data.responses.size(), excitations = data.excitations.size();
    const size_t r = index_of(data.responses, response(*f)),
                 e = index_of(data.excitations, excitation(*f));
    if (r < responses && e < excitations && f->y.size() == data.coherence.rows())
      data.coherence.col(data.pair(r, e)) = f->y.real();
    data.responses.resize(responses);
    data.excitations.resize(excitations);
  }
  if (!d.ok()) return d;
  return {std::move(data), d};
}

PositionOfFrame positions_of(const uff::File& file, const FrameOfNode& frames) {
  const NodeNames names(file, frames);
  PositionOfFrame positions;
  for (const uff::Node& node : file.nodes) positions.emplace(names(node.label), node.position);
  return positions;
}

Result<uff::File> uff_of(const FrequencyData& data, const PositionOfFrame& positions) {
  Diagnostics d;
  uff::File file;
  file.header = header();
  Numbering number;
  for (const auto* points : {&data.responses, &data.excitations})
    for (const MeasuredPoint& p : *points) {
      number(p.frame);
      if (axis_of(p.direction) == 0)
        d.error(957, {},
                fmt::format("point {}: universal files know directions along the axes only; write "
                            "CSV or HDF5 instead",
                            name_of(p)));
    }
  if (!d.ok()) return d;
  number.describe(file, positions);
  const bool even = fits_six_digits(data.frequency_hz);
  const MotionText& motion = text_of(data.motion);
  for (size_t e = 0; e < data.excitations.size(); ++e)
    for (size_t r = 0; r < data.responses.size(); ++r) {
      const auto k = data.pair(r, e);
      if (std::isnan(data.h(0, k).real())) continue;
      const MeasuredPoint &response = data.responses[r], &excitation = data.excitations[e];
      uff::Function f;
      f.id[0] = fmt::format("{} / {}", name_of(response), name_of(excitation));
      if (data.window_decay > 0) f.id[3] = fmt::format("{}{:.17g} 1/s", kWindow, data.window_decay);
      f.number = static_cast<int>(file.functions.size()) + 1;
      f.response_node = number(response.frame);
      f.response_direction = axis_of(response.direction);
      f.reference_node = number(excitation.frame);
      f.reference_direction = axis_of(excitation.direction);
      f.even = even;
      f.abscissa = {.specific_type = 18, .label = "Frequency", .unit = "Hz"};
      f.numerator = {
          .specific_type = motion.specific_type, .label = motion.label, .unit = motion.unit};
      f.denominator = {.specific_type = 13, .label = "Excitation force", .unit = "N"};
      f.x = data.frequency_hz;
      f.y = data.h.col(k);
      file.functions.push_back(f);
      if (data.coherence.size() == 0) continue;
      f.type = 6;
      f.is_complex = false;
      f.numerator = {.specific_type = 0, .label = "Coherence", .unit = ""};
      f.denominator = {};
      f.y = data.coherence.col(k).cast<std::complex<double>>();
      file.functions.push_back(f);
    }
  return {std::move(file), d};
}

Result<uff::File> uff_of(const ModalTest& test, const PositionOfFrame& positions) {
  Diagnostics d;
  uff::File file;
  file.header = header();
  Numbering number;
  std::vector<int> nodes;
  for (const MeasuredPoint& p : test.points) {
    nodes.push_back(number(p.frame));
    if (axis_of(p.direction) == 0)
      d.error(957, {},
              fmt::format("point {}: universal files know directions along the axes only; write "
                          "TOML or CSV instead",
                          name_of(p)));
  }
  if (!d.ok()) return d;
  number.describe(file, positions);
  for (size_t k = 0; k < test.modes.size(); ++k) {
    const MeasuredMode& m = test.modes[k];
    uff::Shape s;
    s.id[0] = fmt::format("mode {}", k + 1);
    s.nodes.assign(nodes.begin(), nodes.end());
    std::sort(s.nodes.begin(), s.nodes.end());
    s.nodes.erase(std::unique(s.nodes.begin(), s.nodes.end()), s.nodes.end());
    s.values = Eigen::MatrixXcd::Zero(static_cast<Eigen::Index>(s.nodes.size()), 3);
    for (size_t i = 0; i < test.points.size(); ++i) {
      const std::complex<double> value = m.shape(static_cast<Eigen::Index>(i));
      if (std::isnan(value.real())) continue;
      const int axis = axis_of(test.points[i].direction);
      s.values(nodes[i] - 1, std::abs(axis) - 1) = axis < 0 ? -value : value;
    }
    s.is_complex = !s.values.imag().isZero(0);
    const double omega = 2 * std::numbers::pi * m.frequency_hz;
    s.integers = {1, static_cast<int>(k) + 1};
    if (s.is_complex) {
      s.analysis_type = 3;
      s.reals = {-m.damping * omega, omega * std::sqrt(1 - m.damping * m.damping), 1, 0, 1, 0};
    } else {
      s.reals = {m.frequency_hz, 1, m.damping, 0};
    }
    file.shapes.push_back(std::move(s));
  }
  return {std::move(file), d};
}

Result<ModalTest> modal_test(const uff::File& file, const FrameOfNode& frames) {
  Diagnostics d;
  ModalTest test;
  const NodeNames names(file, frames);
  struct Entry {
    size_t point;
    std::complex<double> value;
  };
  std::vector<std::pair<MeasuredMode, std::vector<Entry>>> listed;
  for (const uff::Shape& s : file.shapes) {
    MeasuredMode m;
    if (s.analysis_type == 2 && !s.reals.empty()) {
      m.frequency_hz = s.reals[0];
      m.damping = s.reals.size() > 2 ? s.reals[2] : 0;
    } else if ((s.analysis_type == 3 || s.analysis_type == 7) && s.reals.size() >= 2) {
      const std::complex<double> pole(s.reals[0], s.reals[1]);
      m.frequency_hz = std::abs(pole) / (2 * std::numbers::pi);
      m.damping = std::abs(pole) > 0 ? -pole.real() / std::abs(pole) : 0;
    } else {
      continue;  // a static or transient field is no mode
    }
    if (!(m.frequency_hz > 0) || !std::isfinite(m.frequency_hz) ||
        !(m.damping >= 0 && m.damping < 1)) {
      d.error(951, s.loc,
              fmt::format("a mode of {} Hz with damping {} cannot be", m.frequency_hz, m.damping));
      continue;
    }
    std::vector<Entry> entries;
    for (size_t i = 0; i < s.nodes.size(); ++i)
      for (int axis = 0; axis < static_cast<int>(std::min<Eigen::Index>(3, s.values.cols()));
           ++axis) {
        const std::complex<double> value = s.values(static_cast<Eigen::Index>(i), axis);
        const bool moves =
            std::any_of(file.shapes.begin(), file.shapes.end(), [&](const uff::Shape& other) {
              const auto at = std::find(other.nodes.begin(), other.nodes.end(), s.nodes[i]);
              return at != other.nodes.end() && axis < other.values.cols() &&
                     other.values(at - other.nodes.begin(), axis) != 0.0;
            });
        if (moves)
          entries.push_back(
              {index_of(test.points, {names(s.nodes[i]), direction_of(axis + 1)}), value});
      }
    listed.emplace_back(m, std::move(entries));
  }
  if (d.ok() && listed.empty())
    d.error(956, {file.name, 0, 0}, "holds no mode (dataset 55 of analysis type 2, 3 or 7)");
  if (!d.ok()) return d;
  std::stable_sort(listed.begin(), listed.end(), [](const auto& a, const auto& b) {
    return a.first.frequency_hz < b.first.frequency_hz;
  });
  for (auto& [mode, entries] : listed) {
    mode.shape = Eigen::VectorXcd::Constant(static_cast<Eigen::Index>(test.points.size()),
                                            std::complex<double>(kNaN, kNaN));
    for (const Entry& e : entries) mode.shape(static_cast<Eigen::Index>(e.point)) = e.value;
    test.modes.push_back(std::move(mode));
  }
  return {std::move(test), d};
}

}  // namespace panto
