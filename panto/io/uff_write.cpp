#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "panto/io/atomic_file.hpp"
#include "panto/io/uff.hpp"

namespace panto::uff {
namespace {

std::string fixed(const std::string& text, size_t width) {
  std::string out = text.empty() ? "NONE" : text.substr(0, width);
  out.resize(width, ' ');
  return out;
}

void begin(std::string& out, int number) {
  fmt::format_to(std::back_inserter(out), "    -1\n{:6}\n", number);
}
void end(std::string& out) { out += "    -1\n"; }

void lines(std::string& out, const std::array<std::string, 5>& id) {
  for (const std::string& text : id) out += fixed(text, 80) + "\n";
}

void add_header(std::string& out, const Header& h) {
  begin(out, 151);
  for (const std::string& text : {h.model, h.description, h.creator}) out += fixed(text, 80) + "\n";
  // No dates: equal files have equal bytes.
  out += fmt::format("{:10}{:10}{:10}{:10}{:10}\n", "", "", 0, 0, 0);
  out += fmt::format("{:20}\n", "");
  out += fixed(h.written_by, 80) + "\n";
  out += fmt::format("{:20}\n", "");
  end(out);
}

std::string d25(double value) {
  std::string text = fmt::format("{:25.17E}", value);
  text[text.find('E')] = 'D';
  return text;
}

void add_units(std::string& out) {
  const Units u;
  begin(out, 164);
  std::string description = u.description;
  description.resize(20, ' ');
  out += fmt::format("{:10}{}{:10}\n", u.code, description, u.temperature_mode);
  out +=
      d25(u.length) + d25(u.force) + d25(u.temperature) + "\n" + d25(u.temperature_offset) + "\n";
  end(out);
}

void add_nodes(std::string& out, const std::vector<Node>& nodes) {
  if (nodes.empty()) return;
  begin(out, 15);
  for (const Node& n : nodes)
    out +=
        fmt::format("{:10}{:10}{:10}{:10}{:13.5E}{:13.5E}{:13.5E}\n", n.label, n.definition_system,
                    n.displacement_system, n.color, n.position.x(), n.position.y(), n.position.z());
  end(out);
}

void add_trace(std::string& out, const Trace& t) {
  begin(out, 82);
  out += fmt::format("{:10}{:10}{:10}\n", t.number, t.nodes.size(), t.color);
  out += fixed(t.name, 80) + "\n";
  for (size_t i = 0; i < t.nodes.size(); ++i) {
    out += fmt::format("{:10}", t.nodes[i]);
    if (i % 8 == 7 || i + 1 == t.nodes.size()) out += "\n";
  }
  end(out);
}

// Numbers of 13 columns, six to a line.
void add_numbers(std::string& out, const std::vector<double>& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    out += fmt::format("{:13.5E}", numbers[i]);
    if (i % 6 == 5 || i + 1 == numbers.size()) out += "\n";
  }
}

void add_shape(std::string& out, const Shape& s) {
  begin(out, 55);
  lines(out, s.id);
  out += fmt::format("{:10}{:10}{:10}{:10}{:10}{:10}\n", s.model_type, s.analysis_type,
                     s.characteristic, s.specific_type, s.is_complex ? 5 : 2, s.values.cols());
  out += fmt::format("{:10}{:10}", s.integers.size(), s.reals.size());
  for (size_t i = 0; i < s.integers.size(); ++i) {
    if (i + 2 > 7 && (i + 2) % 8 == 0) out += "\n";
    out += fmt::format("{:10}", s.integers[i]);
  }
  out += "\n";
  add_numbers(out, s.reals);
  for (size_t i = 0; i < s.nodes.size(); ++i) {
    out += fmt::format("{:10}\n", s.nodes[i]);
    std::vector<double> row;
    for (Eigen::Index j = 0; j < s.values.cols(); ++j) {
      const std::complex<double> value = s.values(static_cast<Eigen::Index>(i), j);
      row.push_back(value.real());
      if (s.is_complex) row.push_back(value.imag());
    }
    add_numbers(out, row);
  }
  end(out);
}

void add_axis(std::string& out, const Axis& a) {
  out +=
      fmt::format("{:10}{:5}{:5}{:5} {} {}\n", a.specific_type, a.length_exponent, a.force_exponent,
                  a.temperature_exponent, fixed(a.label, 20), fixed(a.unit, 20));
}

void add_binary(std::string& out, double value, bool big) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned i = 0; i < 8; ++i)
    out += static_cast<char>(bits >> (8 * (big ? 7 - i : i)) & 0xFFU);
}

void add_function(std::string& out, const Function& f, Format format) {
  const auto n = static_cast<size_t>(f.y.size());
  const size_t per_value = (f.even ? 0U : 1U) + (f.is_complex ? 2U : 1U);
  const bool binary = format != Format::kText, big = format == Format::kBigEndian;
  out += "    -1\n    58";
  if (binary)
    out += fmt::format("b{:6}{:6}{:12}{:12}{:6}{:6}{:12}{:12}", big ? 2 : 1, 2, 11,
                       8 * n * per_value, 0, 0, 0, 0);
  out += "\n";
  lines(out, f.id);
  out += fmt::format("{:5}{:10}{:5}{:10} {}{:10}{:4} {}{:10}{:4}\n", f.type, f.number, f.version,
                     f.load_case, fixed(f.response_name, 10), f.response_node, f.response_direction,
                     fixed(f.reference_name, 10), f.reference_node, f.reference_direction);
  const double first = f.even && n > 0 ? f.x(0) : 0;
  const double step =
      f.even && n > 1 ? (f.x(f.x.size() - 1) - f.x(0)) / static_cast<double>(n - 1) : 0;
  out += fmt::format("{:10}{:10}{:10}{:13.5E}{:13.5E}{:13.5E}\n", f.is_complex ? 6 : 4, n,
                     f.even ? 1 : 0, first, f.even && n < 2 ? 1 : step, f.z_value);
  add_axis(out, f.abscissa);
  add_axis(out, f.numerator);
  add_axis(out, f.denominator);
  add_axis(out, f.z_axis);
  // Widths and numbers per line as the definition has them for doubles.
  const size_t per_line = f.even ? 4 : (f.is_complex ? 3 : 4);
  size_t k = 0;
  const auto add = [&](double value, bool abscissa) {
    if (binary) return add_binary(out, value, big);
    out += abscissa ? fmt::format("{:13.5E}", value) : fmt::format("{:20.12E}", value);
    if (++k % per_line == 0 || k == n * per_value) out += "\n";
  };
  for (Eigen::Index i = 0; i < f.y.size(); ++i) {
    if (!f.even) add(f.x(i), true);
    add(f.y(i).real(), false);
    if (f.is_complex) add(f.y(i).imag(), false);
  }
  end(out);
}

}  // namespace

std::string text(const File& file, Format format) {
  std::string out;
  if (file.header) add_header(out, *file.header);
  add_units(out);
  add_nodes(out, file.nodes);
  for (const Trace& t : file.traces) add_trace(out, t);
  for (const Shape& s : file.shapes) add_shape(out, s);
  for (const Function& f : file.functions) add_function(out, f, format);
  return out;
}

Diagnostics write(const File& file, const std::string& path, Format format) {
  return write_text_atomically(path, text(file, format));
}

}  // namespace panto::uff
