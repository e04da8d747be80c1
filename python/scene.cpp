// Report pages.
#include "panto/io/atomic_file.hpp"
#include "panto/io/results.hpp"
#include "panto/scene/run_report.hpp"
#include "python/page.hpp"

namespace panto::python {
namespace {

// A run with the model it keeps; without one there are plots only, and a note says why.
struct Kept {
  explicit Kept(const Run& run, Diagnostics& notes) : run_(run), model_(model_of(run)) {
    if (model_.ok()) {
      params_ = nominal(*model_);
    } else {
      notes.warning(644, {}, "no animation: " + model_.diagnostics().items().front().message);
    }
  }
  [[nodiscard]] scene::Recorded recorded() const {
    return {run_, model_.ok() ? &*model_ : nullptr, &params_};
  }

 private:
  const Run& run_;
  Result<Model> model_;
  Params params_;
};

// html and what was missing
py::tuple run_html(const Run& run, const Run* second, std::optional<double> deformation) {
  Diagnostics notes;
  std::optional<Result<std::string>> html;
  {
    const py::gil_scoped_release release;
    const Kept first(run, notes);
    scene::Report report;
    if (second != nullptr) {
      const Kept kept(*second, notes);
      const scene::Recorded other = kept.recorded();
      report = scene::report_of_run(first.recorded(), &other);
    } else {
      report = scene::report_of_run(first.recorded());
    }
    report.deformation = deformation;
    scene::add_notes(notes, report);
    html = scene::to_html(report);
  }
  return py::make_tuple(value_of(std::move(*html)), to_python(notes));
}

}  // namespace

void bind_scene(py::module_& module) {
  using py::arg;
  module.def("run_html", &run_html, arg("run"), arg("second"), arg("deformation"));
  module.def(
      "model_html",
      [](const CompiledModel& m, std::optional<double> deformation) {
        scene::Report report = scene::report_of_model(*m.model, m.params);
        report.deformation = deformation;
        return value_of(scene::to_html(report));
      },
      arg("model"), arg("deformation"));
  module.def(
      "write_text",
      [](const std::string& path, const std::string& text) {
        const Diagnostics outcome = write_text_atomically(path, text);
        if (!outcome.ok()) throw Rejected(outcome);
      },
      arg("path"), arg("text"));
  py::class_<Page>(module, "Page").def("html", [](const Page& page) {
    const py::gil_scoped_release release;
    return value_of(scene::to_html(page.report()));
  });
  module.def(
      "bind_pages",
      [](const std::string& title,
         const std::vector<std::tuple<std::string, std::string, std::string>>& pages) {
        std::vector<scene::BoundPage> all;
        all.reserve(pages.size());
        for (const auto& [name, chapter, html] : pages) all.push_back({name, chapter, html});
        return value_of(scene::bind_pages(title, all));
      },
      arg("title"), arg("pages"));
  module.def("has_page", [] { return !scene::page().empty(); });
}

}  // namespace panto::python
