#include "panto/base/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace panto {

std::string to_string(const Diagnostic& d) {
  const char* word = d.severity == Severity::kError ? "error" : "warning";
  const char letter = d.severity == Severity::kError ? 'E' : 'W';
  std::string place = d.loc.file;
  if (d.loc.line > 0) place += fmt::format(":{}:{}", d.loc.line, d.loc.column);
  if (!place.empty()) place += ": ";
  return fmt::format("{}{}[{}{:04}]: {}", place, word, letter, d.id, d.message);
}

void Diagnostics::error(int id, const Loc& loc, std::string message) {
  items_.push_back({Severity::kError, id, loc, std::move(message)});
  ++errors_;
}

void Diagnostics::warning(int id, const Loc& loc, std::string message) {
  items_.push_back({Severity::kWarning, id, loc, std::move(message)});
}

void Diagnostics::append(const Diagnostics& other) {
  items_.insert(items_.end(), other.items_.begin(), other.items_.end());
  errors_ += other.errors_;
}

std::string Diagnostics::text() const {
  // Files in the order of their first finding.
  std::map<std::string_view, size_t> rank;
  for (const Diagnostic& d : items_) rank.emplace(d.loc.file, rank.size());
  std::vector<const Diagnostic*> sorted;
  for (const Diagnostic& d : items_) sorted.push_back(&d);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Diagnostic* a, const Diagnostic* b) {
    return std::tuple(rank[a->loc.file], a->loc.line, a->loc.column) <
           std::tuple(rank[b->loc.file], b->loc.line, b->loc.column);
  });
  std::string out;
  for (const Diagnostic* d : sorted) out += to_string(*d) + "\n";
  return out;
}

namespace {

// Insertions, deletions, substitutions and exchanges of neighbours, one each.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({substitute, row[j] + 1, next[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        next[j] = std::min(next[j], before[j - 2] + 1);
      }
    }
    std::swap(before, row);
    std::swap(row, next);
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  if (word.size() > 64) return std::nullopt;
  std::optional<std::string> best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& c : candidates) {
    if (c.size() > 64) continue;
    const size_t d = edit_distance(word, c);
    if (d < best_distance) {
      best_distance = d;
      best = c;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto n = nearest(word, candidates);
  return n ? fmt::format("; did you mean \"{}\"?", *n) : std::string();
}

}  // namespace panto
