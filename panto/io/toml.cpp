#include "panto/io/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "panto/model/write_toml.hpp"

// toml++ 3.3 assumes in optimised builds what it asserts in others, and malformed text can break such an assumption ("[[[").
// Here it is compiled with its assertions on, as exceptions that become diagnostics.
namespace panto {
struct BrokenAssumption {};
[[noreturn]] static void broken_assumption() { throw BrokenAssumption{}; }
}  // namespace panto
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(condition) ((condition) ? void() : ::panto::broken_assumption())
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace panto {
namespace {

Loc loc_of(const toml::source_region& region, const std::string& file) {
  return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// One pass over the raw text that finds what must not reach the parser: control characters, brackets nested too deeply, and
// dotted keys with too many parts (each part is a table inside the one before).
class Screen {
 public:
  Screen(std::string_view text, const std::string& file, Diagnostics& out)
      : text_(text), file_(file), out_(out) {}

  bool good() {
    for (; p_ < text_.size(); ++p_) {
      const char c = text_[p_];
      if (c == '\n') {
        ++line_;
        line_start_ = p_ + 1;
        parts_ = 1;
      } else if (is_control(c)) {
        return fail(104, fmt::format("byte 0x{:02X} is not text; a model file is UTF-8 text",
                                     static_cast<unsigned char>(c)));
      } else if (c == '#') {
        skip_comment();
      } else if (c == '"' || c == '\'') {
        if (!skip_string(c)) return false;
      } else if (c == '[' || c == '{') {
        if (c == '[' && !header_good()) return fail(101, "expected a key after \"[\"");
        if (++depth_ > kMaxModelNesting) return too_deep();
        parts_ = 1;
      } else if (c == ']' || c == '}') {
        depth_ = std::max(depth_ - 1, 0);
        parts_ = 1;
      } else if (c == '.') {
        if (++parts_ > kMaxModelNesting) return too_deep();
      } else if (!is_key_character(c) && c != ' ' && c != '\t') {
        parts_ = 1;
      }
    }
    return true;
  }

 private:
  static bool is_control(char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') ||
           c == 0x7f;
  }
  bool fail(int id, std::string message) {
    out_.error(id, Loc{file_, line_, static_cast<int>(p_ - line_start_) + 1}, std::move(message));
    return false;
  }
  bool too_deep() {
    return fail(103, fmt::format("tables and lists are nested deeper than {}", kMaxModelNesting));
  }
  // A bracket at the start of a line, outside any list, opens a table header: [key] or [[key]].
  [[nodiscard]] bool header_good() const {
    const std::string_view before = text_.substr(line_start_, p_ - line_start_);
    if (depth_ > 0 || before.find_first_not_of(" \t") != std::string_view::npos) return true;
    size_t k = p_ + 1;
    if (k < text_.size() && text_[k] == '[') ++k;
    while (k < text_.size() && (text_[k] == ' ' || text_[k] == '\t')) ++k;
    if (k >= text_.size() || text_[k] == ']') return true;  // the parser knows
    return is_key_character(text_[k]) || text_[k] == '"' || text_[k] == '\'';
  }
  void skip_comment() {
    while (p_ + 1 < text_.size() && text_[p_ + 1] != '\n') ++p_;
  }
  // From an opening quote to its closing one; what is not closed is left to the parser.
  bool skip_string(char quote) {
    const std::string fence(3, quote);
    const bool multiline = text_.substr(p_, 3) == fence;
    p_ += multiline ? 3 : 1;
    for (; p_ < text_.size(); ++p_) {
      const char c = text_[p_];
      if (c == '\n') {
        if (!multiline) {
          --p_;  // the loop outside counts the line
          return true;
        }
        ++line_;
        line_start_ = p_ + 1;
      } else if (is_control(c)) {
        return fail(104, fmt::format("byte 0x{:02X} is not text; a model file is UTF-8 text",
                                     static_cast<unsigned char>(c)));
      } else if (c == '\\' && quote == '"') {
        if (p_ + 1 < text_.size() && text_[p_ + 1] != '\n') ++p_;
      } else if (c == quote) {
        if (!multiline) return true;
        if (text_.substr(p_, 3) == fence) {
          p_ += 2;
          while (p_ + 1 < text_.size() && text_[p_ + 1] == quote) ++p_;
          return true;
        }
      }
    }
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  Diagnostics& out_;
  size_t p_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
  int depth_ = 0;
  int parts_ = 1;
};

// "Error while parsing array: encountered end-of-file" as "encountered end-of-file (while reading an array)".
std::string readable(std::string_view description) {
  constexpr std::string_view kPrefix = "Error while parsing ";
  // The screen lets no control character through but the end of a line.
  if (description.find("control characters other than TAB") != std::string_view::npos) {
    return "the text has no closing quote on its line";
  }
  const size_t colon = description.find(": ");
  if (!description.starts_with(kPrefix) || colon == std::string_view::npos) {
    return std::string(description);
  }
  const std::string_view what = description.substr(kPrefix.size(), colon - kPrefix.size());
  return fmt::format("{} (while reading {})", description.substr(colon + 2), what);
}

class Converter {
 public:
  Converter(const std::string& file, Diagnostics& out) : file_(file), out_(out) {}

  Node node(const toml::node& in, int depth) {
    Node n;
    n.loc = loc_of(in.source(), file_);
    if (depth > kMaxModelNesting) {
      if (!reported_depth_) {
        out_.error(103, n.loc,
                   fmt::format("tables and lists are nested deeper than {}", kMaxModelNesting));
      }
      reported_depth_ = true;
      return n;
    }
    if (const auto* t = in.as_table()) {
      n.value = table(*t, depth);
    } else if (const auto* a = in.as_array()) {
      Node::Array items;
      items.reserve(a->size());
      for (const toml::node& item : *a) items.push_back(node(item, depth + 1));
      n.value = std::move(items);
    } else if (const auto* s = in.as_string()) {
      n.value = s->get();
    } else if (const auto* i = in.as_integer()) {
      n.value = i->get();
    } else if (const auto* d = in.as_floating_point()) {
      n.value = d->get();
    } else if (const auto* b = in.as_boolean()) {
      n.value = b->get();
    } else {
      out_.error(106, n.loc, "dates and times have no meaning in a model");
    }
    return n;
  }

  // The parser keeps tables sorted by key; the places of the keys restore the order of the file.
  Node::Table table(const toml::table& in, int depth) {
    Node::Table members;
    members.reserve(in.size());
    for (const auto& [key, value] : in) {
      Node member = node(value, depth + 1);
      member.key_loc = loc_of(key.source(), file_);
      members.emplace_back(std::string(key.str()), std::move(member));
    }
    std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
      const Loc& x = a.second.key_loc;
      const Loc& y = b.second.key_loc;
      return std::pair(x.line, x.column) < std::pair(y.line, y.column);
    });
    return members;
  }

 private:
  const std::string& file_;
  Diagnostics& out_;
  bool reported_depth_ = false;
};

}  // namespace

Result<ModelSpec> parse_model_text(std::string_view text, const std::string& file) {
  Diagnostics diagnostics;
  if (text.size() > kMaxModelBytes) {
    diagnostics.error(102, Loc{file, 0, 0},
                      fmt::format("the file has {} MB, the limit is {} MB", text.size() >> 20,
                                  kMaxModelBytes >> 20));
    return diagnostics;
  }
  if (!Screen(text, file, diagnostics).good()) return diagnostics;
  ModelSpec spec;
  spec.file = file;
  try {
    const toml::table parsed = toml::parse(text);
    spec.root = Converter(file, diagnostics).node(parsed, 0);
  } catch (const toml::parse_error& e) {
    diagnostics.error(101, loc_of(e.source(), file), readable(e.description()));
  } catch (const BrokenAssumption&) {
    diagnostics.error(101, Loc{file, 0, 0}, "the text cannot be read as TOML");
  }
  if (!diagnostics.ok()) return diagnostics;
  spec.source_text = text;
  return spec;
}

Result<ModelSpec> read_model_file(const std::string& path) {
  Diagnostics diagnostics;
  const auto refuse = [&](int id, const std::string& why) {
    diagnostics.error(id, Loc{path, 0, 0}, why);
    return diagnostics;
  };
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) return refuse(105, "the file does not exist");
  if (!std::filesystem::is_regular_file(path, failure)) return refuse(105, "not a regular file");
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure) return refuse(105, "the file cannot be read");
  if (size > kMaxModelBytes) {
    return refuse(102, fmt::format("the file has {} MB, the limit is {} MB", size >> 20,
                                   kMaxModelBytes >> 20));
  }
  std::ifstream in(path, std::ios::binary);
  std::string text(static_cast<size_t>(size), '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(size))) {
    return refuse(105, "the file cannot be read");
  }
  return parse_model_text(text, path);
}

std::string to_toml(const ModelSpec& spec) { return write_toml(spec.root); }

}  // namespace panto
