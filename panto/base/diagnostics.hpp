// Bad input is answered with diagnostics: every finding, each with its place in the file, a stable
// id and a remedy.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace panto {

// A place in a text file; line and column count from 1, 0 means unknown.
struct Loc {
  std::string file;
  int line = 0;
  int column = 0;
};

enum class Severity { kError, kWarning };

// Ids are documented in docs/errors.md; the hundreds digit groups them:
// 1xx syntax and types, 2xx names and references, 3xx numbers and units, 4xx structure, 5xx
// assembly, 6xx data files.
struct Diagnostic {
  Severity severity = Severity::kError;
  int id = 0;
  Loc loc;
  std::string message;
};

// `arm.toml:42:8: error[E0207]: joint "elbow": ...`
std::string to_string(const Diagnostic& d);

class Diagnostics {
 public:
  void error(int id, const Loc& loc, std::string message);
  void warning(int id, const Loc& loc, std::string message);
  void append(const Diagnostics& other);
  [[nodiscard]] bool ok() const { return errors_ == 0; }
  [[nodiscard]] const std::vector<Diagnostic>& items() const { return items_; }
  // One line per diagnostic, in file order; files in the order of their first finding.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Diagnostic> items_;
  int errors_ = 0;
};

// A value, or the diagnostics that explain why there is none. Warnings may accompany a value.
template <class T>
class Result {
 public:
  Result(T value, Diagnostics notes = {})
      : value_(std::move(value)), notes_(std::move(notes)) {}  // NOLINT
  Result(Diagnostics errors) : notes_(std::move(errors)) {}    // NOLINT
  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  [[nodiscard]] const Diagnostics& diagnostics() const { return notes_; }

 private:
  std::optional<T> value_;
  Diagnostics notes_;
};

// The candidate nearest to `word` in edit distance, if near enough to be a likely slip of the
// keyboard.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);
// `; did you mean "forearm"?`, or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace panto
