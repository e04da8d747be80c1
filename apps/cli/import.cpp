#include <fmt/format.h>

#include <memory>

#include "apps/cli/json.hpp"
#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"

namespace panto::cli {
namespace {

struct Arguments {
  std::string file, out;
  bool json = false;
};

int import_verb(const Arguments& a) {
  const Result<ModelSpec> spec = load_spec(a.file);
  Diagnostics notes = spec.diagnostics();
  if (!spec.ok()) return fail(notes, a.json);
  note(fmt::format("read {}", spec->file));
  const Result<Model> model = compile(*spec);
  notes.append(model.diagnostics());
  if (!model.ok()) return fail(notes, a.json);
  const std::string text = to_toml(*spec);
  if (!a.out.empty()) notes.append(write_text_atomically(a.out, text));
  if (!notes.ok()) return fail(notes, a.json);
  print(notes);
  if (a.json) {
    JsonWriter json;
    json.begin_object()
        .member("model", model->name)
        .member("bodies", model->n_bodies())
        .member("coordinates", model->nq)
        .member("text", text)
        .end_object();
    out(json.text() + "\n");
  } else if (a.out.empty()) {
    out(text);
  } else {
    summary(fmt::format("{}: {} bodies, {} coordinates, written to {}\n", model->name,
                        model->n_bodies(), model->nq, a.out));
  }
  return kOk;
}

}  // namespace

void add_import(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("import", "URDF to a model file in TOML");
  verb->group("Models");
  verb->add_option("FILE", a->file, "Robot description (.urdf)")->required();
  verb->add_option("-o,--out", a->out, "Write here instead of standard output")
      ->type_name("model.toml");
  verb->add_flag("--json", a->json, "Result as JSON on standard output");
  verb->footer(
      "Examples:\n"
      "  panto import arm.urdf -o arm.toml\n"
      "  panto import arm.urdf | less");
  verb->callback([a, &exit_code] { exit_code = import_verb(*a); });
}

}  // namespace panto::cli
