#include "panto/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "panto/io/atomic_file.hpp"

namespace panto {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos && !text.starts_with('#')) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct Cell {
  std::string text;
  int column = 1;  // in the line where it starts, from 1
};

// Splits records; a quoted cell may contain commas, quotes and line ends.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return text_[at_]; }
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] char separator() const { return separator_; }
  // Decided by the line that comes next, the header.
  void choose_separator() {
    const std::string_view line = text_.substr(at_, text_.find_first_of("\r\n", at_) - at_);
    separator_ =
        line.find(';') != std::string_view::npos && line.find(',') == std::string_view::npos ? ';'
                                                                                             : ',';
  }

  std::string_view rest_of_line() {
    const size_t end = std::min(text_.find_first_of("\r\n", at_), text_.size());
    const std::string_view out = text_.substr(at_, end - at_);
    at_ = end;
    line_end();
    return out;
  }

  // The cells of the next record. `complete` is false when the text ends before the record's line does.
  std::vector<Cell> record(bool& complete) {
    std::vector<Cell> cells;
    const size_t start = at_;
    for (;;) {
      Cell cell;
      cell.column = static_cast<int>(at_ - start) + 1;
      complete = cell_text(cell.text);
      cells.push_back(std::move(cell));
      if (!at_end() && peek() == separator_) {
        ++at_;
        continue;
      }
      complete = complete && !at_end();
      line_end();
      return cells;
    }
  }

 private:
  bool cell_text(std::string& out) {
    if (!at_end() && peek() == '"') {
      for (++at_; !at_end(); ++at_) {
        if (peek() == '\n') ++line_;
        if (peek() != '"') {
          out += peek();
        } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
          out += '"';
          ++at_;
        } else {
          ++at_;
          break;
        }
      }
      if (at_end()) return false;
    }
    const char ends[] = {separator_, '\r', '\n', '\0'};
    const size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
    out += text_.substr(at_, end - at_);
    at_ = end;
    return true;
  }

  void line_end() {
    if (!at_end() && peek() == '\r') ++at_;
    if (!at_end() && peek() == '\n') ++at_;
    ++line_;
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  char separator_ = ',';
};

std::optional<double> number(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error != std::errc()) return std::nullopt;
  return value;
}

SeriesColumn header_column(std::string_view text) {
  text = trimmed(text);
  const size_t open = text.rfind('[');
  if (open != std::string_view::npos && text.back() == ']')
    return {std::string(trimmed(text.substr(0, open))),
            std::string(trimmed(text.substr(open + 1, text.size() - open - 2))),
            {}};
  return {std::string(text), "", {}};
}

}  // namespace

int SeriesTable::find(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name) return static_cast<int>(i);
  return -1;
}

std::string csv_text(const SeriesTable& table) {
  std::string out;
  for (const std::string& comment : table.comments) out += fmt::format("# {}\r\n", comment);
  for (size_t j = 0; j < table.columns.size(); ++j) {
    const SeriesColumn& c = table.columns[j];
    if (j > 0) out += ',';
    out += quoted(c.unit.empty() ? c.name : fmt::format("{} [{}]", c.name, c.unit));
  }
  out += "\r\n";
  const size_t rows = table.rows();
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < table.columns.size(); ++j) {
      if (j > 0) out += ',';
      const SeriesColumn& c = table.columns[j];
      if (!c.texts.empty())
        out += quoted(c.texts[i]);
      else if (!std::isnan(c.values[i]))
        fmt::format_to(std::back_inserter(out), "{:.17g}", c.values[i]);
    }
    out += "\r\n";
  }
  return out;
}

Result<SeriesTable> parse_csv(std::string_view text, const std::string& file,
                              std::string_view words) {
  Diagnostics notes;
  SeriesTable table;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  Reader reader(text);
  while (!reader.at_end() &&
         (reader.peek() == '#' || reader.peek() == '\n' || reader.peek() == '\r')) {
    const std::string_view line = reader.rest_of_line();
    if (!line.empty()) table.comments.emplace_back(trimmed(line.substr(1)));
  }
  bool complete = true;
  const auto without_table = [&](int line, const std::string& message) {
    Diagnostics errors;
    errors.error(625, {file, line, 1}, message);
    return errors;
  };
  if (reader.at_end()) return without_table(reader.line(), "the table is empty: no header line");
  const int header_line = reader.line();
  reader.choose_separator();
  for (const Cell& cell : reader.record(complete)) {
    SeriesColumn column = header_column(cell.text);
    if (column.name.empty() || cell.text.find('\0') != std::string::npos)
      return without_table(header_line, "the header line must name every column");
    if (number(column.name))
      return without_table(
          header_line,
          fmt::format("the first line must name the columns, found the number {}", column.name));
    if (table.find(column.name) >= 0)
      return without_table(header_line, fmt::format("two columns are named \"{}\"", column.name));
    table.columns.push_back(std::move(column));
  }

  std::vector<double> values(table.columns.size());
  while (!reader.at_end()) {
    const int line = reader.line();
    std::vector<Cell> cells = reader.record(complete);
    if (cells.size() == 1 && trimmed(cells[0].text).empty() && table.columns.size() > 1) continue;
    if (cells.size() != table.columns.size()) {
      notes.warning(
          624, {file, line, 1},
          fmt::format("{} cells where the header has {}: the table ends here with {} rows",
                      cells.size(), table.columns.size(), table.rows()));
      break;
    }
    bool good = true;
    for (size_t j = 0; j < cells.size() && good; ++j) {
      if (!words.empty() && table.columns[j].name == words) continue;
      if (reader.separator() == ';')
        std::replace(cells[j].text.begin(), cells[j].text.end(), ',', '.');
      const auto value = number(cells[j].text);
      if (!value) {
        notes.warning(623, {file, line, cells[j].column},
                      fmt::format("column \"{}\": \"{:.40}\" is not a number: the table ends here "
                                  "with {} rows",
                                  table.columns[j].name, cells[j].text, table.rows()));
        good = false;
      } else {
        values[j] = *value;
      }
    }
    if (!good) break;
    table.lines.push_back(line);
    for (size_t j = 0; j < cells.size(); ++j) {
      if (!words.empty() && table.columns[j].name == words) {
        table.columns[j].texts.emplace_back(trimmed(cells[j].text));
      } else {
        table.columns[j].values.push_back(values[j]);
      }
    }
  }
  if (table.rows() == 0) {
    Diagnostics errors = without_table(header_line, "the table has no row of numbers");
    errors.append(notes);
    return errors;
  }
  return {std::move(table), notes};
}

Result<SeriesTable> read_csv(const std::string& path) {
  const Result<std::string> bytes = read_bytes(path);
  if (!bytes.ok()) return bytes.diagnostics();
  return parse_csv(*bytes, path);
}

}  // namespace panto
