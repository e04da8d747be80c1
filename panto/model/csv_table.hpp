// Tables of numbers from text files.
#pragma once

#include <string>
#include <vector>

#include "panto/base/diagnostics.hpp"

namespace panto {

struct CsvTable {
  std::vector<std::string> names;            // of the columns; empty: the file has no header
  std::vector<std::vector<double>> columns;  // all of one length
};

// Columns separated by commas, semicolons, blanks or tabs; '#' starts a comment; the first line may hold names (quotes and a
// trailing unit in brackets are dropped: "time [s]" is "time"). Files above 256 MB, files that are not regular, ragged rows
// and numbers that are not finite are refused: E0601 … E0603.
Result<CsvTable> read_csv_table(const std::string& path);
Result<CsvTable> parse_csv_table(std::string_view text, const std::string& file);

}  // namespace panto
