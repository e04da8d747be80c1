// Comma-separated tables of numbers (RFC 4180). The header gives name and unit of each column, `theta [rad]`; lines that start with '#'
// before the header are comments. An empty cell is "no value" (NaN). Where the header has semicolons and no comma, they part the cells and numbers
// may have a decimal comma.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "panto/base/diagnostics.hpp"

namespace panto {

struct SeriesColumn {
  std::string name, unit;  // unit empty: not given
  std::vector<double> values;
  std::vector<std::string> texts{};  // in place of values, of a column of words
};

struct SeriesTable {
  std::vector<SeriesColumn> columns;
  std::vector<std::string> comments;  // without the leading '#' and blanks
  std::vector<int> lines;             // of the rows that were read

  [[nodiscard]] size_t rows() const {
    return columns.empty() ? 0
                           : std::max(columns.front().values.size(), columns.front().texts.size());
  }
  // Index of a column by name; -1 if there is none.
  [[nodiscard]] int find(std::string_view name) const;
};

// Numbers with 17 significant digits, NaN as an empty cell, lines ended by CR LF as the standard has it.
std::string csv_text(const SeriesTable& table);

// A damaged table (E0623: a cell that is no number, E0624: a row of the wrong length, as at the end of a truncated file) yields the rows
// before the damage and a warning; without a usable header or row there is none (E0625). A column named `words` holds texts.
Result<SeriesTable> parse_csv(std::string_view text, const std::string& file,
                              std::string_view words = {});
Result<SeriesTable> read_csv(const std::string& path);

}  // namespace panto
