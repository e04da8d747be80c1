#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "panto/io/hdf5.hpp"
#include "panto/io/hdf5_handle.hpp"

namespace panto::hdf5 {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";

std::uint64_t little_endian(std::string_view bytes, size_t at) {
  std::uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// The end of the file according to its superblock; nullopt when that itself is unusable.
std::optional<std::uint64_t> stored_end(std::string_view bytes) {
  if (bytes.size() < 56) return std::nullopt;
  const int version = static_cast<unsigned char>(bytes[8]);
  const size_t size_of_offsets = static_cast<unsigned char>(bytes[version < 2 ? 13 : 9]);
  if (version > 3 || size_of_offsets != 8) return std::nullopt;
  return little_endian(bytes, version < 2 ? (version == 0 ? 40 : 44) : 28);
}

struct Series {
  std::string name, unit;
  std::vector<double> values;
};

class Reader {
 public:
  explicit Reader(std::string& bytes) : present_(bytes.size()) {
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_core(access.get(), size_t{1} << 20, 0);
    const auto end = stored_end(bytes);
    truncated_ = !end || *end > present_;
    // Missing bytes read as zeros; every series is checked against what is really there.
    constexpr std::uint64_t kMost = std::uint64_t{8} << 30;
    if (end && truncated_ && *end < std::min<std::uint64_t>(kMost, 1024 + 64 * present_))
      bytes.resize(*end, '\0');
    H5Pset_file_image(access.get(), bytes.data(), bytes.size());
    // The library wants a name under which no file exists.
    file_ = Handle(H5Fopen("/dev/null/run", H5F_ACC_RDONLY, access.get()), H5Fclose);
  }

  [[nodiscard]] bool ok() const { return file_.ok(); }
  [[nodiscard]] bool truncated() const { return truncated_; }
  [[nodiscard]] hid_t root() const { return file_.get(); }
  [[nodiscard]] const std::vector<std::string>& lost() const { return lost_; }

  static std::optional<std::string> text_attribute(hid_t at, const char* name) {
    if (H5Aexists(at, name) <= 0) return std::nullopt;
    const Handle a(H5Aopen(at, name, H5P_DEFAULT), H5Aclose);
    const Handle type(a.ok() ? H5Aget_type(a.get()) : -1, H5Tclose);
    const Handle space(a.ok() ? H5Aget_space(a.get()) : -1, H5Sclose);
    if (!fixed_text(type) || H5Sget_simple_extent_npoints(space.get()) != 1) return std::nullopt;
    std::string text(H5Tget_size(type.get()), '\0');
    if (H5Aread(a.get(), type.get(), text.data()) < 0) return std::nullopt;
    return without_padding(std::move(text));
  }

  template <class T>
  static void number_attribute(hid_t at, const char* name, T& value) {
    if (H5Aexists(at, name) <= 0) return;
    const Handle a(H5Aopen(at, name, H5P_DEFAULT), H5Aclose);
    const Handle space(a.ok() ? H5Aget_space(a.get()) : -1, H5Sclose);
    if (!space.ok() || H5Sget_simple_extent_npoints(space.get()) != 1) return;
    double number = 0;
    if (H5Aread(a.get(), H5T_NATIVE_DOUBLE, &number) >= 0 && std::isfinite(number))
      value = static_cast<T>(number);
  }

  static Handle group(hid_t at, const char* name) {
    if (H5Lexists(at, name, H5P_DEFAULT) <= 0) return {};
    return {H5Gopen2(at, name, H5P_DEFAULT), H5Gclose};
  }

  std::optional<std::string> text(hid_t at, const char* name) {
    if (H5Lexists(at, name, H5P_DEFAULT) <= 0) return std::nullopt;
    const Handle set(H5Dopen2(at, name, H5P_DEFAULT), H5Dclose);
    const Handle type(set.ok() ? H5Dget_type(set.get()) : -1, H5Tclose);
    const Handle space(set.ok() ? H5Dget_space(set.get()) : -1, H5Sclose);
    if (!fixed_text(type) || H5Sget_simple_extent_npoints(space.get()) != 1) return std::nullopt;
    const size_t size = H5Tget_size(type.get());
    if (!is_present(set, size)) return lose(name), std::nullopt;
    std::string out(size, '\0');
    if (H5Dread(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0)
      return lose(name), std::nullopt;
    return without_padding(std::move(out));
  }

  std::optional<Series> series(hid_t at, const char* link) {
    const Handle set(H5Dopen2(at, link, H5P_DEFAULT), H5Dclose);
    const Handle space(set.ok() ? H5Dget_space(set.get()) : -1, H5Sclose);
    const Handle type(set.ok() ? H5Dget_type(set.get()) : -1, H5Tclose);
    if (!space.ok() || !type.ok()) return lose(link), std::nullopt;
    const hssize_t n = H5Sget_simple_extent_npoints(space.get());
    const size_t width = H5Tget_size(type.get());
    if (n < 0 || H5Sget_simple_extent_ndims(space.get()) != 1 ||
        H5Tget_class(type.get()) != H5T_FLOAT || width == 0)
      return lose(link), std::nullopt;
    if (static_cast<std::uint64_t>(n) > present_ / width ||
        !is_present(set, static_cast<size_t>(n) * width))
      return lose(link), std::nullopt;
    Series out;
    out.values.resize(static_cast<size_t>(n));
    if (n > 0 &&
        H5Dread(set.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.values.data()) < 0)
      return lose(link), std::nullopt;
    out.name = text_attribute(set.get(), "name").value_or(link);
    out.unit = text_attribute(set.get(), "unit").value_or("");
    return out;
  }

  // Names of a group's members in the order of creation.
  static std::vector<std::string> members(hid_t at) {
    std::vector<std::string> names;
    H5G_info_t info{};
    if (H5Gget_info(at, &info) < 0) return names;
    for (hsize_t i = 0; i < info.nlinks; ++i) {
      const auto name_at = [&](H5_index_t index, char* buffer, size_t size) {
        return H5Lget_name_by_idx(at, ".", index, H5_ITER_INC, i, buffer, size, H5P_DEFAULT);
      };
      H5_index_t index = H5_INDEX_CRT_ORDER;
      ssize_t size = name_at(index, nullptr, 0);
      if (size < 0) size = name_at(index = H5_INDEX_NAME, nullptr, 0);
      if (size < 0) continue;
      std::string name(static_cast<size_t>(size) + 1, '\0');
      name_at(index, name.data(), name.size());
      name.pop_back();
      names.push_back(std::move(name));
    }
    return names;
  }

  // Series of a group that have the length of the time grid.
  void all_series(hid_t at, size_t length, std::vector<std::string>& names,
                  std::vector<std::string>* units, std::vector<std::vector<double>>& values) {
    for (const std::string& link : members(at)) {
      std::optional<Series> s = series(at, link.c_str());
      if (!s) continue;
      if (s->values.size() != length) {
        lose(link.c_str());
        continue;
      }
      names.push_back(std::move(s->name));
      if (units != nullptr) units->push_back(std::move(s->unit));
      values.push_back(std::move(s->values));
    }
  }

  void lose(const char* name) { lost_.emplace_back(name); }

 private:
  static std::string without_padding(std::string text) {
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
  }
  static bool fixed_text(const Handle& type) {
    return type.ok() && H5Tget_class(type.get()) == H5T_STRING &&
           H5Tis_variable_str(type.get()) == 0;
  }
  // Ours are contiguous: the bytes lie in one piece of the file.
  [[nodiscard]] bool is_present(const Handle& set, size_t size) const {
    if (size == 0 || !truncated_) return true;
    const haddr_t offset = H5Dget_offset(set.get());
    return offset != HADDR_UNDEF && offset <= present_ && size <= present_ - offset;
  }

  std::uint64_t present_;
  bool truncated_ = false;
  std::vector<std::string> lost_;
  Handle file_;
};

void read_states(Reader& file, Run& run) {
  const Handle states = Reader::group(file.root(), "states");
  if (!states.ok()) return;
  const size_t n = run.t.size();
  std::vector<std::string> names_again;
  if (const Handle g = Reader::group(states.get(), "q"); g.ok())
    file.all_series(g.get(), n, run.coordinate_names, &run.coordinate_units, run.q);
  if (const Handle g = Reader::group(states.get(), "v"); g.ok())
    file.all_series(g.get(), n, run.speed_names, &run.speed_units, run.v);
  if (const Handle g = Reader::group(states.get(), "a"); g.ok())
    file.all_series(g.get(), n, names_again, nullptr, run.a);
  if (const Handle g = Reader::group(states.get(), "lambda"); g.ok())
    file.all_series(g.get(), n, run.multiplier_names, &run.multiplier_units, run.lambda);
}

void read_energy(Reader& file, Run& run) {
  const Handle energy = Reader::group(file.root(), "energy");
  if (!energy.ok()) return;
  const auto one = [&](const char* name, std::vector<double>& values) {
    if (H5Lexists(energy.get(), name, H5P_DEFAULT) <= 0) return;
    if (auto s = file.series(energy.get(), name)) values = std::move(s->values);
  };
  one("kinetic", run.kinetic);
  one("potential", run.potential);
  one("entered", run.entered);
  one("taken", run.taken);
}

void read_measurements(Reader& file, Run& run) {
  const Handle all = Reader::group(file.root(), "measurements");
  if (!all.ok()) return;
  for (const std::string& link : Reader::members(all.get())) {
    const Handle one = Reader::group(all.get(), link.c_str());
    if (!one.ok()) {
      file.lose(link.c_str());
      continue;
    }
    auto t = file.series(one.get(), "t");
    auto values = file.series(one.get(), "values");
    if (!t || !values || t->values.size() != values->values.size()) continue;
    run.measured.push_back({Reader::text_attribute(one.get(), "name").value_or(link), values->unit,
                            std::move(t->values), std::move(values->values)});
  }
}

void read_attributes(hid_t root, Run& run) {
  run.model = Reader::text_attribute(root, "model").value_or("");
  run.integrator = Reader::text_attribute(root, "integrator").value_or("");
  run.stopped_by = Reader::text_attribute(root, "stopped_by").value_or("");
  long complete = 1;
  Reader::number_attribute(root, "complete", complete);
  run.complete = complete != 0;
  Reader::number_attribute(root, "energy_initial", run.energy_initial);
  Reader::number_attribute(root, "energy_final", run.energy_final);
  Reader::number_attribute(root, "energy_max_drift", run.energy_max_drift);
  Reader::number_attribute(root, "max_position_violation", run.max_position_violation);
  Reader::number_attribute(root, "max_velocity_violation", run.max_velocity_violation);
  Reader::number_attribute(root, "steps", run.stats.steps);
  Reader::number_attribute(root, "evaluations", run.stats.evaluations);
  Reader::number_attribute(root, "jacobians", run.stats.jacobians);
  Reader::number_attribute(root, "repartitions", run.stats.repartitions);
  Reader::number_attribute(root, "rejected", run.stats.rejected);
  Reader::number_attribute(root, "references", run.stats.references);
  Reader::number_attribute(root, "reference_jump", run.stats.reference_jump);
}

void read_model(Reader& file, Run& run) {
  const Handle model = Reader::group(file.root(), "model");
  if (!model.ok()) return;
  run.model_text = file.text(model.get(), "text").value_or("");
  std::string settings = file.text(model.get(), "settings").value_or("");
  size_t start = 0;
  for (size_t end; (end = settings.find('\n', start)) != std::string::npos; start = end + 1)
    run.settings.push_back(settings.substr(start, end - start));
}

}  // namespace

bool has_signature(std::string_view bytes) { return bytes.substr(0, 8) == kSignature; }

Result<Run> read(std::string& bytes, const std::string& path) {
  const Silence silence;
  Diagnostics notes;
  const Loc loc{path, 0, 0};
  Reader file(bytes);
  if (!file.ok()) {
    notes.error(627, loc,
                file.truncated() ? "is truncated: nothing of it can be read"
                                 : "is a damaged HDF5 file: nothing of it can be read");
    return notes;
  }
  if (Reader::text_attribute(file.root(), "format") != kFormat) {
    notes.error(626, loc, "is an HDF5 file, but not a run written by Pantograph");
    return notes;
  }
  long version = 0;
  Reader::number_attribute(file.root(), "format_version", version);
  if (version > kFormatVersion)
    notes.warning(
        628, loc,
        fmt::format("was written in run format {} by Pantograph {}; this program knows "
                    "formats up to {} and reads what it understands",
                    version,
                    Reader::text_attribute(file.root(), "pantograph_version").value_or("?"),
                    kFormatVersion));
  Run run;
  read_attributes(file.root(), run);
  std::optional<Series> t;
  if (H5Lexists(file.root(), "t", H5P_DEFAULT) > 0) t = file.series(file.root(), "t");
  if (!t) {
    notes.error(627, loc,
                file.truncated() ? "is truncated: its time series is missing"
                                 : "is damaged: its time series is missing");
    return notes;
  }
  run.t = std::move(t->values);
  if (const Handle outputs = Reader::group(file.root(), "outputs"); outputs.ok())
    file.all_series(outputs.get(), run.t.size(), run.output_names, &run.output_units, run.outputs);
  read_energy(file, run);
  read_measurements(file, run);
  read_model(file, run);
  read_states(file, run);
  if (file.truncated() || !file.lost().empty()) {
    std::string lost;
    for (const std::string& name : file.lost()) lost += (lost.empty() ? "" : ", ") + name;
    notes.warning(
        627, loc,
        fmt::format("is {}: {} outputs read{}{}", file.truncated() ? "truncated" : "damaged",
                    run.outputs.size(), lost.empty() ? "" : "; lost: ", lost));
  }
  return {std::move(run), notes};
}

Result<SeriesTable> read_table(std::string& bytes, const std::string& path) {
  const Silence silence;
  Diagnostics notes;
  const Loc loc{path, 0, 0};
  Reader file(bytes);
  SeriesTable table;
  if (file.ok()) {
    for (const std::string& link : Reader::members(file.root())) {
      std::optional<Series> s = file.series(file.root(), link.c_str());
      if (!s) continue;
      if (!table.columns.empty() && s->values.size() != table.rows()) {
        file.lose(link.c_str());
        continue;
      }
      table.columns.push_back({std::move(s->name), std::move(s->unit), std::move(s->values)});
    }
    const std::string comments = Reader::text_attribute(file.root(), "comments").value_or("");
    size_t start = 0;
    for (size_t end; (end = comments.find('\n', start)) != std::string::npos; start = end + 1)
      table.comments.push_back(comments.substr(start, end - start));
  }
  std::string lost;
  for (const std::string& name : file.lost()) lost += (lost.empty() ? "; lost: " : ", ") + name;
  if (!file.ok() || !lost.empty() || table.rows() == 0) {
    notes.error(627, loc,
                fmt::format("{}: expected series of one length{}",
                            file.truncated() ? "is truncated" : "holds no table", lost));
    return notes;
  }
  return table;
}

}  // namespace panto::hdf5
