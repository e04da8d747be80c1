#include "panto/model/schema.hpp"

#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"

namespace panto::cli {

void add_schema(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand("schema", "JSON Schema of the model file, for editors");
  verb->group("Models");
  verb->footer(
      "Example:\n"
      "  panto schema > model.schema.json");
  verb->callback([&exit_code] {
    out(json_schema());
    exit_code = kOk;
  });
}

}  // namespace panto::cli
