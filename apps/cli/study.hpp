// What verbs share that find parameters of a model from a study: identify and update.
#pragma once

#include <string>

#include "apps/cli/progress.hpp"
#include "apps/cli/report.hpp"
#include "apps/cli/verbs.hpp"
#include "panto/io/atomic_file.hpp"
#include "panto/io/study_model.hpp"
#include "panto/model/copy_back.hpp"

namespace panto::cli {

struct StudyArguments {
  std::string study, method, model, view;  // model: the file that is written; empty: none
  int threads = 0;
  bool json = false;
};

// STUDY, --method among `methods`, --threads.
void add_study_arguments(CLI::App& verb, StudyArguments& arguments, const std::string& contents,
                         const std::vector<std::string>& methods, const std::string& meaning);
// --view and --json, after the verb's own options.
void add_study_results(CLI::App& verb, StudyArguments& arguments);

// Runs `calculate(loaded, progress)`; then writes the model and the page, and prints the table or JSON. Nothing is written where the calculation fails.
template <class Study, class Calculate, class Page, class Table, class Json>
int run_study(const std::string& verb, const StudyArguments& a,
              const Result<StudyWithModel<Study>>& loaded, const Calculate& calculate,
              const Page& page, const Table& table, const Json& json) {
  if (!loaded.ok()) return fail(loaded.diagnostics(), a.json);
  const Interrupt interrupt;
  Progress progress(verb + " " + loaded->model.name);
  const auto found = calculate(*loaded, [&](double fraction) {
    progress.show(fraction);
    return !Interrupt::requested();
  });
  progress.wipe();
  Diagnostics notes = loaded.diagnostics();
  notes.append(found.diagnostics());
  if (!found.ok()) return fail(notes, a.json);
  if (!a.model.empty())
    notes.append(
        write_text_atomically(a.model, copy_back(loaded->spec, loaded->model, found->params)));
  if (!a.view.empty()) {
    scene::Report report = page(loaded->model, *found);
    scene::add_notes(notes, report);
    notes.append(write_page(report, a.view));
  }
  if (!notes.ok()) return fail(notes, a.json);
  if (!a.model.empty()) note("wrote " + a.model);
  print(notes);
  if (a.json)
    out(json(*found));
  else
    summary(table(loaded->model, *found));
  return found->complete ? kOk : kInterrupted;
}

}  // namespace panto::cli
