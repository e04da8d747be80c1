#include "panto/updating/ema.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "apps/cli/json.hpp"
#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/io/frequency_data.hpp"
#include "panto/io/modal_test.hpp"
#include "panto/scene/ema_report.hpp"

namespace panto::cli {
namespace {

struct Arguments {
  std::string file, select = "auto", out, view, frames;
  std::vector<double> band;
  int order = 40, references = 0;
  double window_decay = -1;
  bool json = false;
};

std::string json_of(const Ema& e) {
  JsonWriter json;
  json.begin_object().key("modes").begin_array();
  for (const EmaMode& m : e.modes) {
    json.begin_object()
        .member("frequency_hz", m.frequency_hz)
        .member("damping", m.damping)
        .member("frequency_sigma", m.frequency_sigma)
        .member("damping_sigma", m.damping_sigma)
        .member("mpc", m.mpc)
        .member("mpd", m.mpd)
        .member("orders", m.orders)
        .member("significance", m.significance)
        .member("share", m.share)
        .member("assurance", m.assurance)
        .key("shape")
        .begin_array();
    for (Eigen::Index i = 0; i < m.shape.size(); ++i)
      json.begin_object()
          .member("point", name_of(e.responses[static_cast<size_t>(i)]))
          .member("value", m.shape(i).real())
          .member("imaginary", m.shape(i).imag())
          .member("sigma", m.shape_sigma(i))
          .end_object();
    json.end_array().end_object();
  }
  json.end_array().key("diagram").begin_array();
  for (const DiagramPole& p : e.diagram)
    json.begin_array()
        .value(p.order)
        .value(p.frequency_hz)
        .value(p.damping)
        .value(static_cast<int>(p.stability))
        .end_array();
  json.end_array()
      .member("correlation", std::vector<double>(e.correlation.begin(), e.correlation.end()))
      .member("lines", static_cast<long>(e.frequency_hz.size()))
      .member("references", e.references)
      .end_object();
  return json.text() + "\n";
}

std::string table_of(const Arguments& a, const Ema& e) {
  std::string text = fmt::format(
      "{}: {} modes from {} responses to {} excitations, {} lines to {:.6g} Hz\n\n"
      "   mode  frequency [Hz]      ±     damping [%]      ±       MPC   MPD [deg]     MAC  "
      "orders\n",
      a.file, e.modes.size(), e.responses.size(), e.excitations.size(), e.frequency_hz.size(),
      e.frequency_hz(e.frequency_hz.size() - 1));
  for (size_t k = 0; k < e.modes.size(); ++k) {
    const EmaMode& m = e.modes[k];
    text += fmt::format(
        "  {:>5}  {:>14.7g} {:>9.2g}  {:>11.5g} {:>9.2g}  {:>7.4f}  {:>8.2f}  {:>7.4f}  {:>6}\n",
        k + 1, m.frequency_hz, m.frequency_sigma, 100 * m.damping, 100 * m.damping_sigma, m.mpc,
        m.mpd * 57.29577951308232, m.assurance, m.orders);
  }
  text += fmt::format(
      "\n  synthesised and measured responses: correlation {:.4f} on average, {:.4f} "
      "at worst\n",
      e.correlation.mean(), e.correlation.minCoeff());
  return text;
}

// "1=tip,2=elbow"; false where a pair is none.
bool parse_frames(const std::string& text, FrameOfNode& frames) {
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string pair = text.substr(start, end - start);
    const size_t equal = pair.find('=');
    double node = 0;
    if (equal == std::string::npos || equal + 1 == pair.size() ||
        !parse_number(pair.substr(0, equal), node))
      return false;
    frames[static_cast<int>(node)] = pair.substr(equal + 1);
    start = end + 1;
  }
  return true;
}

int ema_verb(const Arguments& a) {
  EmaOptions options;
  options.max_order = a.order;
  options.references = a.references;
  if (a.select != "auto" && !parse_numbers(a.select, options.select_hz))
    return fail_usage(
        fmt::format("--select {}: expected \"auto\" or frequencies such as 12.4,23.1", a.select),
        a.json);
  if (!a.band.empty()) {
    options.from_hz = a.band[0];
    options.to_hz = a.band[1];
    if (!(options.from_hz >= 0 && options.to_hz > options.from_hz))
      return fail_usage("--band: expected two frequencies, the lower one first", a.json);
  }
  FrameOfNode frames;
  if (!parse_frames(a.frames, frames))
    return fail_usage(fmt::format("--frames {}: expected pairs such as 1=tip,2=elbow", a.frames),
                      a.json);
  Result<FrequencyData> data = read_frequency_data(a.file, frames);
  if (!data) return fail(data.diagnostics(), a.json);
  if (a.window_decay >= 0) data->window_decay = a.window_decay;
  const Interrupt interrupt;
  Progress progress("ema " + a.file);
  options.progress = [&](double fraction) {
    progress.show(fraction);
    return !Interrupt::requested();
  };
  const Result<Ema> found = ema(*data, options);
  progress.wipe();
  Diagnostics notes = data.diagnostics();
  notes.append(found.diagnostics());
  if (!found) return fail(notes, a.json);
  if (!a.out.empty()) notes.append(write_modal_test(modal_test(*found), a.out));
  if (!a.view.empty()) {
    scene::Report report =
        scene::report_of_ema(*found, std::filesystem::path(a.file).filename().string());
    scene::add_notes(notes, report);
    notes.append(write_page(report, a.view));
  }
  if (!notes.ok()) return fail(notes, a.json);
  if (!a.out.empty()) note("wrote " + a.out);
  print(notes);
  if (a.json)
    out(json_of(*found));
  else
    summary(table_of(a, *found));
  return found->complete ? kOk : kInterrupted;
}

}  // namespace

void add_ema(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("ema", "Modes from measured frequency responses (modal analysis)");
  verb->group("Vibration");
  verb->add_option("FRF", a->file, "Frequency responses: universal file, CSV or HDF5")
      ->required()
      ->type_name(".uff");
  verb->add_option("--band", a->band, "Lowest and highest frequency [Hz] (all lines)")
      ->type_name("from,to")
      ->delimiter(',')
      ->expected(2);
  verb->add_option("--order", a->order, "Highest order of the stabilisation diagram (40)")
      ->type_name("n")
      ->check(CLI::Range(2, 200));
  verb->add_option("--references", a->references,
                   "Combinations of excitations that the denominator sees (up to 4)")
      ->type_name("n")
      ->check(CLI::PositiveNumber);
  verb->add_option("--select", a->select, "auto, or the frequencies [Hz] of the poles to take")
      ->type_name("list");
  verb->add_option("--window-decay", a->window_decay,
                   "Rate [1/s] of the exponential window (as the file says)")
      ->type_name("rate")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--frames", a->frames, "Frames of the nodes of a universal file: 1=tip,2=elbow")
      ->type_name("list");
  verb->add_option("-o,--out", a->out, "Write the modes: .toml, .csv or .uff")
      ->type_name("modes.toml");
  verb->add_option("--view", a->view, "Write the report page")->type_name("ema.html");
  verb->add_flag("--json", a->json, "Result as JSON on standard output");
  verb->footer(
      "Examples:\n"
      "  panto ema test.uff --band 1 180 -o modes.toml --view ema.html\n"
      "  panto ema test.csv --select 12.4,23.1,41.7 --json");
  verb->callback([a, &exit_code] { exit_code = ema_verb(*a); });
}

}  // namespace panto::cli
