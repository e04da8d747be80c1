// JSON for programs that read our standard output: numbers with 17 significant digits, NaN and infinities as null.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace panto::cli {

// Builds one document from the outside in; the caller pairs begin and end.
class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);

  JsonWriter& value(double number);
  JsonWriter& value(long number);
  JsonWriter& value(int number) { return value(static_cast<long>(number)); }
  JsonWriter& value(bool flag);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(std::span<const double> numbers);
  JsonWriter& value(const std::vector<double>& numbers) {
    return value(std::span<const double>(numbers));
  }
  JsonWriter& value(std::span<const std::string> texts);
  JsonWriter& value(const std::vector<std::string>& texts) {
    return value(std::span<const std::string>(texts));
  }

  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    key(name);
    return value(v);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void separate();
  void quoted(std::string_view text);
  std::string text_;
  bool first_ = true;
};

}  // namespace panto::cli
