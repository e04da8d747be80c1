// libFuzzer target: no text makes the reader, the compiler or the writers of models crash. Built and run by tools/fuzz.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "panto/io/csv.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"
#include "panto/model/copy_back.hpp"
#include "panto/model/csv_table.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("#csv")) {
    (void)panto::parse_csv_table(text, "fuzz.csv");
    const auto table = panto::parse_csv(text.substr(4), "fuzz.csv");
    (void)table.diagnostics().text();
    if (!table) return 0;
    // What was read can be written, and reads back as the same table.
    const auto back = panto::parse_csv(panto::csv_text(*table), "again.csv");
    if (!back || back->rows() != table->rows() || back->columns.size() != table->columns.size())
      std::abort();
    return 0;
  }
  const auto spec = panto::parse_model_text(text, "fuzz.toml");
  (void)spec.diagnostics().text();
  if (!spec) return 0;
  const auto model = panto::compile(*spec);
  (void)model.diagnostics().text();
  if (!model) return 0;
  // What compiles can be written, and reads back as the same text.
  const panto::Params theta = panto::nominal(*model);
  if (panto::copy_back(*spec, *model, theta) != text) std::abort();
  const auto again = panto::parse_model_text(panto::to_toml(*spec), "again.toml");
  if (!again || !panto::compile(*again)) std::abort();
  return 0;
}
