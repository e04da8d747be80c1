#include "panto/model/csv_table.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

namespace panto {
namespace {

constexpr std::uintmax_t kMaxBytes = 256u << 20;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

// Cells of a line: the separator is a comma or semicolon where there is one, otherwise blanks.
std::vector<std::string_view> cells(std::string_view line) {
  std::vector<std::string_view> out;
  const char separator = line.find(';') != std::string_view::npos   ? ';'
                         : line.find(',') != std::string_view::npos ? ','
                                                                    : ' ';
  if (separator != ' ') {
    size_t start = 0;
    while (true) {
      const size_t end = line.find(separator, start);
      out.push_back(trimmed(line.substr(start, end - start)));
      if (end == std::string_view::npos) return out;
      start = end + 1;
    }
  }
  size_t p = 0;
  while (p < line.size()) {
    while (p < line.size() && is_blank(line[p])) ++p;
    const size_t start = p;
    while (p < line.size() && !is_blank(line[p])) ++p;
    if (p > start) out.push_back(line.substr(start, p - start));
  }
  return out;
}

std::optional<double> number(std::string_view cell) {
  if (!cell.empty() && cell.front() == '+') cell.remove_prefix(1);
  double value = 0;
  const auto [end, failure] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (failure != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

std::string column_name(std::string_view cell) {
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
    cell = cell.substr(1, cell.size() - 2);
  const size_t bracket = cell.find('[');
  if (bracket != std::string_view::npos && bracket > 0) cell = cell.substr(0, bracket);
  return std::string(trimmed(cell));
}

}  // namespace

Result<CsvTable> parse_csv_table(std::string_view text, const std::string& file) {
  CsvTable table;
  Diagnostics diagnostics;
  int line_number = 0;
  bool first = true;
  constexpr size_t kMaxReports = 20;  // of a file that is not a table at all
  while (!text.empty() && diagnostics.items().size() < kMaxReports) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++line_number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::vector<std::string_view> row = cells(line);
    if (first) {
      first = false;
      table.columns.resize(row.size());
      if (!number(row[0])) {
        for (const std::string_view cell : row) table.names.push_back(column_name(cell));
        continue;
      }
    }
    if (row.size() != table.columns.size()) {
      diagnostics.error(
          602, Loc{file, line_number, 1},
          fmt::format("{} columns, the first line has {}", row.size(), table.columns.size()));
      continue;
    }
    for (size_t i = 0; i < row.size(); ++i) {
      const auto value = number(row[i]);
      if (!value || !std::isfinite(*value)) {
        diagnostics.error(602,
                          Loc{file, line_number, static_cast<int>(row[i].data() - line.data()) + 1},
                          fmt::format("\"{}\" is not a finite number", row[i].substr(0, 40)));
      }
      table.columns[i].push_back(value.value_or(0));
    }
  }
  if (diagnostics.ok() && (table.columns.empty() || table.columns[0].empty())) {
    diagnostics.error(602, Loc{file, 0, 0}, "the file holds no numbers");
  }
  if (!diagnostics.ok()) return diagnostics;
  return table;
}

Result<CsvTable> read_csv_table(const std::string& path) {
  Diagnostics diagnostics;
  std::error_code failure;
  const auto refuse = [&](const std::string& why) {
    diagnostics.error(601, Loc{path, 0, 0}, why);
    return diagnostics;
  };
  if (!std::filesystem::exists(path, failure)) return refuse("the file does not exist");
  if (!std::filesystem::is_regular_file(path, failure)) return refuse("not a regular file");
  if (std::filesystem::file_size(path, failure) > kMaxBytes || failure) {
    return refuse("the file is larger than 256 MB");
  }
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) return refuse("the file cannot be read");
  return parse_csv_table(text, path);
}

}  // namespace panto
