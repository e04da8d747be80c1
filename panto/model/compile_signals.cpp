// Functions of time and force laws.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "panto/model/compile_internal.hpp"
#include "panto/model/csv_table.hpp"

namespace panto::compile_detail {

// Index of the signal; -1 when it is absent or reported. `dim` is that of its value.
int Compiler::signal(const At& at, std::optional<Dim> dim) {
  if (!at) return -1;
  std::optional<Signal> made;
  Expression source;  // kept where parameters play a part
  if (at.node->table() == nullptr) {
    auto n = read(at, dim, true);
    if (!n) return -1;
    if (n->literal) {
      made = Signal::constant(n->value);
    } else if (n->expression.is_constant()) {
      made = Signal::constant(n->expression.evaluate<double>({}));
    } else {
      const auto& code = n->expression.code();
      const bool of_theta = std::any_of(code.begin(), code.end(), [](const auto& in) {
        return in.op == Expression::Op::kVariable && in.variable > 0;
      });
      if (of_theta) source = n->expression;
      made = Signal::expression(std::move(n->expression), theta_);
    }
  } else if (const At polynomial = at["polynomial"]) {
    std::vector<double> coefficients;
    for (size_t i = 0; i < polynomial.size(); ++i) {
      const auto c = constant(polynomial.element(i, std::to_string(i)), dim);
      coefficients.push_back(c.value_or(0));
      if (dim) dim = *dim / dim::kTime;
    }
    if (polynomial.node->array() != nullptr && coefficients.empty()) {
      error(113, polynomial, "a polynomial needs at least 1 coefficient");
      return -1;
    }
    made = Signal::polynomial(std::move(coefficients));
  } else if (const At table = at["table"]) {
    made = sampled(table, constants(table["t"], dim::kTime), constants(table["y"], dim),
                   table["linear"].flag(false));
  } else if (at["csv"].text() != nullptr) {
    made = from_csv(at, at["linear"].flag(false));
  }
  if (!made) return -1;
  model_.signals.push_back(std::move(*made));
  model_.signal_sources.push_back(std::move(source));
  return static_cast<int>(model_.signals.size()) - 1;
}

std::optional<Signal> Compiler::sampled(const At& at, std::vector<double> x, std::vector<double> y,
                                        bool linear) {
  if (x.size() != y.size()) {
    error(
        311, at,
        fmt::format("the two lists must have one length, they have {} and {}", x.size(), y.size()));
    return std::nullopt;
  }
  if (x.size() < 2) {
    error(311, at, "a table needs at least two points");
    return std::nullopt;
  }
  const auto fall =
      std::adjacent_find(x.begin(), x.end(), [](double a, double b) { return !(a < b); });
  if (fall != x.end()) {
    error(311, at,
          fmt::format("the abscissae must increase, {} is followed by {}", *fall, *(fall + 1)));
    return std::nullopt;
  }
  return Signal::table(std::move(x), std::move(y), linear);
}

std::optional<Signal> Compiler::from_csv(const At& at, bool linear) {
  const At file = at["csv"];
  const std::filesystem::path path = std::filesystem::path(spec_.file).parent_path() / *file.text();
  const Result<CsvTable> read_table = read_csv_table(path.string());
  if (!read_table) {
    error(read_table.diagnostics().items()[0].id, file,
          fmt::format("\"{}\" cannot be used", *file.text()));
    diagnostics_.append(read_table.diagnostics());
    return std::nullopt;
  }
  const CsvTable& table = *read_table;
  size_t column = 1;
  const At column_name = at["column"];
  if (column_name.text() != nullptr) {
    const auto it = std::find(table.names.begin(), table.names.end(), *column_name.text());
    if (it == table.names.end()) {
      error(603, column_name,
            fmt::format("\"{}\" has no column \"{}\"{}", *file.text(), *column_name.text(),
                        did_you_mean(*column_name.text(), table.names)));
      return std::nullopt;
    }
    column = static_cast<size_t>(it - table.names.begin());
  } else if (table.columns.size() < 2) {
    error(603, file, fmt::format("\"{}\" has one column, two are needed", *file.text()));
    return std::nullopt;
  }
  return sampled(file, table.columns[0], table.columns[column], linear);
}

// A law f(x): { x, f } or { csv }; splines unless smooth = false.
int Compiler::law_table(const At& at, Dim x, Dim f) {
  const bool lists = at["x"] && at["f"];
  const bool linear = !at["smooth"].flag(true);
  std::optional<Signal> made;
  if (lists == static_cast<bool>(at["csv"])) {
    error(115, at, "a table needs either \"x\" and \"f\" or \"csv\"");
  } else if (lists) {
    made = sampled(at, constants(at["x"], x), constants(at["f"], f), linear);
  } else if (at["csv"].text() != nullptr) {
    made = from_csv(at, linear);
  }
  if (!made) return -1;
  model_.tables.push_back(std::move(*made));
  return static_cast<int>(model_.tables.size()) - 1;
}

}  // namespace panto::compile_detail
