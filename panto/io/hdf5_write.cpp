#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "panto/io/hdf5.hpp"
#include "panto/io/hdf5_handle.hpp"

namespace panto::hdf5 {
namespace {

// Thrown inside this file only; write() turns it into its answer.
struct Failure {
  std::string reason;
};

Handle check(hid_t id, Handle::Close close, const char* what) {
  if (id < 0) throw Failure{std::string("HDF5: ") + what};
  return {id, close};
}

Handle text_type(const std::string& text) {
  // Fixed length, padded with zeros: read by MATLAB, Octave and numpy alike.
  Handle type = check(H5Tcopy(H5T_C_S1), H5Tclose, "text type");
  H5Tset_size(type.get(), std::max<size_t>(1, text.size()));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

void attribute(hid_t at, const char* name, hid_t file_type, hid_t memory_type, const void* value) {
  const Handle space = check(H5Screate(H5S_SCALAR), H5Sclose, "space");
  const Handle a = check(H5Acreate2(at, name, file_type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose, "attribute");
  if (H5Awrite(a.get(), memory_type, value) < 0) throw Failure{"HDF5: attribute not written"};
}
void attribute(hid_t at, const char* name, const std::string& text) {
  const Handle type = text_type(text);
  attribute(at, name, type.get(), type.get(), text.c_str());
}
void attribute(hid_t at, const char* name, double value) {
  attribute(at, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}
void attribute(hid_t at, const char* name, long value) {
  attribute(at, name, H5T_STD_I64LE, H5T_NATIVE_LONG, &value);
}

class Writer {
 public:
  static constexpr unsigned kManyLinks = 1000;

  explicit Writer(const std::string& path) {
    link_ = check(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "properties");
    H5Pset_char_encoding(link_.get(), H5T_CSET_UTF8);
    group_ = check(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, "properties");
    H5Pset_obj_track_times(group_.get(), 0);
    H5Pset_link_creation_order(group_.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    // Members and attributes stay in the headers, which lie before the values.
    H5Pset_link_phase_change(group_.get(), kManyLinks, 0);
    set_ = check(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "properties");
    H5Pset_obj_track_times(set_.get(), 0);
    const Handle create = check(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "properties");
    H5Pset_obj_track_times(create.get(), 0);
    H5Pset_link_creation_order(create.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_link_phase_change(create.get(), kManyLinks, 0);
    H5Pset_attr_phase_change(create.get(), 100, 0);
    const Handle access = check(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "properties");
    H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
    // The format of HDF5 1.8: read everywhere, and its headers carry checksums, so that damage is noticed.
    H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18);
    file_ = check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, create.get(), access.get()), H5Fclose,
                  "the file cannot be created");
  }

  [[nodiscard]] hid_t root() const { return file_.get(); }

  Handle group(hid_t at, const std::string& name) {
    return check(H5Gcreate2(at, link_name(name).c_str(), link_.get(), group_.get(), H5P_DEFAULT),
                 H5Gclose, "group");
  }

  // `values` must live until finish().
  void series(hid_t at, const std::string& name, const std::string& unit,
              const std::vector<double>& values) {
    const std::array<hsize_t, 1> shape{values.size()};
    array(at, name, unit, shape, values);
  }

  // Rows by rows: the last index runs fastest. `values` must live until finish().
  void array(hid_t at, const std::string& name, const std::string& unit,
             std::span<const hsize_t> shape, const std::vector<double>& values) {
    const Handle space = check(
        H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose, "space");
    Handle set = check(H5Dcreate2(at, link_name(name).c_str(), H5T_IEEE_F64LE, space.get(),
                                  link_.get(), set_.get(), H5P_DEFAULT),
                       H5Dclose, "series");
    attribute(set.get(), "name", name);
    attribute(set.get(), "unit", unit);
    if (!values.empty()) pending_.push_back({std::move(set), &values});
  }

  void text(hid_t at, const char* name, const std::string& value) {
    const Handle type = text_type(value);
    const Handle space = check(H5Screate(H5S_SCALAR), H5Sclose, "space");
    const Handle set =
        check(H5Dcreate2(at, name, type.get(), space.get(), link_.get(), set_.get(), H5P_DEFAULT),
              H5Dclose, "text");
    const std::string padded = value.empty() ? std::string(1, '\0') : value;
    if (H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, padded.data()) < 0)
      throw Failure{"HDF5: text not written"};
  }

  // A text per row.
  void texts(hid_t at, const char* name, const std::vector<std::string>& values) {
    size_t longest = 1;
    for (const std::string& v : values) longest = std::max(longest, v.size());
    const Handle type = text_type(std::string(longest, ' '));
    const std::array<hsize_t, 1> shape{values.size()};
    const Handle space = check(H5Screate_simple(1, shape.data(), nullptr), H5Sclose, "space");
    const Handle set =
        check(H5Dcreate2(at, name, type.get(), space.get(), link_.get(), set_.get(), H5P_DEFAULT),
              H5Dclose, "texts");
    std::string padded;
    for (const std::string& v : values) padded += v + std::string(longest - v.size(), '\0');
    if (!values.empty() &&
        H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, padded.data()) < 0)
      throw Failure{"HDF5: texts not written"};
  }

  // Values last: a truncated file then still has all its headers and the series before the cut.
  void finish() {
    for (Pending& p : pending_) {
      if (H5Dwrite(p.set.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                   p.values->data()) < 0)
        throw Failure{"HDF5: series not written (is the disk full?)"};
      p.set.reset();
    }
    if (!file_.reset()) throw Failure{"HDF5: the file could not be completed"};
  }

 private:
  // '/' separates groups and "." is the group itself; the attribute `name` keeps the true name.
  static std::string link_name(std::string name) {
    std::replace(name.begin(), name.end(), '/', '|');
    if (name.empty() || name == "." || name == "..") name += "_";
    return name;
  }

  struct Pending {
    Handle set;
    const std::vector<double>* values;
  };
  Handle link_, group_, set_, file_;
  std::vector<Pending> pending_;
};

const std::string& at_or_empty(const std::vector<std::string>& list, size_t i) {
  static const std::string empty;
  return i < list.size() ? list[i] : empty;
}

void series_group(Writer& file, hid_t at, const char* name, const std::vector<std::string>& names,
                  const std::vector<std::string>& units,
                  const std::vector<std::vector<double>>& values) {
  if (values.empty()) return;
  const Handle group = file.group(at, name);
  for (size_t k = 0; k < values.size(); ++k)
    file.series(group.get(), names[k], at_or_empty(units, k), values[k]);
}

std::vector<std::string> per_second(std::vector<std::string> units) {
  for (std::string& u : units) {
    if (u.ends_with("/s")) u += "^2";
  }
  return units;
}

void write_all(const Run& run, Writer& file) {
  const hid_t root = file.root();
  attribute(root, "format", std::string(kFormat));
  attribute(root, "format_version", long{kFormatVersion});
  attribute(root, "pantograph_version", std::string(PANTO_VERSION));
  attribute(root, "model", run.model);
  attribute(root, "integrator", run.integrator);
  attribute(root, "complete", long{run.complete ? 1 : 0});
  attribute(root, "stopped_by", run.stopped_by);
  attribute(root, "energy_initial", run.energy_initial);
  attribute(root, "energy_final", run.energy_final);
  attribute(root, "energy_max_drift", run.energy_max_drift);
  attribute(root, "max_position_violation", run.max_position_violation);
  attribute(root, "max_velocity_violation", run.max_velocity_violation);
  attribute(root, "steps", run.stats.steps);
  attribute(root, "evaluations", run.stats.evaluations);
  attribute(root, "jacobians", run.stats.jacobians);
  attribute(root, "repartitions", run.stats.repartitions);
  attribute(root, "rejected", run.stats.rejected);
  attribute(root, "references", run.stats.references);
  attribute(root, "reference_jump", run.stats.reference_jump);

  file.series(root, "t", "s", run.t);
  series_group(file, root, "outputs", run.output_names, run.output_units, run.outputs);
  if (!run.kinetic.empty()) {
    const Handle energy = file.group(root, "energy");
    file.series(energy.get(), "kinetic", "J", run.kinetic);
    file.series(energy.get(), "potential", "J", run.potential);
    file.series(energy.get(), "entered", "J", run.entered);
    file.series(energy.get(), "taken", "J", run.taken);
  }
  if (!run.measured.empty()) {
    const Handle all = file.group(root, "measurements");
    for (const MeasuredSeries& m : run.measured) {
      const Handle one = file.group(all.get(), m.name);
      attribute(one.get(), "name", m.name);
      attribute(one.get(), "unit", m.unit);
      file.series(one.get(), "t", "s", m.t);
      file.series(one.get(), "values", m.unit, m.values);
    }
  }
  if (!run.model_text.empty() || !run.settings.empty()) {
    const Handle model = file.group(root, "model");
    file.text(model.get(), "text", run.model_text);
    std::string settings;
    for (const std::string& s : run.settings) settings += s + "\n";
    file.text(model.get(), "settings", settings);
  }
  if (!run.q.empty() || !run.lambda.empty()) {
    const Handle states = file.group(root, "states");
    series_group(file, states.get(), "q", run.coordinate_names, run.coordinate_units, run.q);
    series_group(file, states.get(), "v", run.speed_names, run.speed_units, run.v);
    series_group(file, states.get(), "a", run.speed_names, per_second(run.speed_units), run.a);
    series_group(file, states.get(), "lambda", run.multiplier_names, run.multiplier_units,
                 run.lambda);
  }
}

void write_all(const EstimateSeries& s, Writer& file) {
  const hid_t root = file.root();
  attribute(root, "format", std::string(kEstimateFormat));
  attribute(root, "format_version", long{kEstimateFormatVersion});
  attribute(root, "pantograph_version", std::string(PANTO_VERSION));
  attribute(root, "model", s.model);
  attribute(root, "filter", s.filter);
  file.series(root, "t", "s", s.t);
  file.series(root, "nis", "", s.nis);
  const auto group = [&](const char* name, const std::vector<EstimateColumn>& columns,
                         std::vector<double> EstimateColumn::*values) {
    const Handle at = file.group(root, name);
    for (const EstimateColumn& c : columns) file.series(at.get(), c.name, c.unit, c.*values);
  };
  group("estimates", s.estimates, &EstimateColumn::value);
  group("sigma", s.estimates, &EstimateColumn::sigma);
  group("innovations", s.innovations, &EstimateColumn::value);
  group("innovation_sigma", s.innovations, &EstimateColumn::sigma);
  if (s.zone.empty()) return;
  file.series(root, "zone", "", s.zone);
  const Handle at = file.group(root, "readings");
  for (const WordColumn& c : s.readings) file.texts(at.get(), c.name.c_str(), c.words);
}

// Rows as columns; the courses of runs, where they were kept, in /series/<row>.
void write_all(const TwinResult& r, Writer& file, std::deque<std::vector<double>>& storage) {
  const hid_t root = file.root();
  attribute(root, "format", std::string(kTwinFormat));
  attribute(root, "format_version", long{kTwinFormatVersion});
  attribute(root, "pantograph_version", std::string(PANTO_VERSION));
  attribute(root, "model", r.model);
  attribute(root, "complete", long{r.complete ? 1 : 0});
  std::vector<const TwinRow*> done;
  for (const TwinRow& row : r.rows)
    if (!row.rmse.empty()) done.push_back(&row);
  const Handle rows = file.group(root, "rows");
  const auto texts = [&](const char* name, const auto& of) {
    std::vector<std::string> values;
    values.reserve(done.size());
    for (const TwinRow* row : done) values.emplace_back(of(*row));
    file.texts(rows.get(), name, values);
  };
  const auto numbers = [&](hid_t at, const std::string& name, const std::string& unit,
                           const auto& of) {
    std::vector<double>& values = storage.emplace_back();
    values.reserve(done.size());
    for (const TwinRow* row : done) values.push_back(static_cast<double>(of(*row)));
    file.series(at, name, unit, values);
  };
  texts("filter", [](const TwinRow& e) { return e.filter; });
  texts("sensors", [](const TwinRow& e) { return e.sensors; });
  texts("error_level", [](const TwinRow& e) { return e.error_level; });
  texts("status", [](const TwinRow& e) { return to_string(e.status); });
  const auto column = [&](const char* name, const char* unit, auto TwinRow::*member) {
    numbers(rows.get(), name, unit, [member](const TwinRow& e) { return e.*member; });
  };
  column("rate_hz", "Hz", &TwinRow::rate_hz);
  column("seed", "", &TwinRow::seed);
  column("coverage95", "", &TwinRow::coverage95);
  column("nees", "", &TwinRow::nees);
  column("nis_mean", "", &TwinRow::nis_mean);
  column("whiteness", "", &TwinRow::whiteness);
  column("rejected", "", &TwinRow::rejected);
  column("diverged", "", &TwinRow::diverged);
  column("lost", "", &TwinRow::lost);
  column("lost_at", "s", &TwinRow::lost_at);
  column("restarts", "", &TwinRow::restarts);
  column("us_per_step", "us", &TwinRow::us_per_step);
  const Handle rmse = file.group(rows.get(), "rmse");
  for (size_t i = 0; i < r.channels.size(); ++i)
    numbers(rmse.get(), r.channels[i], r.units[i], [i](const TwinRow& e) { return e.rmse[i]; });
  if (r.series.empty()) return;
  const Handle all = file.group(root, "series");
  for (const TwinSeries& s : r.series) {
    if (s.t.empty()) continue;
    const TwinRow& row = r.rows[s.row];
    const Handle one = file.group(all.get(), std::to_string(s.row));
    attribute(one.get(), "filter", row.filter);
    attribute(one.get(), "sensors", row.sensors);
    attribute(one.get(), "error_level", row.error_level);
    attribute(one.get(), "rate_hz", row.rate_hz);
    attribute(one.get(), "seed", static_cast<long>(row.seed));
    file.series(one.get(), "t", "s", s.t);
    series_group(file, one.get(), "truth", r.channels, r.units, s.truth);
    series_group(file, one.get(), "estimate", r.channels, r.units, s.estimate);
    series_group(file, one.get(), "sigma", r.channels, r.units, s.sigma);
    series_group(file, one.get(), "innovation_t", s.sensors, {}, s.innovation_t);
    series_group(file, one.get(), "innovation", s.sensors, {}, s.innovation);
    series_group(file, one.get(), "innovation_sigma", s.sensors, {}, s.innovation_sigma);
  }
}

std::string lines(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

struct MatrixSeries {
  const char* name;
  Eigen::MatrixXd LinearModel::*matrix;
};
constexpr MatrixSeries kMatrices[] = {
    {"A", &LinearModel::A},     {"B", &LinearModel::B_x},   {"B_rate", &LinearModel::B_rate},
    {"C", &LinearModel::C_x},   {"D", &LinearModel::D_x},   {"D_rate", &LinearModel::D_rate},
    {"R", &LinearModel::R},     {"M_z", &LinearModel::M_z}, {"D_z", &LinearModel::D_z},
    {"K_z", &LinearModel::K_z}, {"B_z", &LinearModel::B_z},
};

// One matrix per time, or one vector per time.
void write_all(const LinearTrajectory& along, const std::string& model, Writer& file,
               std::deque<std::vector<double>>& storage) {
  const hid_t root = file.root();
  attribute(root, "format", std::string(kLinearFormat));
  attribute(root, "format_version", long{kLinearFormatVersion});
  attribute(root, "pantograph_version", std::string(PANTO_VERSION));
  attribute(root, "model", model);
  file.series(root, "time", "s", along.time);
  const hsize_t times = along.models.size();
  if (times == 0) return;
  const LinearModel& first = along.models.front();
  for (const MatrixSeries& m : kMatrices) {
    std::vector<double>& values = storage.emplace_back();
    for (const LinearModel& model_at : along.models) {
      const Eigen::MatrixXd& a = model_at.*m.matrix;
      for (Eigen::Index i = 0; i < a.rows(); ++i)
        for (Eigen::Index j = 0; j < a.cols(); ++j) values.push_back(a(i, j));
    }
    const std::array<hsize_t, 3> shape{times, static_cast<hsize_t>((first.*m.matrix).rows()),
                                       static_cast<hsize_t>((first.*m.matrix).cols())};
    file.array(root, m.name, "SI", shape, values);
  }
  const auto vectors = [&](const char* name, Eigen::VectorXd OperatingPoint::*vector) {
    std::vector<double>& values = storage.emplace_back();
    for (const OperatingPoint& p : along.points)
      values.insert(values.end(), (p.*vector).begin(), (p.*vector).end());
    const std::array<hsize_t, 2> shape{times,
                                       static_cast<hsize_t>((along.points.front().*vector).size())};
    file.array(root, name, "SI", shape, values);
  };
  vectors("q", &OperatingPoint::q);
  vectors("v", &OperatingPoint::v);
  vectors("u", &OperatingPoint::u);
  file.text(root, "states", lines(first.states));
  file.text(root, "inputs", lines(first.inputs));
  file.text(root, "outputs", lines(first.outputs));
  file.text(root, "output_units", lines(first.output_units));
}

void write_all(const LinearSystem& system, const RankedReduction& r, Writer& file,
               std::deque<std::vector<double>>& storage) {
  const hid_t root = file.root();
  attribute(root, "format", std::string(kReductionFormat));
  attribute(root, "format_version", long{kReductionFormatVersion});
  attribute(root, "pantograph_version", std::string(PANTO_VERSION));
  attribute(root, "model", system.name);
  const auto matrix = [&](const char* name, const Eigen::MatrixXd& a) {
    std::vector<double>& values = storage.emplace_back();
    for (Eigen::Index i = 0; i < a.rows(); ++i)
      for (Eigen::Index j = 0; j < a.cols(); ++j) values.push_back(a(i, j));
    const std::array<hsize_t, 2> shape{static_cast<hsize_t>(a.rows()),
                                       static_cast<hsize_t>(a.cols())};
    file.array(root, name, "SI", shape, values);
  };
  matrix("M", r.system.M);
  matrix("K", r.system.K);
  if (r.system.C.rows() > 0) matrix("C", r.system.C);
  matrix("basis", r.system.basis);
  file.texts(root, "names", r.system.names);
  file.texts(root, "dofs", system.dofs);
  const auto numbers = [&](hid_t at, const char* name, const char* unit, const auto& range,
                           const auto& of) {
    std::vector<double>& values = storage.emplace_back();
    for (const auto& e : range) values.push_back(static_cast<double>(of(e)));
    file.series(at, name, unit, values);
  };
  const auto counted = [](int i) { return i + 1; };  // from 1, as in the names
  numbers(root, "masters", "", r.system.masters, counted);
  numbers(root, "selected", "", r.system.selected, counted);
  numbers(root, "interior_hz", "Hz", r.cb.omega2,
          [](double w2) { return std::sqrt(w2) / (2 * std::numbers::pi); });
  const Handle rankings = file.group(root, "rankings");
  for (const RankingCurve& c : r.rankings) {
    const Handle at = file.group(rankings.get(), to_string(c.method));
    attribute(at.get(), "needed", long{c.needed});
    numbers(at.get(), "order", "", c.ranking.order, counted);
    numbers(at.get(), "coefficient", "", c.ranking.coefficient, [](double e) { return e; });
    const auto column = [&](const char* name, auto SizePoint::*member) {
      numbers(at.get(), name, "", c.points, [member](const SizePoint& p) { return p.*member; });
    };
    column("size", &SizePoint::size);
    column("epsilon", &SizePoint::epsilon);
    column("frequency_error", &SizePoint::frequency);
    column("nco", &SizePoint::nco);
    column("mac", &SizePoint::mac);
    column("gain_error", &SizePoint::gain);
  }
}

// An empty answer, or the reason of failure.
template <class Fill>
std::string written(const std::string& path, const Fill& fill) {
  const Silence silence;
  try {
    Writer file(path);
    fill(file);
    file.finish();
  } catch (const Failure& failure) {
    return failure.reason;
  }
  return {};
}

}  // namespace

std::string write(const Run& run, const std::string& path) {
  return written(path, [&](Writer& file) { write_all(run, file); });
}

std::string write(const EstimateSeries& series, const std::string& path) {
  return written(path, [&](Writer& file) { write_all(series, file); });
}

std::string write(const TwinResult& result, const std::string& path) {
  std::deque<std::vector<double>> storage;  // what the file refers to until it is finished
  return written(path, [&](Writer& file) { write_all(result, file, storage); });
}

std::string write(const LinearTrajectory& along, const std::string& model,
                  const std::string& path) {
  std::deque<std::vector<double>> storage;  // what the file refers to until it is finished
  return written(path, [&](Writer& file) { write_all(along, model, file, storage); });
}

std::string write(const SeriesTable& table, const std::string& path) {
  return written(path, [&](Writer& file) {
    attribute(file.root(), "format", kTableFormat);
    std::string comments;
    for (const std::string& comment : table.comments) comments += comment + "\n";
    attribute(file.root(), "comments", comments);
    for (const SeriesColumn& c : table.columns) file.series(file.root(), c.name, c.unit, c.values);
  });
}

std::string write(const LinearSystem& system, const RankedReduction& reduction,
                  const std::string& path) {
  std::deque<std::vector<double>> storage;  // what the file refers to until it is finished
  return written(path, [&](Writer& file) { write_all(system, reduction, file, storage); });
}

}  // namespace panto::hdf5
