#include "panto/base/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <numbers>
#include <utility>

#include "panto/base/contract.hpp"
#include "panto/base/diagnostics.hpp"

namespace panto {
namespace {

using Op = Expression::Op;

// How the dimension of a function's value follows from its arguments.
enum class Rule {
  kDimensionless,  // arguments must be dimensionless, so is the value
  kSame,           // arguments agree, the value has their dimension
  kAgree,          // arguments agree, the value is dimensionless
  kRoot,
};

struct Function {
  std::string_view name;
  Op op;
  size_t arity;
  Rule rule;
};

constexpr Function kFunctions[] = {
    {"sin", Op::kSin, 1, Rule::kDimensionless},
    {"cos", Op::kCos, 1, Rule::kDimensionless},
    {"tan", Op::kTan, 1, Rule::kDimensionless},
    {"asin", Op::kAsin, 1, Rule::kDimensionless},
    {"acos", Op::kAcos, 1, Rule::kDimensionless},
    {"atan", Op::kAtan, 1, Rule::kDimensionless},
    {"atan2", Op::kAtan2, 2, Rule::kAgree},
    {"sqrt", Op::kSqrt, 1, Rule::kRoot},
    {"exp", Op::kExp, 1, Rule::kDimensionless},
    {"log", Op::kLog, 1, Rule::kDimensionless},
    {"abs", Op::kAbs, 1, Rule::kSame},
    {"tanh", Op::kTanh, 1, Rule::kDimensionless},
    {"sinh", Op::kSinh, 1, Rule::kDimensionless},
    {"cosh", Op::kCosh, 1, Rule::kDimensionless},
    {"min", Op::kMin, 2, Rule::kSame},
    {"max", Op::kMax, 2, Rule::kSame},
    {"step", Op::kStep, 1, Rule::kAgree},
    {"pulse", Op::kPulse, 2, Rule::kAgree},
};

constexpr int kMaxNesting = 100;
constexpr int kMaxIntegerPower = 64;  // beyond, the general power is as accurate
constexpr int kMaxDimExponent = 1000;

const Function* find_function(std::string_view name) {
  for (const Function& f : kFunctions) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c) || c == '.'; }

// Number of values an instruction takes from the stack; it always leaves one.
int operands(Op op) {
  switch (op) {
    case Op::kConstant:
    case Op::kVariable:
      return 0;
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
    case Op::kPow:
    case Op::kAtan2:
    case Op::kMin:
    case Op::kMax:
    case Op::kPulse:
      return 2;
    default:
      return 1;
  }
}

int stack_depth(const std::vector<Expression::Instruction>& code) {
  int depth = 0, deepest = 0;
  for (const Expression::Instruction& in : code) {
    depth += 1 - operands(in.op);
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

// Names the character at the front of `text`; every printable one as itself.
std::string describe(std::string_view text) {
  const auto c = static_cast<unsigned char>(text.front());
  if (c > 0x20 && c < 0x7f) return fmt::format("character \"{}\"", text.front());
  return fmt::format("byte 0x{:02X}", c);
}

}  // namespace

// Recursive descent; emits postfix code while it reads and folds constants as soon as they meet.
// sum := product (('+'|'-') product)*    product := signed (('*'|'/') signed)*
// signed := '-' signed | power           power := primary ('^' signed)?
// Functions return false after the first error, which is kept in error_.
struct ExpressionParser {
  // A finished sub-expression: its code starts at `begin` and runs to the end of the code.
  struct Part {
    size_t begin = 0;
    bool bare = false;       // made of bare numbers only: fits any dimension
    std::optional<Dim> dim;  // nullopt: unknown, or bare
    bool has_unit = false;   // a number with a unit, as written
  };

  std::string_view text_;
  const Resolver& resolve_;
  const std::vector<std::string>& known_;
  size_t pos_ = 0;
  int nesting_ = 0;
  std::vector<Expression::Instruction> code_;
  std::optional<ExpressionError> error_;

  ExpressionParser(std::string_view text, const Resolver& resolve,
                   const std::vector<std::string>& known)
      : text_(text), resolve_(resolve), known_(known) {}

  ParsedExpression run() {
    ParsedExpression out;
    Part whole;
    if (parse_all(whole)) {
      out.expression.code_ = std::move(code_);
      out.dim = whole.dim;
    } else {
      out.error = std::move(error_);
    }
    return out;
  }

  static Expression from_code(std::vector<Expression::Instruction> code) {
    Expression e;
    e.code_ = std::move(code);
    return e;
  }

  bool fail(size_t column, std::string message) {
    if (!error_) error_ = ExpressionError{static_cast<int>(column), std::move(message)};
    return false;
  }

  // --- text -----------------------------------------------------------------------------------

  [[nodiscard]] size_t after_blanks(size_t p) const {
    while (p < text_.size() && is_blank(text_[p])) ++p;
    return p;
  }
  // The next character that is not blank, 0 at the end.
  char peek() {
    pos_ = after_blanks(pos_);
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || pos_ == text_.size()) return false;
    ++pos_;
    return true;
  }
  [[nodiscard]] std::string_view name_at(size_t p) const {
    size_t end = p;
    if (p < text_.size() && starts_name(text_[p])) {
      while (end < text_.size() && continues_name(text_[end])) ++end;
    }
    return text_.substr(p, end - p);
  }
  [[nodiscard]] bool is_at(size_t p, char c) const { return p < text_.size() && text_[p] == c; }

  // What stands here although an operator, `closing` or the end is expected.
  bool fail_after_operand(std::string_view closing) {
    const size_t here = after_blanks(pos_);
    if (here == text_.size()) return fail(here, fmt::format("missing \"{}\"", closing));
    const std::string_view rest = text_.substr(here);
    const std::string_view name = name_at(here);
    if (!name.empty() || is_digit(rest[0]) || rest[0] == '(') {
      const std::string_view word = name.empty() ? rest.substr(0, 1) : name;
      return fail(here, fmt::format("unexpected \"{}\": an operator is missing before it", word));
    }
    if (rest[0] == ')') return fail(here, "unexpected \")\": there is no \"(\" for it");
    if (rest[0] == ',') return fail(here, "unexpected \",\" outside the arguments of a function");
    return fail(here, "unexpected " + describe(rest));
  }

  [[nodiscard]] std::optional<ResolvedName> resolve(std::string_view name) const {
    if (!resolve_) return std::nullopt;
    std::optional<ResolvedName> r = resolve_(name);
    PANTO_EXPECT(!r || r->variable >= 0, "a resolved name needs a variable number");
    return r;
  }

  // --- code -----------------------------------------------------------------------------------

  [[nodiscard]] bool is_constant(const Part& p, size_t end) const {
    return end == p.begin + 1 && code_[p.begin].op == Op::kConstant;
  }

  // Appends an operation on everything from `begin` on; folds it when all its operands are
  // constants.
  bool emit(Expression::Instruction in, size_t begin, size_t column) {
    code_.push_back(in);
    const size_t count = static_cast<size_t>(operands(in.op));
    if (code_.size() - begin != count + 1) return true;
    std::vector<Expression::Instruction> tail(code_.begin() + static_cast<std::ptrdiff_t>(begin),
                                              code_.end());
    for (size_t i = 0; i < count; ++i) {
      if (tail[i].op != Op::kConstant) return true;
    }
    const double value = from_code(std::move(tail)).evaluate<double>({});
    if (!std::isfinite(value)) return fail(column, "the value of this constant part is not finite");
    code_.resize(begin);
    code_.push_back({Op::kConstant, -1, value});
    return true;
  }

  // --- dimensions -----------------------------------------------------------------------------

  // The common dimension of a and b into a.
  bool agree(Part& a, const Part& b, size_t column, std::string_view what) {
    if (b.bare) return true;
    if (a.bare) {
      a.bare = false;
      a.dim = b.dim;
    } else if (a.dim && b.dim && *a.dim != *b.dim) {
      return fail(column, fmt::format("{} joins different dimensions: \"{}\" and \"{}\"", what,
                                      to_string(*a.dim), to_string(*b.dim)));
    } else if (!b.dim) {
      a.dim.reset();
    }
    return true;
  }

  // A factor's dimension: bare numbers are dimensionless beside a factor that is not bare.
  static std::optional<Dim> factor_dim(const Part& p) { return p.bare ? dim::kNone : p.dim; }

  bool multiply(Part& a, const Part& b, bool divide, size_t column) {
    if (a.bare && b.bare) return true;
    const std::optional<Dim> da = factor_dim(a), db = factor_dim(b);
    a.bare = false;
    a.dim.reset();
    if (da && db) a.dim = divide ? *da / *db : *da * *db;
    return check_size(a, column);
  }

  bool check_size(const Part& a, size_t column) {
    if (a.dim &&
        std::max({std::abs(a.dim->kg), std::abs(a.dim->m), std::abs(a.dim->s)}) > kMaxDimExponent) {
      return fail(column, "the exponents of the dimension are too large");
    }
    return true;
  }

  bool raise(Part& base, const Part& exponent, std::optional<int> integer, size_t column) {
    if (exponent.dim && *exponent.dim != dim::kNone) {
      return fail(column,
                  fmt::format("an exponent must be dimensionless, this has the dimension \"{}\"",
                              to_string(*exponent.dim)));
    }
    if (base.bare && exponent.bare) return true;
    const bool exponent_known = exponent.bare || exponent.dim.has_value();
    if (base.bare) {
      base.bare = false;
      base.dim = exponent_known ? std::optional<Dim>(dim::kNone) : std::nullopt;
      return true;
    }
    if (!base.dim) return true;
    if (*base.dim == dim::kNone) {
      if (!exponent_known) base.dim.reset();
      return true;
    }
    if (!integer) {
      return fail(
          column,
          fmt::format("a power of a quantity in \"{}\" needs an integer constant as exponent",
                      to_string(*base.dim)));
    }
    base.dim = Dim{base.dim->kg * *integer, base.dim->m * *integer, base.dim->s * *integer};
    return check_size(base, column);
  }

  bool apply_rule(const Function& f, Part& a, const Part* b, size_t column) {
    switch (f.rule) {
      case Rule::kDimensionless:
        if (a.dim && *a.dim != dim::kNone) {
          return fail(
              column,
              fmt::format("{}() needs a dimensionless argument, this has the dimension \"{}\"",
                          f.name, to_string(*a.dim)));
        }
        return true;
      case Rule::kSame:
      case Rule::kAgree:
        if (b != nullptr && !agree(a, *b, column, fmt::format("{}()", f.name))) return false;
        if (f.rule == Rule::kAgree && a.dim) a.dim = dim::kNone;
        return true;
      case Rule::kRoot:
        if (a.dim) {
          const Dim d = *a.dim;
          const bool even = d.kg % 2 == 0 && d.m % 2 == 0 && d.s % 2 == 0;
          a.dim = even ? std::optional<Dim>(Dim{d.kg / 2, d.m / 2, d.s / 2}) : std::nullopt;
        }
        return true;
    }
    return true;
  }

  // --- grammar --------------------------------------------------------------------------------

  bool parse_all(Part& out) {
    if (after_blanks(0) == text_.size()) return fail(0, "the expression is empty");
    if (!parse_sum(out)) return false;
    if (after_blanks(pos_) != text_.size()) return fail_after_operand("");
    if (stack_depth(code_) > Expression::kMaxDepth) {
      return fail(0, fmt::format("the expression needs more than {} intermediate values; split it "
                                 "or reorder its terms",
                                 Expression::kMaxDepth));
    }
    return true;
  }

  bool parse_sum(Part& out) {
    if (!parse_product(out)) return false;
    while (peek() == '+' || peek() == '-') {
      const size_t column = pos_;
      const bool subtract = text_[pos_++] == '-';
      Part right;
      if (!parse_product(right)) return false;
      if (!agree(out, right, column, subtract ? "a difference" : "a sum")) return false;
      if (!emit({subtract ? Op::kSub : Op::kAdd}, out.begin, column)) return false;
    }
    return true;
  }

  bool parse_product(Part& out) {
    if (!parse_signed(out)) return false;
    while (peek() == '*' || peek() == '/') {
      const size_t column = pos_;
      const bool divide = text_[pos_++] == '/';
      if (!divide && is_at(pos_, '*'))
        return fail(column, "unexpected \"**\": a power is written with \"^\"");
      Part right;
      if (!parse_signed(right)) return false;
      if (divide && is_constant(right, code_.size()) && code_.back().number == 0) {
        return fail(column, "division by zero");
      }
      if (!multiply(out, right, divide, column)) return false;
      if (!emit({divide ? Op::kDiv : Op::kMul}, out.begin, column)) return false;
    }
    return true;
  }

  // Every recursion passes here, so here the nesting is counted.
  bool parse_signed(Part& out) {
    if (++nesting_ > kMaxNesting + 1) {
      return fail(pos_, fmt::format("the expression is nested deeper than {}", kMaxNesting));
    }
    const bool good = parse_signed_at_depth(out);
    --nesting_;
    return good;
  }

  bool parse_signed_at_depth(Part& out) {
    if (peek() == '-' && pos_ < text_.size()) {
      const size_t column = pos_++;
      return parse_signed(out) && emit({Op::kNeg}, out.begin, column);
    }
    return parse_power(out);
  }

  bool parse_power(Part& out) {
    if (!parse_primary(out)) return false;
    if (peek() != '^') return true;
    const size_t column = pos_++;
    if (out.has_unit) {
      return fail(column,
                  "is the number to be raised or its unit? Write (3 mm)^n for the quantity, 3 mm^2 "
                  "for the unit");
    }
    Part exponent;
    if (!parse_signed(exponent)) return false;
    std::optional<int> integer;
    if (is_constant(exponent, code_.size())) {
      const double n = code_.back().number;
      if (n == std::round(n) && std::abs(n) <= kMaxDimExponent) integer = static_cast<int>(n);
    }
    if (!raise(out, exponent, integer, column)) return false;
    if (integer && std::abs(*integer) <= kMaxIntegerPower) {
      code_.pop_back();
      return emit({Op::kPowInt, *integer}, out.begin, column);
    }
    return emit({Op::kPow}, out.begin, column);
  }

  bool parse_primary(Part& out) {
    const char c = peek();
    out = Part{};
    out.begin = code_.size();
    if (pos_ == text_.size())
      return fail(pos_, "the expression ends where a number, a name or \"(\" is expected");
    if (is_digit(c) || (c == '.' && pos_ + 1 < text_.size() && is_digit(text_[pos_ + 1])))
      return parse_number(out);
    if (starts_name(c)) return parse_name(out);
    if (c == '(') {
      ++pos_;
      if (peek() == ')') return fail(pos_, "nothing between \"(\" and \")\"");
      if (!parse_sum(out)) return false;
      out.has_unit = false;
      return take(')') || fail_after_operand(")");
    }
    if (std::string_view("+*/^),").find(c) != std::string_view::npos && c != '\0') {
      return fail(pos_,
                  fmt::format("unexpected \"{}\" where a number, a name or \"(\" is expected", c));
    }
    return fail(pos_, "unexpected " + describe(text_.substr(pos_)));
  }

  bool parse_number(Part& out) {
    const size_t start = pos_;
    double number = 0;
    const auto [end, failure] =
        std::from_chars(text_.data() + pos_, text_.data() + text_.size(), number);
    const size_t stop = static_cast<size_t>(end - text_.data());
    if (failure != std::errc()) return fail(start, "this number is out of range");
    pos_ = stop;
    if (starts_name(peek())) {
      std::string unit;
      if (!parse_unit_text(unit)) return false;
      const auto quantity =
          parse_quantity(fmt::format("{} {}", text_.substr(start, stop - start), unit));
      if (!quantity)
        return fail(start, fmt::format("the quantity in \"{}\" is out of range", unit));
      number = quantity->value;
      out.dim = quantity->dim;
      out.has_unit = true;
    } else {
      out.bare = true;
    }
    code_.push_back({Op::kConstant, -1, number});
    return true;
  }

  // A unit after its number: words joined by blanks or '/', each with an optional integer exponent.
  bool parse_unit_text(std::string& unit) {
    bool divide = false;
    while (true) {
      const size_t start = pos_;
      const std::string_view word = name_at(start);
      if (!parse_unit(word)) return fail_unknown_unit(word);
      if (!unit.empty()) unit += divide ? '/' : ' ';
      unit += word;
      pos_ += word.size();
      if (!parse_unit_exponent(unit)) return false;

      size_t next = after_blanks(pos_);
      divide = is_at(next, '/');
      if (divide) next = after_blanks(next + 1);
      const std::string_view candidate = name_at(next);
      // A call, or a word that is no unit, belongs to the expression around.
      if (candidate.empty() || !parse_unit(candidate) ||
          is_at(after_blanks(next + candidate.size()), '('))
        return true;
      if (divide && resolve(candidate)) {
        return fail(
            next,
            fmt::format(
                "\"{0}\" is a unit and a name: write \"{1} {0}^-1\" for the unit, a parenthesis "
                "around the quantity, \"(... {1})/{0}\", for the name",
                candidate, unit));
      }
      pos_ = next;
    }
  }

  bool parse_unit_exponent(std::string& unit) {
    const size_t caret = after_blanks(pos_);
    if (!is_at(caret, '^')) return true;
    size_t p = after_blanks(caret + 1);
    const size_t begin = p;
    if (is_at(p, '-')) ++p;
    const size_t digits = p;
    while (p < text_.size() && is_digit(text_[p])) ++p;
    if (p == digits || is_at(p, '.') || (p < text_.size() && starts_name(text_[p]))) {
      return fail(
          caret, "the exponent of a unit must be an integer; to raise the quantity write (3 mm)^n");
    }
    if (is_digit(unit.back())) return fail(caret, "a unit has two exponents");
    if (p - digits > 1) return fail(caret, "the exponent of a unit is at most 9");
    unit += '^';
    unit += text_.substr(begin, p - begin);
    pos_ = p;
    return true;
  }

  bool fail_unknown_unit(std::string_view word) {
    if (word == "pi" || find_function(word) != nullptr || resolve(word)) {
      return fail(pos_, fmt::format("\"{}\" is not a unit; a product is written with \"*\"", word));
    }
    return fail(pos_,
                fmt::format("unknown unit \"{}\"{}", word, did_you_mean(word, unit_symbols())));
  }

  bool parse_name(Part& out) {
    const size_t start = pos_;
    const std::string_view name = name_at(start);
    pos_ += name.size();
    const Function* function = find_function(name);
    if (peek() == '(') {
      if (function != nullptr) return parse_call(*function, start, out);
      if (name == "pi" || resolve(name))
        return fail(start, fmt::format("\"{}\" is not a function", name));
      return fail(start, fmt::format("unknown function \"{}\"{}", name,
                                     did_you_mean(name, function_names())));
    }
    if (name == "pi") {
      out.bare = true;
      code_.push_back({Op::kConstant, -1, std::numbers::pi});
      return true;
    }
    if (const auto resolved = resolve(name)) {
      out.dim = resolved->dim;
      code_.push_back({Op::kVariable, resolved->variable, 0});
      return true;
    }
    if (function != nullptr)
      return fail(start, fmt::format("function \"{0}\" needs its argument: {0}(...)", name));
    if (name == "e")
      return fail(start, "unknown name \"e\": it is not a constant here, write exp(1)");
    std::vector<std::string> candidates = known_;
    for (std::string& f : function_names()) candidates.push_back(std::move(f));
    candidates.emplace_back("pi");
    const std::string suggestion = did_you_mean(name, candidates);
    if (suggestion.empty() && parse_unit(name)) {
      return fail(
          start,
          fmt::format("unknown name \"{0}\"; a unit stands directly after a number: \"3 {0}\"",
                      name));
    }
    return fail(start, fmt::format("unknown name \"{}\"{}", name, suggestion));
  }

  static std::vector<std::string> function_names() {
    std::vector<std::string> names;
    for (const Function& f : kFunctions) names.emplace_back(f.name);
    return names;
  }

  bool parse_call(const Function& f, size_t start, Part& out) {
    ++pos_;  // the parenthesis
    std::array<Part, 2> arguments;
    size_t count = 0;
    if (!take(')')) {
      do {
        Part argument;
        if (!parse_sum(argument)) return false;
        if (count < arguments.size()) arguments[count] = argument;
        ++count;
      } while (take(','));
      if (!take(')')) return fail_after_operand(")");
    }
    if (count != f.arity) {
      return fail(start, fmt::format("{}() takes {} argument{}, not {}", f.name, f.arity,
                                     f.arity == 1 ? "" : "s", count));
    }
    out = arguments[0];
    out.has_unit = false;
    if (!apply_rule(f, out, f.arity == 2 ? &arguments[1] : nullptr, start)) return false;
    return emit({f.op}, out.begin, start);
  }
};

Expression Expression::constant(double value) {
  return ExpressionParser::from_code({{Op::kConstant, -1, value}});
}

Expression Expression::variable(int index) {
  PANTO_EXPECT(index >= 0, "a variable number must not be negative");
  return ExpressionParser::from_code({{Op::kVariable, index, 0}});
}

std::optional<Expression> Expression::from_code(std::vector<Instruction> code) {
  int depth = 0;
  for (const Instruction& in : code) {
    if (depth < operands(in.op) || (in.op == Op::kVariable && in.variable < 0)) return std::nullopt;
    depth += 1 - operands(in.op);
    if (depth > kMaxDepth) return std::nullopt;
  }
  if (depth != 1) return std::nullopt;
  return ExpressionParser::from_code(std::move(code));
}

Expression Expression::with_value(int variable, double value) const {
  Expression e = *this;
  for (Instruction& in : e.code_) {
    if (in.op == Op::kVariable && in.variable == variable) in = {Op::kConstant, -1, value};
  }
  return e;
}

bool Expression::is_constant() const {
  return std::none_of(code_.begin(), code_.end(),
                      [](const Instruction& in) { return in.op == Op::kVariable; });
}

bool Expression::uses(int variable) const {
  return std::any_of(code_.begin(), code_.end(), [&](const Instruction& in) {
    return in.op == Op::kVariable && in.variable == variable;
  });
}

ParsedExpression parse_expression(std::string_view text, const Resolver& resolve,
                                  const std::vector<std::string>& known) {
  return ExpressionParser(text, resolve, known).run();
}

}  // namespace panto
