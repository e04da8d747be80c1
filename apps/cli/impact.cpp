#include "panto/updating/impact.hpp"

#include <fmt/format.h>

#include <memory>

#include "apps/cli/json.hpp"
#include "apps/cli/operating.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "panto/io/frequency_data.hpp"
#include "panto/io/modal_test.hpp"

namespace panto::cli {
namespace {

struct Arguments : OperatingArguments {
  ImpactOptions options;
  std::string points, hammer, axes = "ground", damping, out, modes;
  std::vector<double> band;
};

// "tip:y,elbow:x": false with a message where one is none.
bool parse_points(const std::string& text, const char* option, std::vector<MeasuredPoint>& points,
                  std::string& message) {
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string word = text.substr(start, end - start);
    start = end + 1;
    MeasuredPoint point;
    if (!parse_point(word, point)) {
      message = fmt::format("{} {}: expected a frame and a direction, such as tip:y or tip:-x",
                            option, word);
      return false;
    }
    points.push_back(std::move(point));
  }
  return true;
}

std::string json_of(const std::string& model, const ImpactTest& t) {
  JsonWriter json;
  json.begin_object()
      .member("model", model)
      .member("responses", static_cast<long>(t.data.responses.size()))
      .member("excitations", static_cast<long>(t.data.excitations.size()))
      .member("lines", static_cast<long>(t.data.frequency_hz.size()))
      .member("first_hz", t.data.frequency_hz(0))
      .member("last_hz", t.data.frequency_hz(t.data.frequency_hz.size() - 1))
      .member("window_decay", t.data.window_decay)
      .member("error", t.error);
  if (t.data.coherence.size() > 0) json.member("coherence", t.data.coherence.mean());
  json.key("modes").begin_array();
  for (const MeasuredMode& m : t.modes.modes) {
    json.begin_object()
        .member("frequency_hz", m.frequency_hz)
        .member("damping", m.damping)
        .key("shape")
        .begin_array();
    for (size_t i = 0; i < t.modes.points.size(); ++i)
      json.begin_object()
          .member("point", name_of(t.modes.points[i]))
          .member("value", m.shape(static_cast<Eigen::Index>(i)).real())
          .end_object();
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.text() + "\n";
}

std::string table_of(const std::string& model, const ImpactTest& t) {
  const Eigen::VectorXd& f = t.data.frequency_hz;
  std::string text = fmt::format(
      "{}: {} responses to {} excitations, {} lines from {:.6g} to {:.6g} Hz\n\n"
      "   mode  frequency [Hz]  damping [%]\n",
      model, t.data.responses.size(), t.data.excitations.size(), f.size(), f(0), f(f.size() - 1));
  for (size_t k = 0; k < t.modes.modes.size(); ++k)
    text += fmt::format("  {:>5}  {:>14.7g}  {:>11.5g}\n", k + 1, t.modes.modes[k].frequency_hz,
                        100 * t.modes.modes[k].damping);
  text += fmt::format("\n  estimated and exact responses differ by {:.3g} %", 100 * t.error);
  if (t.data.coherence.size() > 0)
    text += fmt::format("; coherence {:.4f} on average", t.data.coherence.mean());
  return text + "\n";
}

int impact_verb(Arguments& a) {
  ImpactOptions& o = a.options;
  std::string message;
  if (!parse_points(a.points, "--points", o.accelerometers, message) ||
      !parse_points(a.hammer, "--hammer", o.hammer, message))
    return fail_usage(message, a.json);
  if (!a.damping.empty() && !parse_numbers(a.damping, o.damping))
    return fail_usage(fmt::format("--damping {}: expected ratios such as 0.01,0.02", a.damping),
                      a.json);
  o.body_axes = a.axes == "body";
  if (!a.band.empty()) {
    o.from_hz = a.band[0];
    o.to_hz = a.band[1];
  }
  Diagnostics notes;
  int exit_code = kOk;
  const std::optional<Model> model = posed_model(a, notes, exit_code);
  if (!model) return exit_code;
  const Interrupt interrupt;
  Progress progress("impact " + model->name);
  o.progress = [&](double fraction) {
    progress.show(fraction);
    return !Interrupt::requested();
  };
  const Result<ImpactTest> made =
      impact_test(*model, nominal(*model), a.here ? Operation::kHere : Operation::kEquilibrium, o);
  progress.wipe();
  notes.append(made.diagnostics());
  if (!made) return fail(notes, a.json);
  if (!made->complete) return kInterrupted;
  if (!a.out.empty()) notes.append(write_frequency_data(made->data, a.out, made->positions));
  if (!a.modes.empty() && notes.ok()) notes.append(write_modal_test(made->modes, a.modes));
  if (!notes.ok()) return fail(notes, a.json);
  if (!a.out.empty()) note("wrote " + a.out);
  if (!a.modes.empty()) note("wrote " + a.modes);
  print(notes);
  if (a.json)
    out(json_of(model->name, *made));
  else
    summary(table_of(model->name, *made));
  return kOk;
}

}  // namespace

void add_impact(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("impact", "Frequency responses of a hammer test simulated on a model");
  verb->group("Vibration");
  add_model_arguments(*verb, *a);
  ImpactOptions& o = a->options;
  verb->add_option("--at", a->at, "Coordinates by name: theta=30deg,s=5mm")
      ->type_name("name=value,...");
  verb->add_flag("--here", a->here, "Stay there (default: search the equilibrium from there)");
  verb->add_flag("--hold", o.hold, "Friction holds the pose: modes that grow are taken as free");
  verb->add_option("--points", a->points, "Accelerometers, frame and direction: tip:y,elbow:-x")
      ->required()
      ->type_name("list");
  verb->add_option("--hammer", a->hammer, "Where the hammer hits (at every accelerometer)")
      ->type_name("list");
  verb->add_option("--axes", a->axes, "Directions of the ground, or of the body in its pose")
      ->type_name("ground|body")
      ->check(CLI::IsMember({"ground", "body"}));
  verb->add_option("--rate", o.sample_rate_hz, "Samples per second (2048)")->type_name("Hz");
  verb->add_option("--record", o.duration_s, "Length of a record (16)")->type_name("s");
  verb->add_option("--averages", o.averages, "Hits per point (3)")->type_name("n");
  verb->add_option("--peak", o.peak_n, "Peak of a hit (100)")->type_name("N");
  verb->add_option("--pulse", o.pulse_s, "Length of a hit (0.002)")->type_name("s");
  verb->add_option("--trigger", o.trigger_n, "Force that starts a record (5.72)")->type_name("N");
  verb->add_option("--pretrigger", o.pretrigger_s, "Recorded before that (0.01)")->type_name("s");
  verb->add_option("--window", o.window_end,
                   "Exponential window at the end of the record; 1: none (0.9)")
      ->type_name("share");
  verb->add_option("--force-window", o.force_window_s,
                   "Force kept after the trigger; 0: all of it (0.05)")
      ->type_name("s");
  verb->add_option("--noise", o.noise, "Of each channel, share of its root mean square (0)")
      ->type_name("share");
  verb->add_option("--damping", a->damping, "Ratios of the modes (the model's own damping)")
      ->type_name("list");
  verb->add_option("--band", a->band, "Lines that are kept [Hz] (0 to rate / 2.56)")
      ->type_name("from,to")
      ->delimiter(',')
      ->expected(2);
  verb->add_option("--seed", o.seed, "Of noise and hits (1)")->type_name("n");
  verb->add_option("--threads", o.threads, "Cores to use (all)")
      ->type_name("n")
      ->check(CLI::PositiveNumber);
  verb->add_option("-o,--out", a->out, "Write the responses: .uff, .csv or .h5")
      ->type_name("frf.uff");
  verb->add_option("--modes", a->modes, "Write the model's own modes: .toml or .csv")
      ->type_name("exact.toml");
  verb->footer(
      "Examples:\n"
      "  panto impact single_flexible_link --points link.end:y --damping 0.01 -o frf.uff\n"
      "  panto ema frf.uff --band 1 180");
  verb->callback([a, &exit_code] { exit_code = impact_verb(*a); });
}

}  // namespace panto::cli
