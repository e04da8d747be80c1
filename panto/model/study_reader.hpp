// Reads the tables of study files (what verbs take beside a model), with messages that name the table.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "panto/base/diagnostics.hpp"
#include "panto/base/units.hpp"
#include "panto/model/spec.hpp"

namespace panto {

// One table of the file, with what it is called in messages. Both must outlive it.
class StudyReader {
 public:
  StudyReader(const Node& node, std::string label, Diagnostics& out)
      : node_(node), label_(std::move(label)), out_(out) {}

  [[nodiscard]] const Node* find(std::string_view key) const { return node_.find(key); }
  [[nodiscard]] const Loc& loc() const { return node_.loc; }
  void error(int id, const Loc& at, const std::string& message) const;

  // Reports keys that are not among `known`; false where this is no table.
  bool keys(std::initializer_list<const char*> known) const;  // NOLINT(modernize-use-nodiscard)
  bool keys(const std::vector<std::string>& known) const;     // NOLINT(modernize-use-nodiscard)
  // A number, a quantity ("30 deg") or constant arithmetic ("5*pi/180") of this dimension; dim nullptr: any.
  bool quantity(const Node& node, const std::string& key, const Dim* dim,
                double& value) const;  // NOLINT(modernize-use-nodiscard)
  bool number(std::string_view key, const Dim* dim,
              double& value) const;  // NOLINT(modernize-use-nodiscard)
  // One number or a list of them; empty where the key is absent.
  [[nodiscard]] std::vector<double> numbers(std::string_view key, const Dim* dim) const;
  void whole(std::string_view key, int least, int& value) const;
  void flag(std::string_view key, bool& value) const;
  void seed(std::string_view key, std::uint64_t& value) const;
  // One of some words.
  template <class T>
  void choice(std::string_view key, std::initializer_list<std::pair<const char*, T>> words,
              T& value) const {
    const std::string* given = text(key);
    if (given == nullptr) return;
    std::vector<std::string> known;
    for (const auto& [word, meaning] : words) {
      if (*given == word) {
        value = meaning;
        return;
      }
      known.emplace_back(word);
    }
    unknown_word(key, *given, known);
  }
  [[nodiscard]] const std::string* text(std::string_view key) const;
  // One text or a list of them.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  // A list; nullptr with a message where the key holds something else.
  const Node::Array* list(std::string_view key,
                          const char* of) const;  // NOLINT(modernize-use-nodiscard)
  // name = number, where a dotted name without quotes is a table in a table.
  [[nodiscard]] std::vector<std::pair<std::string, double>> named(const Node& node,
                                                                  const std::string& key) const;
  // The table's own name, else its kind and number ("pose 1" for number 0).
  [[nodiscard]] std::string name(const char* kind, size_t number) const;
  // What `model` of a study file names; told where it is missing.
  [[nodiscard]] std::string model(const ModelSpec& file) const;
  // name = number, quantity or expression: settings of a model.
  [[nodiscard]] std::vector<Override> settings(std::string_view key) const;

 private:
  void unknown_word(std::string_view key, const std::string& given,
                    const std::vector<std::string>& known) const;
  void add_settings(const Node& node, const std::string& prefix, const std::string& key,
                    std::vector<Override>& out) const;
  const Node& node_;
  std::string label_;
  Diagnostics& out_;
};

}  // namespace panto
