#include "apps/cli/invert_feedback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/cli/report.hpp"

namespace panto::cli {
namespace {

std::string padded(const std::string& text, size_t width) {
  const size_t n = letters(text);
  return text + std::string(n < width ? width - n : 1, ' ');
}

void spreads(JsonWriter& json, const char* name, const std::vector<std::string>& names,
             const std::vector<Spread>& values) {
  json.key(name).begin_object();
  for (size_t i = 0; i < names.size() && i < values.size(); ++i) {
    json.key(names[i]).begin_object();
    json.member("mean", values[i].mean).member("deviation", values[i].deviation);
    json.member("smallest", values[i].smallest).member("largest", values[i].largest);
    json.member("p95", values[i].most).end_object();
  }
  json.end_object();
}

void series(JsonWriter& json, const char* name, const std::vector<std::string>& names,
            const std::vector<std::vector<double>>& values) {
  json.key(name).begin_object();
  for (size_t i = 0; i < names.size() && i < values.size(); ++i) json.member(names[i], values[i]);
  json.end_object();
}

void case_json(JsonWriter& json, const LoopCase& c, const FeedbackReport& r) {
  json.begin_object().member("feedback", c.feedback).member("plant", c.plant);
  json.member("status", to_string(c.run.status));
  if (c.run.status != Status::kOk)
    json.member("failed", c.run.failed).member("failed_at", c.run.failed_at);
  json.key("tracking").begin_object();
  for (size_t i = 0; i < r.outputs.size() && i < c.run.errors.size(); ++i) {
    const OutputError& e = c.run.errors[i];
    json.key(r.outputs[i]).begin_object();
    json.member("rms", e.rms).member("max", e.max).member("final", e.final).end_object();
  }
  json.end_object().key("inputs").begin_object();
  for (size_t i = 0; i < r.inputs.size() && i < c.run.inputs.size(); ++i) {
    const InputUse& u = c.run.inputs[i];
    json.key(r.inputs[i]).begin_object();
    json.member("rms", u.rms).member("max", u.max).member("saturated", u.saturated);
    if (u.first >= 0) json.member("first_saturated", u.first);
    json.end_object();
  }
  json.end_object().member("t", c.run.t);
  series(json, "outputs", r.outputs, c.run.z);
  series(json, "given", r.inputs, c.run.u);
  series(json, "acting", r.inputs, c.run.acting);
  series(json, "coordinates", r.coordinates, c.run.y);
  series(json, "seen", r.coordinates, c.run.seen);
  json.key("cycle").begin_object();
  json.member("mean", c.run.mean_cycle).member("worst", c.run.worst_cycle).end_object();
  json.end_object();
}

void designs_json(JsonWriter& json, const FeedbackReport& r) {
  json.key("feedback").begin_array();
  for (const FeedbackDesign& d : r.designs) {
    json.begin_object().member("name", d.settings.name).member("law", to_string(d.settings.law));
    if (d.settings.law == Law::kLqr) {
      json.member("t", d.gains.t).key("gains").begin_array();
      for (const Eigen::MatrixXd& f : d.gains.F) {
        json.begin_array();
        for (Eigen::Index i = 0; i < f.rows(); ++i) {
          const Eigen::VectorXd row = f.row(i);
          json.value(std::vector<double>(row.data(), row.data() + row.size()));
        }
        json.end_array();
      }
      json.end_array().key("poles").begin_array();
      for (const auto& poles : d.gains.poles) {
        json.begin_array();
        for (const auto& p : poles) json.begin_array().value(p.real()).value(p.imag()).end_array();
        json.end_array();
      }
      json.end_array().member("residual", d.gains.residual);
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void feedback_json(JsonWriter& json, const FeedbackReport& r) {
  designs_json(json, r);
  json.member("complete", r.complete).key("loops").begin_array();
  for (const LoopCase& c : r.cases) case_json(json, c, r);
  json.end_array();
  if (r.draws.empty()) return;
  json.key("monte_carlo").begin_object();
  series(json, "drawn", r.varied, r.drawn);
  json.key("feedback").begin_array();
  for (const LoopDraws& d : r.draws) {
    json.begin_object().member("feedback", d.feedback).member("draws", d.draws);
    json.member("failed", d.failed);
    spreads(json, "rms", r.outputs, d.rms);
    spreads(json, "max", r.outputs, d.max);
    spreads(json, "final", r.outputs, d.final);
    spreads(json, "input_rms", r.inputs, d.input_rms);
    spreads(json, "input_max", r.inputs, d.input_max);
    spreads(json, "saturated", r.inputs, d.saturated);
    series(json, "max_by_draw", r.outputs, d.max_by_draw);
    json.end_object();
  }
  json.end_array().end_object();
}

std::string feedback_text(const FeedbackReport& r) {
  size_t width = 10;
  for (const LoopCase& c : r.cases) width = std::max(width, letters(c.plant) + 2);
  size_t law = 10;
  for (const LoopCase& c : r.cases) law = std::max(law, letters(c.feedback) + 2);
  std::string text;
  for (const FeedbackDesign& d : r.designs)
    if (d.settings.law == Law::kLqr && !d.gains.poles.empty())
      text += fmt::format("\n  {}: gains at {} instant{}, slowest pole at {:.4g} 1/s\n",
                          d.settings.name, d.gains.t.size(), d.gains.t.size() > 1 ? "s" : "",
                          d.gains.poles.back().front().real());
  const std::string head = "\n  " + padded("feedback", law) + padded("plant", width);
  text += head + padded("output", 14) +
          fmt::format("{:>12}{:>12}{:>12}\n", "rms error", "largest", "at the end");
  for (const LoopCase& c : r.cases)
    for (size_t i = 0; i < c.run.errors.size(); ++i)
      text += "  " + padded(c.feedback, law) + padded(c.plant, width) +
              padded(fmt::format("{} [{}]", r.outputs[i], r.output_units[i]), 14) +
              fmt::format("{:>12.3g}{:>12.3g}{:>12.3g}\n", c.run.errors[i].rms, c.run.errors[i].max,
                          c.run.errors[i].final);
  text += head + padded("input", 14) +
          fmt::format("{:>12}{:>12}{:>12}\n", "rms", "largest", "in a limit");
  for (const LoopCase& c : r.cases)
    for (size_t i = 0; i < c.run.inputs.size(); ++i)
      text += "  " + padded(c.feedback, law) + padded(c.plant, width) +
              padded(fmt::format("{} [{}]", r.inputs[i], r.input_units[i]), 14) +
              fmt::format("{:>12.4g}{:>12.4g}{:>10.3g} %\n", c.run.inputs[i].rms,
                          c.run.inputs[i].max, 100 * c.run.inputs[i].saturated);
  double mean = 0, worst = 0;
  for (const LoopCase& c : r.cases) {
    mean = std::max(mean, c.run.mean_cycle);
    worst = std::max(worst, c.run.worst_cycle);
  }
  text += fmt::format("\n  feedback and observer: mean {:.3g} us, worst {:.3g} us a cycle\n",
                      1e6 * mean, 1e6 * worst);
  if (!r.complete) text += "  stopped: not all runs were made\n";
  if (r.draws.empty()) return text;
  text += "\n  " + padded("feedback", law) + padded("draws", width) + padded("output", 14) +
          fmt::format("{:>12}{:>12}{:>12}{:>12}\n", "mean rms", "mean max", "95 % below", "worst");
  for (const LoopDraws& d : r.draws)
    for (size_t i = 0; i < d.max.size(); ++i)
      text += "  " + padded(d.feedback, law) +
              padded(d.failed > 0 ? fmt::format("{}-{}", d.draws, d.failed)
                                  : fmt::format("{}", d.draws),
                     width) +
              padded(fmt::format("{} [{}]", r.outputs[i], r.output_units[i]), 14) +
              fmt::format("{:>12.3g}{:>12.3g}{:>12.3g}{:>12.3g}\n", d.rms[i].mean, d.max[i].mean,
                          d.max[i].most, d.max[i].largest);
  return text;
}

}  // namespace panto::cli
