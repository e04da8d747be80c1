#include "panto/linear/modes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "apps/cli/json.hpp"
#include "apps/cli/operating.hpp"
#include "apps/cli/report.hpp"
#include "panto/scene/modes_report.hpp"

namespace panto::cli {
namespace {

struct Arguments : OperatingArguments {
  int count = 0;
  std::string view;
  std::optional<double> deformation;
};

std::string json_of(const Linearised& l, const Modes& m) {
  JsonWriter json;
  json.begin_object().member("model", l.model.name);
  const auto list = [&](const char* name, double Mode::*field) {
    json.key(name).begin_array();
    for (const Mode& mode : m.list) json.value(mode.*field);
    json.end_array();
  };
  const auto named = [&](const std::vector<std::string>& names, const auto& values) {
    json.begin_object();
    for (size_t i = 0; i < names.size(); ++i) json.member(names[i], values[static_cast<int>(i)]);
    json.end_object();
  };
  list("frequencies_hz", &Mode::frequency_hz);
  list("damping", &Mode::damping);
  json.key("eigenvalues").begin_array();
  for (const std::complex<double>& s : m.eigenvalues)
    json.begin_array().value(s.real()).value(s.imag()).end_array();
  json.end_array();
  json.key("shapes").begin_array();
  for (const Mode& mode : m.list) named(l.linear.coordinates, mode.shape);
  json.end_array();
  json.key("strain_energy").begin_array();
  for (const Mode& mode : m.list) {
    json.begin_object();
    for (size_t i = 0; i < m.elements.size(); ++i) json.member(m.elements[i], mode.strain[i]);
    json.member("rest", mode.strain_rest).end_object();
  }
  json.end_array();
  json.key("kinetic_energy").begin_array();
  for (const Mode& mode : m.list) named(l.linear.coordinates, mode.kinetic);
  json.end_array();
  json.key("participation").begin_array();
  for (const Mode& mode : m.list) named(l.linear.inputs, mode.participation);
  json.end_array();
  write_point(json, l);
  json.member("stable", m.stable).member("growth_rate", m.growth_rate).end_object();
  return json.text() + "\n";
}

std::string table_of(const Linearised& l, const Modes& m) {
  std::string text = fmt::format("{}: {} modes about", l.model.name, m.list.size());
  for (int i = 0; i < l.model.nq; ++i)
    text +=
        fmt::format(" {} = {:.6g}", l.model.coordinate_names[static_cast<size_t>(i)], l.point.q[i]);
  text += "\n\n   mode    frequency [Hz]     damping   strained\n";
  for (size_t k = 0; k < m.list.size(); ++k) {
    const Mode& mode = m.list[k];
    text +=
        mode.growth_rate > 0
            ? fmt::format("  {:>5}    grows {:>8.4g}/s           -", k + 1, mode.growth_rate)
            : fmt::format("  {:>5}  {:>16.9g}  {:>10.4g}", k + 1, mode.frequency_hz, mode.damping);
    // "78 % spring_C, 20 % spring_B"
    std::vector<size_t> order(m.elements.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](size_t i, size_t j) { return mode.strain[i] > mode.strain[j]; });
    std::string strained;
    for (const size_t i : order)
      if (mode.strain[i] > 0.005)
        strained += fmt::format("{}{:.0f} % {}", strained.empty() ? "" : ", ", 100 * mode.strain[i],
                                m.elements[i]);
    text += "   " + (strained.empty() ? "-" : strained) + "\n";
  }
  if (!m.stable) text += fmt::format("\n  unstable: grows at {:.6g} 1/s\n", m.growth_rate);
  text += fmt::format("\n  force left over {:.3e}\n", l.point.residual);
  return text;
}

int modes_verb(const Arguments& a) {
  int exit_code = kOk;
  const auto l = linearised(a, exit_code);
  if (!l) return exit_code;
  const Result<Modes> found = modes(*l->workspace, l->point, l->linear, {.count = a.count});
  if (!found.ok()) return fail(found.diagnostics(), a.json);
  Diagnostics notes = l->notes;
  if (!a.view.empty()) {
    scene::Report report = scene::report_of_modes(*l->workspace, l->point, *found);
    report.deformation = a.deformation;
    notes.append(write_page(report, a.view));
  }
  if (!notes.ok()) return fail(notes, a.json);
  print(notes);
  if (a.json) {
    out(json_of(*l, *found));
  } else {
    summary(table_of(*l, *found));
  }
  return kOk;
}

}  // namespace

void add_modes(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("modes", "Natural frequencies, damping and shapes about a pose");
  verb->group("Vibration");
  add_operating_arguments(*verb, *a);
  verb->add_option("--count", a->count, "Lowest modes only")
      ->type_name("n")
      ->check(CLI::PositiveNumber);
  CLI::Option* view =
      verb->add_option("--view", a->view, "Write the report page, with shapes that move")
          ->type_name("modes.html");
  add_deformation(*verb, a->deformation)->needs(view);
  verb->footer(
      "Examples:\n"
      "  panto modes three_link --at theta_B=30deg,theta_C=45deg --here\n"
      "  panto modes flyball --steady --json");
  verb->callback([a, &exit_code] { exit_code = modes_verb(*a); });
}

}  // namespace panto::cli
