// Numbers of the items: literals become θ, expressions become slots.
#include <fmt/format.h>

#include <cmath>

#include "panto/base/contract.hpp"
#include "panto/model/compile_internal.hpp"
#include "panto/model/number_text.hpp"

namespace panto::compile_detail {

double Compiler::evaluate(const Expression& e) const { return e.evaluate<double>(theta_); }

Slot Compiler::add_slot(Expression e) {
  slot_values_.push_back(evaluate(e));
  model_.slots.push_back(std::move(e));
  return static_cast<Slot>(model_.slots.size()) - 1;
}

Slot Compiler::add_slot(std::vector<Expression::Instruction> code) {
  auto e = Expression::from_code(std::move(code));
  PANTO_EXPECT(e.has_value(), "a derived number is made of valid expressions");
  return add_slot(std::move(*e));
}

// With the override of this number, by its name or by its name with the kind of the item in front.
At Compiler::overridden(const At& at) {
  At out = at;
  if (overrides_.empty() || out.set != nullptr || !at) return out;
  const std::string name = at.full_name();
  auto it = override_index_.find(name);
  if (it == override_index_.end() && !at.item->kind.empty()) {
    it = override_index_.find(fmt::format("{}.{}", at.item->kind, name));
  }
  if (it == override_index_.end()) return out;
  override_used_[it->second] = true;
  out.set = &overrides_[it->second];
  return out;
}

std::optional<Number> Compiler::read_text(const At& at, const std::string& text, bool with_time) {
  Number out;
  if (const auto literal = parse_literal(text)) {
    out.literal = true;
    out.value = literal->value;
    out.dim = literal->dim;
    out.expression = Expression::constant(out.value);
    return out;
  }
  const int n = static_cast<int>(named_.size());
  bool uses_bad = false;
  const Resolver resolve = [&](std::string_view name) -> std::optional<ResolvedName> {
    if (with_time && name == "t") return ResolvedName{n + 1, std::nullopt};
    if (!at.item->variable.empty() && name == at.item->variable)
      return ResolvedName{n, std::nullopt};
    const auto it = named_index_.find(name);
    if (it == named_index_.end()) return std::nullopt;
    const Named& p = named_[static_cast<size_t>(it->second)];
    uses_bad = uses_bad || p.bad;
    return ResolvedName{it->second, p.dim};
  };
  ParsedExpression parsed = parse_expression(text, resolve, named_names_);
  if (uses_bad) return std::nullopt;  // reported at the parameter
  if (parsed.error) {
    if (at.item->variable.empty() && at.set == nullptr) {
      Loc loc = at.loc();
      if (loc.line > 0) loc.column += 1 + parsed.error->column;  // after the opening quote
      diagnostics_.error(301, loc, fmt::format("{}: {}", label(at), parsed.error->message));
    } else {
      error(301, at, fmt::format("\"{}\": {}", text, parsed.error->message));
    }
    return std::nullopt;
  }
  auto composed = compose(parsed.expression, at.item, with_time);
  if (!composed) {
    error(312, at, "the expression becomes too long when the parameters in it are inserted");
    return std::nullopt;
  }
  out.expression = std::move(*composed);
  out.dim = parsed.dim;
  if (!with_time) out.value = evaluate(out.expression);
  return out;
}

std::optional<Number> Compiler::read(const At& given, std::optional<Dim> dim, bool with_time) {
  const At at = overridden(given);
  if (!at) return std::nullopt;
  std::optional<Number> out;
  std::string shown;
  if (at.set == nullptr && at.node->is_number()) {
    if (!std::isfinite(at.node->number())) return std::nullopt;  // reported by validate
    out.emplace();
    out->literal = true;
    out->value = at.node->number();
    out->expression = Expression::constant(out->value);
  } else if (at.set != nullptr || at.text() != nullptr) {
    shown = at.set != nullptr ? at.set->value : *at.text();
    out = read_text(at, shown, with_time);
    if (!out) return std::nullopt;
    const bool repeated = !at.item->variable.empty();
    if (at.set != nullptr && (!out->literal || repeated || with_time)) {
      model_.overrides.push_back({at.set->name, at.set->value, repeated ? "" : at.pointer});
    }
  } else {
    return std::nullopt;  // reported by validate
  }
  if (dim && out->dim && *out->dim != *dim) {
    error(302, at,
          fmt::format("\"{}\" has the dimension \"{}\", expected \"{}\"", shown,
                      to_string(*out->dim), to_string(*dim)));
    return std::nullopt;
  }
  if (!std::isfinite(out->value)) {
    error(303, at, fmt::format("\"{}\" is not finite", shown));
    return std::nullopt;
  }
  return out;
}

Slot Compiler::number(const At& given, std::optional<Dim> dim, Sign sign) {
  const At at = overridden(given);
  auto read_number = read(at, dim);
  if (!read_number) return -1;
  const double v = read_number->value;
  if ((sign == Sign::kPositive && !(v > 0)) || (sign == Sign::kNotNegative && !(v >= 0))) {
    error(304, at,
          fmt::format("must {}, it is {}",
                      sign == Sign::kPositive ? "be positive" : "not be negative", v));
  }
  if (!read_number->literal || !at.item->variable.empty()) {
    return add_slot(std::move(read_number->expression));
  }
  std::string name = at.full_name();
  if (!theta_names_.insert(name).second) {
    // The same name in two kinds of item: the later one carries its kind.
    name = fmt::format("{}.{}", at.item->kind.empty() ? "model" : at.item->kind, name);
    for (int i = 2; !theta_names_.insert(name).second; ++i) name += fmt::format("_{}", i);
  }
  const std::optional<Dim> known = dim ? dim : read_number->dim;
  const int index = static_cast<int>(theta_.size());
  theta_.push_back(v);
  model_.parameters.push_back(
      {name, v, known.value_or(Dim{}), known.has_value(), at.loc(), at.pointer});
  return add_slot(Expression::variable(index));
}

// A number of a drawing. No equation depends on it, so a literal does not become a parameter to identify or update.
Slot Compiler::drawn_number(const At& given, Dim dim, Sign sign) {
  const At at = overridden(given);
  auto found = read(at, dim);
  if (!found) return -1;
  if ((sign == Sign::kPositive && !(found->value > 0))) {
    error(304, at, fmt::format("must be positive, it is {}", found->value));
  }
  if (at.set != nullptr && found->literal && at.item->variable.empty()) {
    model_.overrides.push_back({at.set->name, at.set->value, at.pointer});
  }
  return add_slot(std::move(found->expression));
}

std::optional<double> Compiler::constant(const At& at, std::optional<Dim> dim) {
  const auto read_number = read(at, dim);
  if (!read_number) return std::nullopt;
  return read_number->value;
}

std::vector<double> Compiler::constants(const At& at, std::optional<Dim> dim) {
  std::vector<double> out;
  for (size_t i = 0; i < at.size(); ++i) {
    out.push_back(constant(at.element(i, std::to_string(i)), dim).value_or(0));
  }
  return out;
}

}  // namespace panto::compile_detail
