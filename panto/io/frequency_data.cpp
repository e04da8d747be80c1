#include "panto/io/frequency_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "panto/base/units.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/csv.hpp"
#include "panto/io/frequency_files.hpp"
#include "panto/io/hdf5.hpp"

namespace panto {

using frequency_files::ascends;
using frequency_files::index_of;
using frequency_files::kNaN;
using frequency_files::kWindow;
using frequency_files::resize;
using frequency_files::text_of;

namespace {

// Of a table that was read without loss: what a reader warned of is an error here.
Result<FrequencyData> data_of(const Result<SeriesTable>& read, const std::string& file) {
  Diagnostics d;
  for (const Diagnostic& item : read.diagnostics().items())
    d.error(item.id, item.loc, item.message);
  if (!read || !d.ok()) return d;
  const Loc head{file, read->lines.empty() ? 0 : 1, read->lines.empty() ? 0 : 1};
  FrequencyData data;
  std::optional<Dim> dim;
  struct Column {
    size_t response = 0, excitation = 0;
    char part = 'r';
    double factor = 1;
    const SeriesColumn* from = nullptr;
  };
  std::vector<Column> columns;
  const SeriesColumn* frequency = nullptr;
  bool coherence = false;
  for (const SeriesColumn& c : read->columns) {
    if (c.name == "frequency") {
      frequency = &c;
      if (!c.unit.empty() && c.unit != "Hz")
        d.error(957, head, fmt::format("column \"frequency\" is in {}, but must be in Hz", c.unit));
      continue;
    }
    const size_t blank = c.name.rfind(' ');
    const std::string part = blank == std::string::npos ? "" : c.name.substr(blank + 1);
    const std::string pair = c.name.substr(0, std::min(blank, c.name.size()));
    const size_t colon = pair.find(':');
    const size_t slash = pair.find('/', colon == std::string::npos ? pair.size() : colon);
    MeasuredPoint response, excitation;
    if ((part != "re" && part != "im" && part != "coherence") || slash == std::string::npos ||
        !parse_point(std::string_view(pair).substr(0, slash), response) ||
        !parse_point(std::string_view(pair).substr(slash + 1), excitation)) {
      d.error(957, head,
              fmt::format("column \"{}\" is no part of a response: expected names such as "
                          "\"tip:y/base:-x re\", \"… im\", \"… coherence\"",
                          c.name));
      continue;
    }
    Column column;
    column.part = part[0];
    column.from = &c;
    if (!c.unit.empty() && part != "coherence") {
      const std::optional<Unit> unit = parse_unit(c.unit);
      const Dim none{};
      const Dim per_force = unit ? unit->dim * dim::kForce : none;
      if (!unit || !(per_force == dim::kLength || per_force == dim::kSpeed ||
                     per_force == dim::kAcceleration)) {
        d.error(957, head,
                fmt::format("column \"{}\": \"{}\" is no unit of a motion per force such as "
                            "m/s^2/N",
                            c.name, c.unit));
        continue;
      }
      if (dim && !(*dim == per_force))
        d.error(957, head, "displacements, velocities and accelerations are mixed in one file");
      dim = per_force;
      column.factor = unit->factor;
    }
    column.response = index_of(data.responses, response);
    column.excitation = index_of(data.excitations, excitation);
    coherence = coherence || part == "coherence";
    columns.push_back(column);
  }
  if (frequency == nullptr) d.error(957, head, "column \"frequency\" is missing");
  if (d.ok() && columns.empty()) d.error(956, head, "holds no frequency response");
  if (!d.ok()) return d;
  if (dim)
    data.motion = *dim == dim::kLength  ? Motion::kDisplacement
                  : *dim == dim::kSpeed ? Motion::kVelocity
                                        : Motion::kAcceleration;
  const auto lines = static_cast<Eigen::Index>(read->rows());
  data.frequency_hz = Eigen::Map<const Eigen::VectorXd>(frequency->values.data(), lines);
  if (!ascends(data.frequency_hz))
    d.error(956, head, "the frequencies do not ascend from 0 Hz or above");
  resize(data, lines, coherence);
  Eigen::MatrixXd re = Eigen::MatrixXd::Constant(lines, data.pairs(), kNaN), im = re;
  for (const Column& c : columns) {
    const auto at = data.pair(c.response, c.excitation);
    const Eigen::VectorXd values =
        Eigen::Map<const Eigen::VectorXd>(c.from->values.data(), lines) * c.factor;
    if (c.part == 'c') {
      data.coherence.col(at) = values;
      continue;
    }
    for (Eigen::Index i = 0; i < lines; ++i)
      if (!std::isfinite(values(i))) {
        d.error(957, {file, read->lines.empty() ? 0 : read->lines[static_cast<size_t>(i)], 1},
                fmt::format("column \"{}\" has no value in this row", c.from->name));
        break;
      }
    (c.part == 'r' ? re : im).col(at) = values;
  }
  for (Eigen::Index k = 0; k < data.pairs(); ++k)
    if (std::isnan(re(0, k)) != std::isnan(im(0, k)) && d.ok())
      d.error(957, head, "a response has a real or an imaginary part alone");
  if (!d.ok()) return d;
  data.h.real() = re;
  data.h.imag() = im;
  for (const std::string& comment : read->comments)
    if (comment.starts_with(kWindow))
      data.window_decay = std::strtod(comment.c_str() + kWindow.size(), nullptr);
  return {std::move(data), d};
}

SeriesTable table_of(const FrequencyData& data) {
  SeriesTable table;
  if (data.window_decay > 0)
    table.comments.push_back(fmt::format("{}{:.17g} 1/s", kWindow, data.window_decay));
  const auto values = [](const Eigen::VectorXd& column) {
    return std::vector<double>(column.begin(), column.end());
  };
  table.columns.push_back({"frequency", "Hz", values(data.frequency_hz)});
  const std::string unit = text_of(data.motion).per_force;
  for (size_t e = 0; e < data.excitations.size(); ++e)
    for (size_t r = 0; r < data.responses.size(); ++r) {
      const auto k = data.pair(r, e);
      if (std::isnan(data.h(0, k).real())) continue;
      const std::string name =
          fmt::format("{}/{}", name_of(data.responses[r]), name_of(data.excitations[e]));
      table.columns.push_back({name + " re", unit, values(data.h.col(k).real())});
      table.columns.push_back({name + " im", unit, values(data.h.col(k).imag())});
      if (data.coherence.size() > 0)
        table.columns.push_back({name + " coherence", "", values(data.coherence.col(k))});
    }
  return table;
}

}  // namespace

Result<FrequencyData> parse_frequency_csv(std::string_view text, const std::string& file) {
  return data_of(parse_csv(text, file), file);
}

std::string frequency_csv(const FrequencyData& data) { return csv_text(table_of(data)); }

Diagnostics write_frequency_data(const FrequencyData& data, const std::string& path,
                                 const PositionOfFrame& positions) {
  if (path.ends_with(".csv")) return write_text_atomically(path, frequency_csv(data));
  if (path.ends_with(".h5") || path.ends_with(".hdf5"))
    return write_atomically(
        path, [&](const std::string& name) { return hdf5::write(table_of(data), name); });
  const Result<uff::File> file = uff_of(data, positions);
  if (!file) return file.diagnostics();
  return uff::write(*file, path, uff::Format::kLittleEndian);
}

Result<FrequencyData> read_frequency_data(const std::string& path, const FrameOfNode& frames,
                                          PositionOfFrame* positions) {
  Result<std::string> bytes = read_bytes(path);
  if (!bytes) return bytes.diagnostics();
  if (hdf5::has_signature(*bytes)) return data_of(hdf5::read_table(*bytes, path), path);
  if (path.ends_with(".csv")) return parse_frequency_csv(*bytes, path);
  const Result<uff::File> file = uff::parse(*bytes, path);
  if (!file) return file.diagnostics();
  Result<FrequencyData> data = frequency_data(*file, frames);
  Diagnostics notes = file.diagnostics();
  notes.append(data.diagnostics());
  if (!data) return notes;
  if (positions != nullptr) *positions = positions_of(*file, frames);
  return {std::move(*data), notes};
}

}  // namespace panto
