#include "panto/io/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "panto/io/atomic_file.hpp"

namespace panto {
namespace {

constexpr long kMostRows = 20'000'000;

// Words of a text, line by line.
class Lines {
 public:
  explicit Lines(const std::string& text) : text_(text) {}
  bool next() {
    if (at_ >= text_.size()) return false;
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = std::string_view(text_).substr(at_, end - at_);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    at_ = end + 1;
    ++number_;
    return true;
  }
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] int number() const { return number_; }

 private:
  const std::string& text_;
  std::string_view line_;
  size_t at_ = 0;
  int number_ = 0;
};

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  size_t at = 0;
  while ((at = line.find_first_not_of(" \t", at)) != std::string_view::npos) {
    const size_t end = std::min(line.find_first_of(" \t", at), line.size());
    out.push_back(line.substr(at, end - at));
    at = end;
  }
  return out;
}

template <class T>
bool parse(std::string_view word, T& value) {
  if (word.starts_with('+')) word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

std::string lower(std::string_view word) {
  std::string out(word);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

Result<MatrixFile> read_matrix_market(const std::string& path) {
  const Result<std::string> bytes = read_bytes(path);
  if (!bytes) return bytes.diagnostics();
  Diagnostics out;
  Lines lines(*bytes);
  const auto refuse = [&](const std::string& message) {
    out.error(916, {path, lines.number(), 1}, message);
    return out;
  };
  if (!lines.next()) return refuse("the file is empty; a Matrix Market file is expected");
  const auto head = words(lines.line());
  if (head.size() != 5 || head[0] != "%%MatrixMarket" || lower(head[1]) != "matrix")
    return refuse("expected \"%%MatrixMarket matrix coordinate real symmetric\"");
  const std::string format = lower(head[2]), field = lower(head[3]), symmetry = lower(head[4]);
  if (format != "coordinate" && format != "array")
    return refuse(fmt::format("format \"{}\" is not one of coordinate, array", format));
  if (field != "real" && field != "integer" && field != "double")
    return refuse(fmt::format("field \"{}\": real matrices are needed", field));
  if (symmetry != "general" && symmetry != "symmetric")
    return refuse(
        fmt::format("\"{}\" matrices are not read; general or symmetric ones are", symmetry));
  const bool coordinate = format == "coordinate", symmetric = symmetry == "symmetric";
  MatrixFile file;
  std::vector<long> size;
  while (size.empty() && lines.next()) {
    const std::string_view line = lines.line();
    if (line.starts_with("%dof ")) file.names.emplace_back(line.substr(5));
    if (line.starts_with('%') || words(line).empty()) continue;
    for (const std::string_view word : words(line)) {
      long number = -1;
      if (!parse(word, number) || number < 0)
        return refuse(fmt::format("\"{}\" is not a size", word));
      size.push_back(number);
    }
  }
  if (size.size() != (coordinate ? 3 : 2))
    return refuse(coordinate ? "expected rows, columns and number of entries"
                             : "expected rows and columns");
  const long rows = size[0], columns = size[1];
  if (rows < 1 || columns < 1 || rows > kMostRows || columns > kMostRows)
    return refuse(
        fmt::format("{} rows and {} columns: from 1 to {} are read", rows, columns, kMostRows));
  if (symmetric && rows != columns) return refuse("a symmetric matrix is square");
  if (!file.names.empty() && static_cast<long>(file.names.size()) != rows)
    return refuse(fmt::format("{} names of {} rows", file.names.size(), rows));
  if (!coordinate && rows > kMostRows / columns)
    return refuse("an array of this size is not read: use the coordinate format");
  const long expected = coordinate ? size[2] : symmetric ? rows * (rows + 1) / 2 : rows * columns;
  std::vector<Eigen::Triplet<double, Eigen::Index>> entries;
  // Not more than the file can hold.
  entries.reserve(std::min(static_cast<size_t>(expected), bytes->size() / 2));
  const auto add = [&](long i, long j, double value) {
    entries.emplace_back(i, j, value);
    if (symmetric && i != j) entries.emplace_back(j, i, value);
  };
  long count = 0, row = 0, column = 0;
  bool lower_part = false, upper_part = false;
  while (lines.next()) {
    const auto word = words(lines.line());
    if (word.empty() || lines.line().starts_with('%')) continue;
    if (++count > expected)
      return refuse(fmt::format("more than the {} entries announced", expected));
    double value = 0;
    if (coordinate) {
      long i = 0, j = 0;
      if (word.size() != 3 || !parse(word[0], i) || !parse(word[1], j) || !parse(word[2], value) ||
          !std::isfinite(value))
        return refuse("expected row, column and value");
      if (i < 1 || j < 1 || i > rows || j > columns)
        return refuse(fmt::format("entry ({}, {}) of a matrix of {} x {}", i, j, rows, columns));
      lower_part = lower_part || i > j;
      upper_part = upper_part || i < j;
      if (symmetric && lower_part && upper_part)
        return refuse(
            fmt::format("entry ({}, {}): a file that says symmetric holds one triangle, this one "
                        "holds entries of both; say general",
                        i, j));
      add(i - 1, j - 1, value);
      continue;
    }
    if (word.size() != 1 || !parse(word[0], value) || !std::isfinite(value))
      return refuse("expected one value");
    if (value != 0) add(row, column, value);
    if (++row == rows) {
      ++column;
      row = symmetric ? column : 0;
    }
  }
  if (count != expected)
    return refuse(fmt::format("{} of {} entries: the file is cut off", count, expected));
  file.matrix.resize(rows, columns);
  file.matrix.setFromTriplets(entries.begin(), entries.end());
  return file;
}

Diagnostics write_matrix_market(const SparseMatrix& matrix, bool symmetric,
                                const std::vector<std::string>& names, const std::string& path) {
  fmt::memory_buffer text;
  long count = 0;
  const auto each = [&](const auto& visit) {
    for (Eigen::Index j = 0; j < matrix.outerSize(); ++j)
      for (SparseMatrix::InnerIterator i(matrix, j); i; ++i)
        if (!symmetric || i.row() >= j) visit(i.row(), j, i.value());
  };
  each([&](auto, auto, double) { ++count; });
  fmt::format_to(std::back_inserter(text), "%%MatrixMarket matrix coordinate real {}\n",
                 symmetric ? "symmetric" : "general");
  for (const std::string& name : names) fmt::format_to(std::back_inserter(text), "%dof {}\n", name);
  fmt::format_to(std::back_inserter(text), "{} {} {}\n", matrix.rows(), matrix.cols(), count);
  each([&](Eigen::Index i, Eigen::Index j, double value) {
    fmt::format_to(std::back_inserter(text), "{} {} {:.17g}\n", i + 1, j + 1, value);
  });
  return write_text_atomically(path, {text.data(), text.size()});
}

}  // namespace panto
