#include "panto/linear/linearize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "apps/cli/json.hpp"
#include "apps/cli/linearize_along.hpp"
#include "apps/cli/operating.hpp"
#include "apps/cli/report.hpp"
#include "panto/linear/response.hpp"

namespace panto::cli {
namespace {

struct Arguments : OperatingArguments {
  AlongArguments along;
  std::vector<std::string> from, to;
  std::string sweep;  // f1:f2:n
};

bool find_all(const std::vector<std::string>& wanted, const std::vector<std::string>& names,
              const char* kind, std::vector<int>& at, std::string& message) {
  for (const std::string& name : wanted) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      message = fmt::format("there is no {} \"{}\"{}", kind, name, did_you_mean(name, names));
      return false;
    }
    at.push_back(static_cast<int>(found - names.begin()));
  }
  return true;
}

// Logarithmic steps from f1 to f2.
bool parse_sweep(const std::string& text, std::vector<double>& frequencies) {
  std::vector<double> numbers;
  std::string spaced = text;
  std::replace(spaced.begin(), spaced.end(), ':', ' ');
  if (!parse_numbers(spaced, numbers) || numbers.size() != 3 || !(numbers[0] > 0) ||
      !(numbers[1] > numbers[0]) || !(numbers[2] >= 2) || numbers[2] > 1e6)
    return false;
  const int n = static_cast<int>(numbers[2]);
  for (int i = 0; i < n; ++i)
    frequencies.push_back(numbers[0] * std::pow(numbers[1] / numbers[0], i / (n - 1.0)));
  return true;
}

void matrix(JsonWriter& json, const char* name, const Eigen::MatrixXd& a) {
  json.key(name).begin_array();
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    json.begin_array();
    for (Eigen::Index j = 0; j < a.cols(); ++j) json.value(a(i, j));
    json.end_array();
  }
  json.end_array();
}

void complexes(JsonWriter& json, const char* name, const std::vector<std::complex<double>>& list) {
  json.key(name).begin_array();
  for (const auto& s : list) json.begin_array().value(s.real()).value(s.imag()).end_array();
  json.end_array();
}

struct Response {
  std::vector<int> from, to;
  std::vector<double> frequencies;
  std::vector<Eigen::MatrixXcd> values;
  std::vector<std::complex<double>> zeros;
};

std::string json_of(const Linearised& l, const Response& r) {
  const LinearModel& m = l.linear;
  JsonWriter json;
  json.begin_object().member("model", l.model.name);
  json.member("coordinates", m.coordinates)
      .member("independent", m.independent)
      .member("states", m.states)
      .member("inputs", m.inputs)
      .member("outputs", m.outputs)
      .member("output_units", m.output_units)
      .member("rows", m.rows);
  json.key("descriptor").begin_object();
  matrix(json, "M", m.M);
  matrix(json, "D", m.D);
  matrix(json, "K", m.K);
  matrix(json, "B", m.B);
  matrix(json, "G", m.G);
  json.end_object();
  json.key("minimal").begin_object();
  matrix(json, "R", m.R);
  matrix(json, "M", m.M_z);
  matrix(json, "D", m.D_z);
  matrix(json, "K", m.K_z);
  matrix(json, "B", m.B_z);
  json.end_object();
  json.key("state_space").begin_object();
  matrix(json, "A", m.A);
  matrix(json, "B", m.B_x);
  matrix(json, "B_rate", m.B_rate);
  matrix(json, "C", m.C_x);
  matrix(json, "D", m.D_x);
  matrix(json, "D_rate", m.D_rate);
  json.end_object();
  complexes(json, "poles", poles(m));
  if (!r.from.empty() && r.from.size() == r.to.size()) complexes(json, "zeros", r.zeros);
  if (!r.frequencies.empty()) {
    json.key("response").begin_object().member("frequency_hz", r.frequencies);
    json.key("magnitude").begin_object();
    const auto each = [&](const auto& value) {
      for (size_t i = 0; i < r.to.size(); ++i)
        for (size_t j = 0; j < r.from.size(); ++j) {
          json.key(m.outputs[static_cast<size_t>(r.to[i])] + "/" +
                   m.inputs[static_cast<size_t>(r.from[j])])
              .begin_array();
          for (const Eigen::MatrixXcd& h : r.values)
            json.value(value(h(static_cast<int>(i), static_cast<int>(j))));
          json.end_array();
        }
    };
    each([](const std::complex<double>& h) { return std::abs(h); });
    json.end_object().key("phase_deg").begin_object();
    each([](const std::complex<double>& h) { return std::arg(h) * 180 / std::numbers::pi; });
    json.end_object().end_object();
  }
  write_point(json, l);
  json.end_object();
  return json.text() + "\n";
}

std::string table_of(const Linearised& l, const Response& r) {
  const LinearModel& m = l.linear;
  std::string text = fmt::format(
      "{}: linear model with {} states, {} inputs, {} outputs (matrices: --json)\n\n  independent "
      " ",
      l.model.name, m.states.size(), m.inputs.size(), m.outputs.size());
  for (const std::string& name : m.independent) text += " " + name;
  text += "\n\n  poles [1/s]\n";
  for (const auto& s : poles(m))
    if (s.imag() >= 0)
      text += s.imag() > 0 ? fmt::format("    {:>14.7g} ± {:.7g} i   {:.7g} Hz\n", s.real(),
                                         s.imag(), std::abs(s) / (2 * std::numbers::pi))
                           : fmt::format("    {:>14.7g}\n", s.real());
  if (!r.zeros.empty()) text += "\n  zeros [1/s]\n";
  for (const auto& s : r.zeros)
    if (s.imag() >= 0)
      text += s.imag() > 0 ? fmt::format("    {:>14.7g} ± {:.7g} i\n", s.real(), s.imag())
                           : fmt::format("    {:>14.7g}\n", s.real());
  text += fmt::format("\n  force left over {:.3e}\n", l.point.residual);
  return text;
}

int linearize_verb(const Arguments& a) {
  if (a.along.along) return linearize_along_verb(a, a.along);
  int exit_code = kOk;
  Response r;
  if (!a.sweep.empty() && !parse_sweep(a.sweep, r.frequencies))
    return fail_usage(fmt::format("--sweep {}: expected lowest:highest:points in Hz", a.sweep),
                      a.json);
  const auto l = linearised(a, exit_code);
  if (!l) return exit_code;
  std::string message;
  if (!find_all(a.from, l->linear.inputs, "input", r.from, message) ||
      !find_all(a.to, l->linear.outputs, "output", r.to, message))
    return fail_usage(message, a.json);
  if (!r.frequencies.empty() && (r.from.empty() || r.to.empty()))
    return fail_usage("--sweep needs --from and --to", a.json);
  if (!r.from.empty() && r.from.size() == r.to.size() && l->linear.B_rate.isZero(0) &&
      l->linear.D_rate.isZero(0))
    r.zeros = zeros(l->linear, r.to, r.from);
  r.values = frequency_response(l->linear, r.to, r.from, r.frequencies);
  print(l->notes);
  if (a.json) {
    out(json_of(*l, r));
  } else {
    summary(table_of(*l, r));
  }
  return kOk;
}

}  // namespace

void add_linearize(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand(
      "linearize", "Linear model about a pose: matrices, poles, zeros, responses");
  verb->group("Vibration");
  add_operating_arguments(*verb, *a);
  verb->add_option("--from", a->from, "Inputs of responses and zeros")
      ->type_name("name,...")
      ->delimiter(',');
  verb->add_option("--to", a->to, "Outputs of responses and zeros")
      ->type_name("name,...")
      ->delimiter(',');
  verb->add_option("--sweep", a->sweep, "Frequency response, logarithmic steps [Hz]")
      ->type_name("f1:f2:n");
  add_along_arguments(*verb, a->along);
  verb->footer(
      "Examples:\n"
      "  panto linearize fourbar_f1 --equilibrium\n"
      "  panto linearize three_link --here --json\n"
      "  panto linearize fourbar_f1 --along --until 2 --sample 0.01 --out linear.h5");
  verb->callback([a, &exit_code] { exit_code = linearize_verb(*a); });
}

}  // namespace panto::cli
