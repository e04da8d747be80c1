// libFuzzer target: no text makes the readers of models, tables, universal files and modal tables, the compiler or the writers crash. Built and run by tools/fuzz.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "panto/io/csv.hpp"
#include "panto/io/frequency_data.hpp"
#include "panto/io/modal_test.hpp"
#include "panto/io/toml.hpp"
#include "panto/io/uff.hpp"
#include "panto/model/compile.hpp"
#include "panto/model/copy_back.hpp"
#include "panto/model/csv_table.hpp"

namespace {

// What was read can be written, and reads back with as many items.
void check_uff(const std::string& text) {
  const auto file = panto::uff::parse(text, "fuzz.uff");
  (void)file.diagnostics().text();
  if (!file) return;
  (void)panto::frequency_data(*file).diagnostics().text();
  (void)panto::modal_test(*file).diagnostics().text();
  for (const auto format : {panto::uff::Format::kLittleEndian, panto::uff::Format::kBigEndian}) {
    const auto back = panto::uff::parse(panto::uff::text(*file, format), "again.uff");
    if (!back || back->functions.size() != file->functions.size() ||
        back->shapes.size() != file->shapes.size())
      std::abort();
  }
}

void check_modal(const std::string& text, bool csv) {
  const auto test =
      csv ? panto::parse_modal_csv(text, "fuzz.csv") : panto::parse_modal_toml(text, "fuzz.toml");
  (void)test.diagnostics().text();
  if (!test) return;
  const auto back = csv ? panto::parse_modal_csv(panto::modal_csv(*test), "again.csv")
                        : panto::parse_modal_toml(panto::modal_toml(*test), "again.toml");
  if (!back || back->modes.size() != test->modes.size() ||
      back->points.size() != test->points.size())
    std::abort();
}

}  // namespace

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
  if (text.starts_with("#uff")) return check_uff(text.substr(4)), 0;
  if (text.starts_with("#modes") && text.size() > 7)
    return check_modal(text.substr(7), text[6] == 'c'), 0;
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
