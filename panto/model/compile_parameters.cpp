// Named parameters: any order of definition, dimensions, cycles, and which of them are θ.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "panto/model/compile_internal.hpp"
#include "panto/model/number_text.hpp"

namespace panto::compile_detail {
namespace {

constexpr size_t kMaxCode = 4096;  // instructions of one expression after insertion of the others

bool usable_name(std::string_view s) {
  if (s.empty() || (s[0] >= '0' && s[0] <= '9')) return false;
  return std::all_of(s.begin(), s.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool reserved(std::string_view s) {
  static constexpr std::string_view kWords[] = {
      "t",   "pi",  "sin", "cos",  "tan",  "asin", "acos", "atan", "atan2", "sqrt",
      "exp", "log", "abs", "tanh", "sinh", "cosh", "min",  "max",  "step",  "pulse"};
  return std::find(std::begin(kWords), std::end(kWords), s) != std::end(kWords);
}

std::vector<int> variables(const Expression& e) {
  std::vector<int> out;
  for (const Expression::Instruction& in : e.code()) {
    if (in.op == Expression::Op::kVariable) out.push_back(in.variable);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

void Compiler::report_expression(const Loc& loc, bool exact_column, const std::string& what,
                                 const ExpressionError& e) {
  Loc there = loc;
  if (exact_column && there.line > 0) there.column += 1 + e.column;  // after the opening quote
  diagnostics_.error(301, there, fmt::format("{}: {}", what, e.message));
}

void Compiler::read_parameters() {
  const Node* table = spec_.root.find("parameters");
  if (table == nullptr || table->table() == nullptr) return;
  for (const auto& [name, node] : *table->table()) {
    named_index_.emplace(name, static_cast<int>(named_.size()));
    named_names_.push_back(name);
    Named& p = named_.emplace_back();
    p.name = name;
    p.loc = node.loc;
    if (!usable_name(name)) {
      diagnostics_.error(
          210, node.key_loc,
          fmt::format("parameters: \"{}\" cannot be used in expressions; a parameter's "
                      "name consists of letters, digits and \"_\"",
                      name));
    } else if (reserved(name)) {
      diagnostics_.error(
          211, node.key_loc,
          fmt::format("parameters: \"{}\" already has a meaning in expressions", name));
    }
    if (const auto it = override_index_.find(name); it != override_index_.end()) {
      p.text = overrides_[it->second].value;
      p.overridden = true;
      override_used_[it->second] = true;
      p.loc = Loc{fmt::format("--set {}={}", name, p.text), 0, 0};
      p.has_text = true;
    } else if (node.is_number()) {
      p.literal = true;
      p.value = node.number();
      p.bad = !std::isfinite(p.value);
    } else if (node.text() != nullptr) {
      p.text = *node.text();
      p.has_text = true;
    } else {
      p.bad = true;  // reported by validate
    }
    if (p.has_text) {
      if (const auto literal = parse_literal(p.text)) {
        p.literal = true;
        p.value = literal->value;
        p.dim = literal->dim;
      }
    }
    if (p.overridden && !p.literal)
      model_.overrides.push_back({name, p.text, "/parameters/" + name});
  }
  order_parameters();
}

void Compiler::order_parameters() {
  const size_t n = named_.size();
  const auto resolve_with = [&](bool with_dims) {
    return [this, with_dims](std::string_view name) -> std::optional<ResolvedName> {
      const auto it = named_index_.find(name);
      if (it == named_index_.end()) return std::nullopt;
      const Named& p = named_[static_cast<size_t>(it->second)];
      return ResolvedName{it->second, with_dims ? p.dim : std::nullopt};
    };
  };
  // First without dimensions, which gives the uses exactly (a unit is not a name).
  std::vector<std::vector<int>> uses(n), users(n);
  std::vector<int> missing(n, 0);
  for (size_t i = 0; i < n; ++i) {
    Named& p = named_[i];
    if (p.literal || p.bad) continue;
    const ParsedExpression parsed = parse_expression(p.text, resolve_with(false), named_names_);
    if (parsed.error) {
      report_expression(p.loc, !p.overridden, fmt::format("parameter \"{}\"", p.name),
                        *parsed.error);
      p.bad = true;
      continue;
    }
    uses[i] = variables(parsed.expression);
    missing[i] = static_cast<int>(uses[i].size());
    for (const int used : uses[i]) users[static_cast<size_t>(used)].push_back(static_cast<int>(i));
  }
  for (size_t i = 0; i < n; ++i) {
    if (missing[i] == 0) named_order_.push_back(static_cast<int>(i));
  }
  std::vector<double> values(n, 0);
  for (size_t done = 0; done < named_order_.size(); ++done) {
    const auto i = static_cast<size_t>(named_order_[done]);
    Named& p = named_[i];
    const bool depends_on_bad = std::any_of(
        uses[i].begin(), uses[i].end(), [&](int u) { return named_[static_cast<size_t>(u)].bad; });
    if (depends_on_bad) p.bad = true;
    if (!p.literal && !p.bad) {
      ParsedExpression parsed = parse_expression(p.text, resolve_with(true), named_names_);
      if (parsed.error) {
        report_expression(p.loc, !p.overridden, fmt::format("parameter \"{}\"", p.name),
                          *parsed.error);
        p.bad = true;
      } else {
        p.of_named = std::move(parsed.expression);
        p.dim = parsed.dim;
        p.value = p.of_named.evaluate<double>(values);
        if (!std::isfinite(p.value)) {
          diagnostics_.error(303, p.loc,
                             fmt::format("parameter \"{}\": the value is not finite", p.name));
          p.bad = true;
        }
      }
    }
    values[i] = p.value;
    for (const int user : users[i]) {
      if (--missing[static_cast<size_t>(user)] == 0) named_order_.push_back(user);
    }
  }
  std::vector<bool> seen(n, false);
  for (size_t i = 0; i < n; ++i) {
    if (missing[i] <= 0 || seen[i]) continue;
    // Walk along unresolved uses until a parameter repeats: that is a cycle.
    std::vector<size_t> path;
    size_t k = i;
    while (!seen[k]) {
      seen[k] = true;
      path.push_back(k);
      k = static_cast<size_t>(*std::find_if(uses[k].begin(), uses[k].end(), [&](int u) {
        return missing[static_cast<size_t>(u)] > 0;
      }));
    }
    const auto start = std::find(path.begin(), path.end(), k);
    for (const size_t member : path) named_[member].bad = true;
    if (start == path.end()) continue;  // runs into a cycle that is already reported
    std::string text;
    for (auto it = start; it != path.end(); ++it)
      text += fmt::format("\"{}\" → ", named_[*it].name);
    diagnostics_.error(
        307, named_[k].loc,
        fmt::format("parameter \"{0}\" depends on itself: {1}\"{0}\"", named_[k].name, text));
  }
}

void Compiler::assign_theta() {
  // What a structural parameter is made of is structural too.
  for (auto it = named_order_.rbegin(); it != named_order_.rend(); ++it) {
    const Named& p = named_[static_cast<size_t>(*it)];
    if (!p.structural) continue;
    for (const int used : variables(p.of_named))
      named_[static_cast<size_t>(used)].structural = true;
  }
  for (Named& p : named_) {
    if (!p.literal || p.bad) continue;
    if (p.structural) {
      p.of_theta = Expression::constant(p.value);
      if (p.overridden) model_.overrides.push_back({p.name, p.text, "/parameters/" + p.name});
      continue;
    }
    p.of_theta = Expression::variable(static_cast<int>(theta_.size()));
    theta_.push_back(p.value);
    theta_names_.insert(p.name);
    model_.parameters.push_back({p.name, p.value, p.dim.value_or(Dim{}), p.dim.has_value(), p.loc,
                                 "/parameters/" + p.name});
  }
  for (const int i : named_order_) {
    Named& p = named_[static_cast<size_t>(i)];
    const std::vector<int> used = variables(p.of_named);
    p.bad = p.bad || std::any_of(used.begin(), used.end(),
                                 [&](int u) { return named_[static_cast<size_t>(u)].bad; });
    if (p.literal || p.bad) continue;
    const auto composed = compose(p.of_named, nullptr, false);
    if (!composed) {
      diagnostics_.error(312, p.loc,
                         fmt::format("parameter \"{}\": the expression becomes too long when the "
                                     "parameters in it are inserted",
                                     p.name));
      p.bad = true;
      continue;
    }
    p.of_theta = *composed;
  }
}

// Replaces named parameters by what they are made of. Local variables: named parameters, then the repeat variable, then t.
std::optional<Expression> Compiler::compose(const Expression& local, const Item* item,
                                            bool with_time) {
  const int n = static_cast<int>(named_.size());
  std::vector<Expression::Instruction> code;
  bool constant = true;
  for (const Expression::Instruction& in : local.code()) {
    if (in.op != Expression::Op::kVariable) {
      code.push_back(in);
    } else if (in.variable == n) {
      code.push_back({Expression::Op::kConstant, -1, item->index});
    } else if (in.variable > n) {
      code.push_back({Expression::Op::kVariable, 0, 0});
      constant = false;
    } else {
      for (Expression::Instruction inner :
           named_[static_cast<size_t>(in.variable)].of_theta.code()) {
        if (inner.op == Expression::Op::kVariable) {
          constant = false;
          if (with_time) ++inner.variable;
        }
        code.push_back(inner);
      }
    }
    if (code.size() > kMaxCode) return std::nullopt;
  }
  auto composed = Expression::from_code(std::move(code));
  if (composed && constant) return Expression::constant(composed->evaluate<double>({}));
  return composed;
}

}  // namespace panto::compile_detail
