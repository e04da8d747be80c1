#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "apps/cli/json.hpp"
#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/load.hpp"
#include "panto/io/results.hpp"
#include "panto/scene/figure.hpp"
#include "panto/scene/run_report.hpp"

extern char** environ;  // NOLINT: POSIX

namespace panto::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments : ModelArguments {
  std::string out, with, png, svg, plot, title;
  std::vector<std::string> pages;  // beside the first one
  std::optional<double> deformation;
  bool open = false;
};

bool names_a_run(const std::string& what) {
  const std::string extension = fs::path(what).extension().string();
  if (extension == ".toml" || extension == ".urdf") return false;
  std::error_code failure;
  return extension == ".h5" || extension == ".hdf5" || extension == ".csv" ||
         fs::is_regular_file(what, failure);
}

// A run read from a file and, where it can be had, the model it came from.
struct Loaded {
  Run run;
  std::optional<Model> model;
  Params params;

  [[nodiscard]] scene::Recorded recorded() const {
    return {run, model ? &*model : nullptr, model ? &params : nullptr};
  }
};

std::optional<Loaded> read(const std::string& path, Diagnostics& notes) {
  Result<Run> run = read_run(path);
  notes.append(run.diagnostics());
  if (!run.ok()) return std::nullopt;
  Loaded loaded;
  loaded.run = std::move(*run);
  if (loaded.run.model.empty()) loaded.run.model = fs::path(path).stem().string();
  Result<Model> model = model_of(loaded.run);
  if (model.ok()) {
    loaded.params = nominal(*model);
    loaded.model = std::move(*model);
  } else {
    const Diagnostic& first = model.diagnostics().items().front();
    notes.warning(644, {path, 0, 0},
                  "no animation: " + (first.id == 629 ? first.message : to_string(first)));
  }
  return loaded;
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (size_t start = 0; start < list.size();) {
    const size_t end = std::min(list.find(',', start), list.size());
    if (end > start) names.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

// In the desktop's browser; the report is written either way.
void open_in_browser(const std::string& file) {
  std::string program = "xdg-open", argument = fs::absolute(file).string();
  char* words[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  int status = 1;
  if (::posix_spawnp(&child, words[0], nullptr, nullptr, words, environ) == 0)
    ::waitpid(child, &status, 0);
  if (status != 0) fmt::print(stderr, "panto: no program to open {} was found\n", argument);
}

// Pages that other verbs wrote, bound to one; "Title=page.html" calls a chapter so.
int bind_verb(const Arguments& a) {
  if (a.out.empty()) return fail_usage("pages are bound to a new one: say with -o where", a.json);
  if (!a.with.empty() || !a.png.empty() || !a.svg.empty() || !a.set.empty() || a.deformation)
    return fail_usage("pages are bound as they are: only -o, --title and --open go with them",
                      a.json);
  std::vector<std::string> names{a.model};
  names.insert(names.end(), a.pages.begin(), a.pages.end());
  Diagnostics notes;
  std::vector<scene::BoundPage> pages;
  for (const std::string& name : names) {
    const size_t equals = name.rfind('=');
    scene::BoundPage page;
    page.name = equals == std::string::npos ? name : name.substr(equals + 1);
    if (equals != std::string::npos) page.title = name.substr(0, equals);
    auto bytes = read_bytes(page.name);
    notes.append(bytes.diagnostics());
    if (bytes.ok()) page.html = std::move(*bytes);
    pages.push_back(std::move(page));
  }
  if (!notes.ok()) return fail(notes, a.json);
  const Result<std::string> html = scene::bind_pages(a.title, pages);
  notes.append(html.ok() ? write_text_atomically(a.out, *html) : html.diagnostics());
  if (!notes.ok()) return fail(notes, a.json);
  if (a.json) {
    JsonWriter json;
    json.begin_object().member("written", std::vector<std::string>{a.out}).end_object();
    out(json.text() + "\n");
  } else {
    out(fmt::format("{} pages: written {}\n", pages.size(), a.out));
  }
  if (a.open) open_in_browser(a.out);
  return kOk;
}

int view_verb(const Arguments& a) {
  if (a.model.ends_with(".html")) return bind_verb(a);
  if (!a.pages.empty())
    return fail_usage("several things are bound only where all are pages (.html)", a.json);
  std::vector<Override> overrides;
  std::string message;
  if (!parse_settings(a.set, overrides, message)) return fail_usage(message, a.json);
  const bool is_run = names_a_run(a.model);
  if (is_run && !a.set.empty())
    return fail_usage("--set changes a model; a run keeps the numbers it was made with", a.json);
  if (!is_run && !a.with.empty())
    return fail_usage("--with lays a second run over a run, not over a model", a.json);
  if (!a.plot.empty() && a.png.empty() && a.svg.empty())
    return fail_usage("--plot chooses what --png and --svg show: give one of them", a.json);

  Diagnostics notes;
  scene::Report report;
  std::string file = a.out;
  if (is_run) {
    const std::optional<Loaded> first = read(a.model, notes);
    std::optional<Loaded> second;
    if (!a.with.empty()) second = read(a.with, notes);
    if (!first || (!a.with.empty() && !second)) return fail(notes, a.json);
    if (second) {
      const scene::Recorded other = second->recorded();
      report = scene::report_of_run(first->recorded(), &other);
    } else {
      report = scene::report_of_run(first->recorded());
    }
    if (file.empty()) file = fs::path(a.model).stem().string() + ".html";
  } else {
    const Result<Model> model = load(a.model, overrides);
    notes.append(model.diagnostics());
    if (!model.ok()) return fail(notes, a.json);
    report = scene::report_of_model(*model, nominal(*model));
    if (file.empty()) file = model->name + ".html";
  }
  report.deformation = a.deformation;
  scene::add_notes(notes, report);

  std::vector<std::string> written;
  const auto wrote = [&](const Diagnostics& outcome, const std::string& path) {
    notes.append(outcome);
    if (outcome.ok()) written.push_back(path);
  };
  if (!a.png.empty() || !a.svg.empty()) {
    const auto plots = scene::plots_of(report, names_in(a.plot));
    notes.append(plots.diagnostics());
    if (!plots.ok()) return fail(notes, a.json);
    if (!a.png.empty())
      wrote(write_text_atomically(a.png, scene::figure(*plots, scene::FigureFormat::kPng)), a.png);
    if (!a.svg.empty())
      wrote(write_text_atomically(a.svg, scene::figure(*plots, scene::FigureFormat::kSvg)), a.svg);
  }
  // A figure alone is asked for without a page.
  const bool wants_page = !a.out.empty() || (a.png.empty() && a.svg.empty()) || a.open;
  if (wants_page) wrote(write_page(report, file), file);
  if (!notes.ok()) return fail(notes, a.json);
  print(notes);
  if (a.json) {
    JsonWriter json;
    json.begin_object()
        .member("model", report.model)
        .member("written", written)
        .member("notes", report.notes)
        .end_object();
    out(json.text() + "\n");
  } else {
    out(fmt::format("{}: written {}\n", report.model, fmt::join(written, ", ")));
  }
  if (a.open) open_in_browser(file);
  return kOk;
}

}  // namespace

void add_view(CLI::App& app, int& exit_code) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("view", "Report page of a run or a model; figures");
  verb->group("Motion");
  verb->add_option("RUN|MODEL", a->model, "Result file (.h5, .csv), model file or zoo model")
      ->required();
  verb->add_option("PAGE", a->pages, "Pages that verbs wrote with --view, bound to one");
  verb->add_option("--title", a->title, "Title of pages that are bound")->type_name("text");
  verb->add_option("-o,--out", a->out, "The page (default: named after the run or the model)")
      ->type_name("report.html");
  verb->add_option("--with", a->with, "Lay a second run over the first")->type_name("run2.h5");
  verb->add_option("--set", a->set, "name=value: change a number of the model")
      ->type_name("name=value ...")
      ->expected(1)
      ->take_all();
  verb->add_option("--png", a->png, "Write the outputs as an image")->type_name("figure.png");
  verb->add_option("--svg", a->svg, "Write the outputs as vector graphics")
      ->type_name("figure.svg");
  verb->add_option("--plot", a->plot, "Which outputs --png and --svg show (default: all)")
      ->type_name("name,...");
  add_deformation(*verb, a->deformation);
  verb->add_flag("--open", a->open, "Open the page in the browser");
  verb->add_flag("--json", a->json, "Result as JSON on standard output");
  verb->footer(
      "Examples:\n"
      "  panto view run.h5\n"
      "  panto view before.h5 --with after.h5 -o compare.html --open\n"
      "  panto view fourbar_f1 --set crank.bar.length=1.1\n"
      "  panto view bent.h5 --deformation 50\n"
      "  panto view Motion=run.html Modes=modes.html -o all.html --title \"My machine\"\n"
      "  panto view run.h5 --plot theta,pin_x --svg figure.svg");
  verb->callback([a, &exit_code] { exit_code = view_verb(*a); });
}

}  // namespace panto::cli
