#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "panto/io/atomic_file.hpp"
#include "panto/io/uff.hpp"

namespace panto::uff {
namespace {

constexpr size_t kMostErrors = 20;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// What a dataset cannot go on after; caught where datasets are told apart.
struct Failure {
  int line = 0;
  std::string message;
};

// A Fortran number: D exponents, blank is 0.
bool parse_real(std::string_view field, double& value) {
  field = trimmed(field);
  value = 0;
  if (field.empty()) return true;
  if (field.front() == '+') field.remove_prefix(1);
  char buffer[40];
  if (field.size() > sizeof buffer) return false;
  for (size_t i = 0; i < field.size(); ++i)
    buffer[i] = field[i] == 'D' || field[i] == 'd' ? 'e' : field[i];
  const auto [end, error] = std::from_chars(buffer, buffer + field.size(), value);
  return end == buffer + field.size() && error == std::errc();
}

bool parse_whole(std::string_view field, int& value) {
  field = trimmed(field);
  value = 0;
  if (field.empty()) return true;
  if (field.front() == '+') field.remove_prefix(1);
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return end == field.data() + field.size() && error == std::errc();
}

// Exponents of length and force of a specific data type; 1 (general) and 0 (unknown) take what the axis says.
std::pair<int, int> dimension(const Axis& axis) {
  switch (axis.specific_type) {
    case 2:
    case 15:
      return {-2, 1};  // stress, pressure
    case 4:
    case 9:
    case 13:
      return {0, 1};  // forces
    case 8:
    case 11:
    case 12:
      return {1, 0};  // displacement, velocity, acceleration
    case 16:
      return {-1, 1};  // mass
    case 3:
    case 5:
    case 17:
    case 18:
    case 19:
    case 20:
      return {0, 0};  // strain, temperature, time, frequency, speed, order
    default:
      return {axis.length_exponent, axis.force_exponent};
  }
}

class Parser {
 public:
  Parser(std::string_view bytes, const std::string& name) : bytes_(bytes) { file_.name = name; }

  Result<File> run() {
    while (next_dataset()) {
    }
    check_coordinates();
    if (!skipped_.empty()) {
      std::string list;
      for (const auto& [number, count] : skipped_)
        list += fmt::format("{}{}{}", list.empty() ? "" : ", ", number,
                            count > 1 ? fmt::format(" ({} times)", count) : "");
      notes_.warning(
          955, {file_.name, 0, 0},
          fmt::format(
              "datasets that are not read here: {}{}", list,
              skipped_.contains(18) ? "; directions are taken along the axes of the ground" : ""));
    }
    if (notes_.ok() && datasets_ == 0)
      notes_.error(953, {file_.name, 1, 1},
                   "no dataset: a universal file has datasets between lines \"    -1\"");
    if (!notes_.ok()) return notes_;
    return {std::move(file_), notes_};
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ >= bytes_.size(); }

  // The next line without its end; an error at the end of the file.
  std::string_view line() {
    if (at_end()) throw Failure{line_ + 1, "the file ends within the dataset"};
    const size_t end = std::min(bytes_.find('\n', at_), bytes_.size());
    std::string_view out = bytes_.substr(at_, end - at_);
    if (!out.empty() && out.back() == '\r') out.remove_suffix(1);
    at_ = std::min(end + 1, bytes_.size());
    ++line_;
    return out;
  }
  [[nodiscard]] std::string_view peek() const {
    return bytes_.substr(at_, std::min(bytes_.find('\n', at_), bytes_.size()) - at_);
  }
  static bool is_mark(std::string_view text) {
    return text.size() >= 6 && text.substr(0, 6) == "    -1" && trimmed(text) == "-1";
  }
  [[nodiscard]] bool at_mark() const { return !at_end() && is_mark(peek()); }

  [[noreturn]] void fail(const std::string& message) const { throw Failure{line_, message}; }

  static std::string_view field(std::string_view text, size_t from, size_t width) {
    return from < text.size() ? text.substr(from, width) : std::string_view{};
  }
  int whole(std::string_view text, size_t from, size_t width, const char* what) const {
    int value = 0;
    if (!parse_whole(field(text, from, width), value))
      fail(fmt::format("{}: \"{:.40}\" is no whole number", what,
                       trimmed(field(text, from, width))));
    return value;
  }
  double real(std::string_view text, size_t from, size_t width, const char* what) const {
    double value = 0;
    if (!parse_real(field(text, from, width), value))
      fail(fmt::format("{}: \"{:.40}\" is no number", what, trimmed(field(text, from, width))));
    return value;
  }

  bool next_dataset() {
    while (!at_end() && !at_mark()) {
      const std::string_view text = line();
      if (!trimmed(text).empty() && !outside_told_) {
        notes_.warning(955, {file_.name, line_, 1}, "text between datasets is skipped");
        outside_told_ = true;
      }
    }
    if (at_end()) return false;
    byte_ = at_;
    line();
    if (at_end()) return false;
    ++datasets_;
    start_ = line_;
    const std::string_view head = line();
    number_ = 0;
    binary_ = head.size() > 6 && (head[6] == 'b' || head[6] == 'B');
    try {
      number_ = whole(head, 0, 6, "number of the dataset");
      switch (number_) {
        case 15:
          read_nodes();
          break;
        case 55:
          read_shape();
          break;
        case 58:
          read_function(head);
          break;
        case 82:
          read_trace();
          break;
        case 151:
          read_header();
          break;
        case 164:
          read_units();
          break;
        default:
          ++skipped_[number_];
          skip();
      }
      if (!at_mark()) fail("the dataset does not end where it should, with a line \"    -1\"");
      line();
    } catch (const Failure& f) {
      notes_.error(953, {file_.name, f.line, 1},
                   fmt::format("dataset {}{} (from byte {}): {}", number_, binary_ ? "b" : "",
                               byte_, f.message));
      if (notes_.items().size() >= kMostErrors) return false;
      skip();
      if (!at_end()) line();
    }
    return true;
  }

  void skip() {
    while (!at_end() && !at_mark()) line();
  }

  void read_header() {
    Header h;
    std::array<std::string, 7> lines;
    for (size_t i = 0; i < lines.size() && !at_mark(); ++i) lines[i] = trimmed(line());
    h.model = lines[0];
    h.description = lines[1];
    h.creator = lines[2];
    h.written_by = lines[5];
    file_.header = h;
    skip();
  }

  void read_units() {
    Units u;
    const std::string_view first = line();
    u.code = whole(first, 0, 10, "units code");
    u.description = trimmed(field(first, 10, 20));
    u.temperature_mode = whole(first, 30, 10, "temperature mode");
    const std::string_view second = line();
    u.length = real(second, 0, 25, "length factor");
    u.force = real(second, 25, 25, "force factor");
    u.temperature = real(second, 50, 25, "temperature factor");
    if (!at_mark()) u.temperature_offset = real(line(), 0, 25, "temperature offset");
    if (!(u.length > 0) || !(u.force > 0) || !std::isfinite(u.length) || !std::isfinite(u.force))
      fail("the factors of length and force must be positive");
    file_.units = u;
    skip();
  }

  [[nodiscard]] double length_factor() const { return file_.units ? file_.units->length : 1; }
  [[nodiscard]] double force_factor() const { return file_.units ? file_.units->force : 1; }

  void read_nodes() {
    while (!at_mark()) {
      const std::string_view text = line();
      if (trimmed(text).empty()) continue;
      Node n;
      n.loc = {file_.name, line_, 1};
      n.label = whole(text, 0, 10, "node label");
      n.definition_system = whole(text, 10, 10, "definition system");
      n.displacement_system = whole(text, 20, 10, "displacement system");
      n.color = whole(text, 30, 10, "colour");
      if (trimmed(field(text, 40, 39)).empty() || text.size() < 67)
        fail(fmt::format("node {}: three coordinates are needed", n.label));
      for (int i = 0; i < 3; ++i)
        n.position(i) =
            real(text, 40 + 13 * static_cast<size_t>(i), 13, "coordinate") / length_factor();
      file_.nodes.push_back(n);
    }
  }

  void read_trace() {
    Trace t;
    const std::string_view first = line();
    t.number = whole(first, 0, 10, "trace number");
    const int count = whole(first, 10, 10, "number of nodes");
    t.color = whole(first, 20, 10, "colour");
    t.name = trimmed(line());
    while (!at_mark()) {
      const std::string_view text = line();
      for (size_t i = 0; i < 8 && static_cast<int>(t.nodes.size()) < count; ++i) {
        if (trimmed(field(text, 10 * i, 10)).empty()) break;
        t.nodes.push_back(whole(text, 10 * i, 10, "node"));
      }
    }
    if (static_cast<int>(t.nodes.size()) != count)
      fail(fmt::format("{} nodes are announced, {} are there", count, t.nodes.size()));
    file_.traces.push_back(std::move(t));
  }

  void read_shape() {
    Shape s;
    for (std::string& id : s.id) id = trimmed(line());
    s.loc = {file_.name, line_ + 1, 1};
    const std::string_view kinds = line();
    s.model_type = whole(kinds, 0, 10, "model type");
    s.analysis_type = whole(kinds, 10, 10, "analysis type");
    s.characteristic = whole(kinds, 20, 10, "data characteristic");
    s.specific_type = whole(kinds, 30, 10, "specific data type");
    const int data_type = whole(kinds, 40, 10, "data type");
    const int count = whole(kinds, 50, 10, "values per node");
    if (data_type != 2 && data_type != 5) fail("the data type is neither 2 (real) nor 5 (complex)");
    if (count < 1 || count > 100) fail(fmt::format("{} values per node", count));
    s.is_complex = data_type == 5;
    std::string_view text = line();
    const int integers = whole(text, 0, 10, "number of integers"),
              reals = whole(text, 10, 10, "number of reals");
    if (integers < 0 || integers > 100 || reals < 0 || reals > 100)
      fail("the numbers of parameters are out of range");
    for (int i = 0; i < integers; ++i) {
      const int column = i + 2;
      if (column > 7 && column % 8 == 0) text = line();
      s.integers.push_back(whole(text, 10 * static_cast<size_t>(column % 8), 10, "parameter"));
    }
    s.reals = numbers(static_cast<size_t>(reals), 6, 13);
    const auto width = static_cast<size_t>(count) * (s.is_complex ? 2 : 1);
    std::vector<double> values;
    while (!at_mark()) {
      const std::string_view label = line();
      if (trimmed(label).empty()) continue;
      s.nodes.push_back(whole(label, 0, 10, "node"));
      const std::vector<double> row = numbers(width, 6, 13);
      values.insert(values.end(), row.begin(), row.end());
    }
    const double scale = s.specific_type == 8 || s.specific_type == 11 || s.specific_type == 12
                             ? length_factor()
                             : 1;
    s.values.resize(static_cast<Eigen::Index>(s.nodes.size()), count);
    size_t k = 0;
    for (Eigen::Index i = 0; i < s.values.rows(); ++i)
      for (Eigen::Index j = 0; j < count; ++j) {
        const double re = values[k++];
        const double im = s.is_complex ? values[k++] : 0;
        s.values(i, j) = std::complex<double>(re, im) / scale;
      }
    file_.shapes.push_back(std::move(s));
  }

  // `count` numbers, `per_line` of this width to a line.
  std::vector<double> numbers(size_t count, size_t per_line, size_t width) {
    std::vector<double> out;
    while (out.size() < count) {
      const std::string_view text = line();
      const size_t wanted = std::min(per_line, count - out.size());
      row(text, std::vector<size_t>(wanted, width), out);
    }
    return out;
  }

  // Numbers of one line: in columns of these widths, else between blanks as some programs write them.
  void row(std::string_view text, const std::vector<size_t>& widths,
           std::vector<double>& out) const {
    const size_t before = out.size();
    size_t from = 0;
    bool good = true;
    for (const size_t width : widths) {
      double value = 0;
      const std::string_view cell = field(text, from, width);
      good = good && !trimmed(cell).empty() && parse_real(cell, value);
      out.push_back(value);
      from += width;
    }
    if (good && trimmed(field(text, from, text.size())).empty()) return;
    out.resize(before);
    std::string_view rest = trimmed(text);
    while (!rest.empty() && out.size() - before < widths.size()) {
      const size_t end = std::min(rest.find_first_of(" \t,"), rest.size());
      double value = 0;
      if (!parse_real(rest.substr(0, end), value))
        fail(fmt::format("\"{:.40}\" is no number", rest.substr(0, end)));
      out.push_back(value);
      rest = trimmed(rest.substr(std::min(end + 1, rest.size())));
    }
    if (out.size() - before != widths.size() || !rest.empty())
      fail(fmt::format("{} numbers are expected in this line", widths.size()));
  }

  Axis read_axis(const char* what) {
    const std::string_view text = line();
    Axis a;
    a.specific_type = whole(text, 0, 10, what);
    a.length_exponent = whole(text, 10, 5, what);
    a.force_exponent = whole(text, 15, 5, what);
    a.temperature_exponent = whole(text, 20, 5, what);
    const auto word = [&](size_t from) {
      const std::string_view w = trimmed(field(text, from, 20));
      return std::string(w == "NONE" ? "" : w);
    };
    a.label = word(26);
    a.unit = word(47);
    if (std::abs(a.length_exponent) > 9 || std::abs(a.force_exponent) > 9)
      fail(fmt::format("{}: exponents of units out of range", what));
    return a;
  }

  void read_function(std::string_view head) {
    Function f;
    int order = 1, format = 2;
    if (binary_) {
      order = whole(head, 7, 6, "byte ordering");
      format = whole(head, 13, 6, "floating point format");
      if (format != 2) fail("only IEEE 754 numbers are read, not those of VAX (1) or IBM (3)");
      if (order != 1 && order != 2)
        fail("the byte ordering is neither 1 (little endian) nor 2 (big endian)");
    }
    for (std::string& id : f.id) id = trimmed(line());
    f.loc = {file_.name, line_ + 1, 1};
    std::string_view text = line();
    f.type = whole(text, 0, 5, "function type");
    f.number = whole(text, 5, 10, "function number");
    f.version = whole(text, 15, 5, "version");
    f.load_case = whole(text, 20, 10, "load case");
    const auto name = [&](size_t from) {
      const std::string_view w = trimmed(field(text, from, 10));
      return std::string(w == "NONE" ? "" : w);
    };
    f.response_name = name(31);
    f.response_node = whole(text, 41, 10, "response node");
    f.response_direction = whole(text, 51, 4, "response direction");
    f.reference_name = name(56);
    f.reference_node = whole(text, 66, 10, "reference node");
    f.reference_direction = whole(text, 76, 4, "reference direction");
    for (const int direction : {f.response_direction, f.reference_direction})
      if (std::abs(direction) > 6) fail(fmt::format("direction {} is not among -6 … 6", direction));
    text = line();
    const int data_type = whole(text, 0, 10, "ordinate data type"),
              count = whole(text, 10, 10, "number of values"),
              spacing = whole(text, 20, 10, "abscissa spacing");
    const double minimum = real(text, 30, 13, "abscissa minimum"),
                 step = real(text, 43, 13, "abscissa increment");
    f.z_value = real(text, 56, 13, "z-axis value");
    if (data_type != 2 && data_type != 4 && data_type != 5 && data_type != 6)
      fail(fmt::format("ordinate data type {} is not among 2, 4, 5, 6", data_type));
    if (count < 1) fail(fmt::format("{} values", count));
    f.is_complex = data_type >= 5;
    f.is_double = data_type == 4 || data_type == 6;
    f.even = spacing != 0;
    if (f.even && !(step > 0)) fail("the abscissa increment must be positive");
    f.abscissa = read_axis("abscissa");
    f.numerator = read_axis("ordinate numerator");
    f.denominator = read_axis("ordinate denominator");
    f.z_axis = read_axis("z-axis");
    const auto n = static_cast<size_t>(count);
    const size_t per_value = (f.even ? 0U : 1U) + (f.is_complex ? 2U : 1U);
    if (n > bytes_.size() - at_)
      fail(fmt::format("{} values are announced, the file has {} bytes left", count,
                       bytes_.size() - at_));
    const std::vector<double> values =
        binary_ ? binary_values(f, n, order == 2) : text_values(f, n, per_value);
    fill(f, values, minimum, step);
    file_.functions.push_back(std::move(f));
  }

  std::vector<double> text_values(const Function& f, size_t n, size_t per_value) {
    // Columns of a line as the definition has them; a value of uneven abscissa is not split over lines.
    std::vector<size_t> widths;
    if (!f.is_double)
      widths.assign(6, 13);
    else if (f.even)
      widths.assign(4, 20);
    else if (f.is_complex)
      widths = {13, 20, 20};
    else
      widths = {13, 20, 13, 20};
    std::vector<double> out;
    const size_t total = n * per_value;
    out.reserve(std::min(total, bytes_.size() - at_));
    while (out.size() < total) {
      if (at_mark()) fail(fmt::format("{} numbers are announced, {} are there", total, out.size()));
      const std::string_view text = line();
      std::vector<size_t> here = widths;
      here.resize(std::min(widths.size(), total - out.size()));
      row(text, here, out);
    }
    return out;
  }

  template <class Bits, class Real>
  Real binary_number(size_t at, bool big) const {
    Bits bits = 0;
    for (size_t i = 0; i < sizeof(Bits); ++i) {
      const auto byte = static_cast<unsigned char>(bytes_[at + i]);
      bits |= static_cast<Bits>(byte) << (8 * (big ? sizeof(Bits) - 1 - i : i));
    }
    return std::bit_cast<Real>(bits);
  }

  std::vector<double> binary_values(const Function& f, size_t n, bool big) {
    const size_t ordinates = f.is_complex ? 2 : 1, size = f.is_double ? 8 : 4;
    // An uneven abscissa of double values is single by the definition, double in files of some programs: what the end mark follows is right.
    std::vector<size_t> abscissae;
    if (f.even)
      abscissae = {0};
    else if (f.is_double)
      abscissae = {8, 4};
    else
      abscissae = {4};
    for (const size_t abscissa : abscissae) {
      const size_t stride = abscissa + ordinates * size;
      if (n > (bytes_.size() - at_) / stride) continue;
      size_t end = at_ + n * stride;
      if (end < bytes_.size() && bytes_[end] == '\r') ++end;
      if (end < bytes_.size() && bytes_[end] == '\n') ++end;
      if (!is_mark(bytes_.substr(
              std::min(end, bytes_.size()),
              std::min(bytes_.find('\n', end), bytes_.size()) - std::min(end, bytes_.size()))))
        continue;
      std::vector<double> out;
      out.reserve(n * (ordinates + 1));
      for (size_t i = 0, at = at_; i < n; ++i) {
        if (abscissa > 0) out.push_back(binary_real(at, abscissa, big));
        at += abscissa;
        for (size_t k = 0; k < ordinates; ++k, at += size)
          out.push_back(binary_real(at, size, big));
      }
      at_ = end;
      return out;
    }
    fail(fmt::format("{} binary values from byte {} on are not followed by a line \"    -1\"", n,
                     at_));
  }
  [[nodiscard]] double binary_real(size_t at, size_t size, bool big) const {
    return size == 8 ? binary_number<std::uint64_t, double>(at, big)
                     : static_cast<double>(binary_number<std::uint32_t, float>(at, big));
  }

  void fill(Function& f, const std::vector<double>& values, double minimum, double step) const {
    const size_t stride = (f.even ? 0U : 1U) + (f.is_complex ? 2U : 1U);
    const size_t n = values.size() / stride;
    const auto [length, force] = dimension(f.numerator);
    const auto [per_length, per_force] = dimension(f.denominator);
    const double scale = std::pow(length_factor(), length - per_length) *
                         std::pow(force_factor(), force - per_force);
    f.x.resize(static_cast<Eigen::Index>(n));
    f.y.resize(static_cast<Eigen::Index>(n));
    size_t k = 0;
    for (Eigen::Index i = 0; i < f.x.size(); ++i) {
      f.x(i) = f.even ? minimum + static_cast<double>(i) * step : values[k++];
      const double re = values[k++];
      const double im = f.is_complex ? values[k++] : 0;
      f.y(i) = std::complex<double>(re, im) / scale;
    }
  }

  // A file that says where its points are must say so of all that it measures at.
  void check_coordinates() {
    if (file_.nodes.empty()) return;
    std::set<int> known, told;
    for (const Node& n : file_.nodes) known.insert(n.label);
    const auto check = [&](int node, const Loc& loc) {
      if (node == 0 || known.contains(node) || !told.insert(node).second || told.size() > 20)
        return;
      notes_.warning(954, loc,
                     fmt::format("node {} has no coordinates: dataset 15 does not list it", node));
    };
    for (const Function& f : file_.functions) {
      check(f.response_node, f.loc);
      check(f.reference_node, f.loc);
    }
    for (const Shape& s : file_.shapes)
      for (const int node : s.nodes) check(node, s.loc);
  }

  std::string_view bytes_;
  size_t at_ = 0, byte_ = 0;
  int line_ = 0, start_ = 0, number_ = 0, datasets_ = 0;
  bool binary_ = false, outside_told_ = false;
  File file_;
  Diagnostics notes_;
  std::map<int, int> skipped_;
};

}  // namespace

Result<File> parse(std::string_view bytes, const std::string& name) {
  return Parser(bytes, name).run();
}

Result<File> read(const std::string& path) {
  const Result<std::string> bytes = read_bytes(path);
  if (!bytes) return bytes.diagnostics();
  return parse(*bytes, path);
}

}  // namespace panto::uff
