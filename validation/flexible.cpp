#include "validation/flexible.hpp"

#include <fmt/format.h>

#include "panto/linear/modes.hpp"

namespace panto::validation {

Result<std::vector<double>> elastic_frequencies(const std::string& model, Operation operation) {
  const Result<Loaded> loaded = load_model(model);
  if (!loaded.ok()) return loaded.diagnostics();
  Workspace& workspace = *loaded->workspace;
  const auto point = operating_point(workspace, operation);
  if (!point.ok()) return point.diagnostics();
  const auto linear = linearize(workspace, *point);
  if (!linear.ok()) return linear.diagnostics();
  const auto found = modes(workspace, *point, *linear);
  if (!found.ok()) return found.diagnostics();
  const size_t rigid = found->list.size() - loaded->model->elastic.size();
  std::vector<double> out;
  for (size_t i = rigid; i < found->list.size(); ++i) out.push_back(found->list[i].frequency_hz);
  return out;
}

std::vector<Row> frequency_rows(const std::vector<double>& printed,
                                const std::vector<double>& computed, double digit, double share) {
  std::vector<Row> rows;
  for (size_t i = 0; i < printed.size(); ++i)
    rows.push_back({fmt::format("elastic mode {}", i + 1), printed[i], computed[i], "Hz",
                    digit + share * printed[i], ""});
  return rows;
}

}  // namespace panto::validation
