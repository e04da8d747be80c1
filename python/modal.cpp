// Modal tests: frequency responses of files and of the virtual rig, and the modes they hold.
#include "panto/io/frequency_data.hpp"
#include "panto/io/modal_test.hpp"
#include "panto/scene/ema_report.hpp"
#include "panto/updating/ema.hpp"
#include "panto/updating/impact.hpp"
#include "python/long_call.hpp"
#include "python/page.hpp"

namespace panto::python {
namespace {

std::vector<std::string> names_of(const std::vector<MeasuredPoint>& points) {
  std::vector<std::string> out;
  out.reserve(points.size());
  for (const MeasuredPoint& p : points) out.push_back(name_of(p));
  return out;
}

std::vector<MeasuredPoint> points_of(const std::vector<std::string>& names) {
  std::vector<MeasuredPoint> out(names.size());
  for (size_t i = 0; i < names.size(); ++i)
    if (!parse_point(names[i], out[i]))
      throw py::value_error("points: expected a frame and a direction such as \"tip:y\", got \"" +
                            names[i] + "\"");
  return out;
}

constexpr const char* kMotionNames[] = {"displacement", "velocity", "acceleration"};

py::dict to_dict(const FrequencyData& data) {
  py::dict d;
  d["responses"] = names_of(data.responses);
  d["excitations"] = names_of(data.excitations);
  d["frequency_hz"] = data.frequency_hz;
  d["h"] = data.h;
  d["coherence"] = data.coherence.size() > 0 ? py::cast(data.coherence) : py::object(py::none());
  d["motion"] = kMotionNames[static_cast<size_t>(data.motion)];
  d["window_decay"] = data.window_decay;
  return d;
}

FrequencyData data_of(const std::vector<std::string>& responses,
                      const std::vector<std::string>& excitations,
                      const Eigen::VectorXd& frequency_hz, const Eigen::MatrixXcd& h,
                      const std::optional<Eigen::MatrixXd>& coherence, const std::string& motion,
                      double window_decay) {
  FrequencyData data;
  data.responses = points_of(responses);
  data.excitations = points_of(excitations);
  data.frequency_hz = frequency_hz;
  data.h = h;
  if (coherence) data.coherence = *coherence;
  data.window_decay = window_decay;
  if (h.rows() != frequency_hz.size() || h.cols() != data.pairs() ||
      (coherence && (coherence->rows() != h.rows() || coherence->cols() != h.cols())))
    throw py::value_error("h: expected lines x responses x excitations");
  for (size_t i = 0; i < 3; ++i)
    if (motion == kMotionNames[i]) {
      data.motion = static_cast<Motion>(i);
      return data;
    }
  throw py::value_error("motion: expected displacement, velocity or acceleration, got \"" + motion +
                        "\"");
}

py::tuple read_responses(const std::string& path, const std::map<int, std::string>& frames) {
  PositionOfFrame positions;
  Result<FrequencyData> read = read_frequency_data(path, frames, &positions);
  const py::list notes = to_python(read.diagnostics());
  return py::make_tuple(to_dict(value_of(std::move(read))), positions, notes);
}

py::list to_list(const ModalTest& test) {
  py::list modes;
  for (const MeasuredMode& m : test.modes)
    modes.append(py::make_tuple(m.frequency_hz, m.damping, m.shape));
  return modes;
}

py::tuple run_ema(const FrequencyData& data, const std::optional<std::pair<double, double>>& band,
                  int order, int references, const std::vector<double>& select, int refine,
                  py::object progress) {
  EmaOptions o;
  if (band) {
    o.from_hz = band->first;
    o.to_hz = band->second;
    if (!(o.from_hz >= 0 && o.to_hz > o.from_hz))
      throw py::value_error("band: expected two frequencies, the lower one first");
  }
  if (order < 2) throw py::value_error("order: at least 2");
  o.max_order = order;
  o.references = references;
  o.select_hz = select;
  o.refine = refine;
  auto result = found_by(
      [&](const std::function<bool(double)>& watch) {
        o.progress = watch;
        return ema(data, o);
      },
      std::move(progress));
  const auto kept = std::make_shared<const Ema>(std::move(result.first));
  const Ema& found = *kept;
  const py::list notes = result.second;
  py::list modes, diagram;
  for (const EmaMode& m : found.modes)
    modes.append(py::make_tuple(m.frequency_hz, m.damping, m.frequency_sigma, m.damping_sigma,
                                m.shape, m.shape_sigma, m.participation, m.mpc, m.mpd, m.orders,
                                m.significance, m.share, m.assurance));
  for (const DiagramPole& p : found.diagram)
    diagram.append(
        py::make_tuple(p.order, p.frequency_hz, p.damping, static_cast<int>(p.stability)));
  py::dict d;
  d["modes"] = std::move(modes);
  d["diagram"] = std::move(diagram);
  d["responses"] = names_of(found.responses);
  d["excitations"] = names_of(found.excitations);
  d["frequency_hz"] = found.frequency_hz;
  d["measured"] = found.measured;
  d["synthesised"] = found.synthesised;
  d["correlation"] = found.correlation;
  d["references"] = found.references;
  d["_page"] = Page{[kept] { return scene::report_of_ema(*kept, "Experimental modal analysis"); }};
  return py::make_tuple(d, notes, modal_test(found));
}

py::tuple run_impact(const CompiledModel& m, const std::vector<std::pair<std::string, double>>& at,
                     const std::string& where, const ImpactOptions& given, py::object progress) {
  if (where != "equilibrium" && where != "here")
    throw py::value_error("where: expected \"equilibrium\" or \"here\", got \"" + where + "\"");
  ImpactOptions o = given;
  const auto [test, notes] = found_by(
      [&](const std::function<bool(double)>& watch) {
        o.progress = watch;
        std::vector<PoseValue> pose;
        pose.reserve(at.size());
        for (const auto& [name, value] : at) pose.push_back({name, value});
        const Operation operation = where == "here" ? Operation::kHere : Operation::kEquilibrium;
        return pose.empty()
                   ? impact_test(*m.model, m.params, operation, o)
                   : impact_test(value_of(with_pose(*m.model, pose)), m.params, operation, o);
      },
      std::move(progress));
  py::dict d;
  d["exact"] = test.exact;
  d["modes"] = to_list(test.modes);
  d["time"] = test.time;
  d["force"] = test.force;
  d["response"] = test.response;
  d["error"] = test.error;
  d["complete"] = test.complete;
  return py::make_tuple(d, to_dict(test.data), test.positions, notes);
}

}  // namespace

void bind_modal(py::module_& module) {
  using py::arg;
  // Opaque: what the two functions hand on to files.
  py::class_<FrequencyData>(module, "FrequencyData")
      .def(py::init(&data_of), arg("responses"), arg("excitations"), arg("frequency_hz"), arg("h"),
           arg("coherence"), arg("motion"), arg("window_decay"))
      .def(
          "write",
          [](const FrequencyData& data, const std::string& path, const PositionOfFrame& positions) {
            const Diagnostics d = write_frequency_data(data, path, positions);
            if (!d.ok()) throw Rejected(d);
          },
          arg("path"), arg("positions"));
  py::class_<ModalTest>(module, "ModalTest")
      .def(
          "write",
          [](const ModalTest& test, const std::string& path) {
            const Diagnostics d = write_modal_test(test, path);
            if (!d.ok()) throw Rejected(d);
          },
          arg("path"));
  py::class_<ImpactOptions>(module, "ImpactOptions")
      .def(py::init([](const std::vector<std::string>& points,
                       const std::vector<std::string>& hammer, bool body_axes, double rate,
                       double record, int averages, double peak, double pulse, double trigger,
                       double pretrigger, double window, double force_window, double noise,
                       bool hold, const std::vector<double>& damping,
                       const std::optional<std::pair<double, double>>& band, std::uint64_t seed,
                       int threads) {
             ImpactOptions o;
             o.accelerometers = points_of(points);
             o.hammer = points_of(hammer);
             o.body_axes = body_axes;
             o.sample_rate_hz = rate;
             o.duration_s = record;
             o.averages = averages;
             o.peak_n = peak;
             o.pulse_s = pulse;
             o.trigger_n = trigger;
             o.pretrigger_s = pretrigger;
             o.window_end = window;
             o.force_window_s = force_window;
             o.noise = noise;
             o.hold = hold;
             o.damping = damping;
             if (band) {
               o.from_hz = band->first;
               o.to_hz = band->second;
             }
             o.seed = seed;
             o.threads = threads;
             return o;
           }),
           arg("points"), arg("hammer"), arg("body_axes"), arg("rate"), arg("record"),
           arg("averages"), arg("peak"), arg("pulse"), arg("trigger"), arg("pretrigger"),
           arg("window"), arg("force_window"), arg("noise"), arg("hold"), arg("damping"),
           arg("band"), arg("seed"), arg("threads"));
  module.def("read_responses", &read_responses, arg("path"), arg("frames"));
  module.def("ema", &run_ema, arg("data"), arg("band"), arg("order"), arg("references"),
             arg("select"), arg("refine"), arg("progress"));
  module.def("impact", &run_impact, arg("model"), arg("at"), arg("where"), arg("options"),
             arg("progress"));
}

}  // namespace panto::python
