#include "panto/io/invert_study.hpp"

#include <fmt/format.h>

#include "panto/io/atomic_file.hpp"
#include "panto/io/beside.hpp"
#include "panto/io/csv.hpp"
#include "panto/io/hdf5.hpp"
#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"

namespace panto {

namespace {

Result<SeriesTable> read_series(const std::string& path) {
  if (!path.ends_with(".h5") && !path.ends_with(".hdf5")) return read_csv(path);
  auto bytes = read_bytes(path);
  if (!bytes.ok()) return bytes.diagnostics();
  return hdf5::read_table(*bytes, path);
}

Result<LoadedInvertStudy> with_model(const ModelSpec& description, InvertStudy study, Model model,
                                     Params params, const ModelSpec& spec) {
  Diagnostics d;
  LoadedInvertStudy out{std::move(model),         std::move(params),
                        std::move(study.servo),   std::move(study.path),
                        std::move(study.options), std::move(study.feedback),
                        std::move(study.redefine)};
  const auto other = [&](const std::string& name, const char* table,
                         const char* key) -> std::optional<LoopModel> {
    if (name.empty()) return std::nullopt;
    Result<Model> found = load(model_beside(description.file, name));
    const Node* at = description.root.find(table);
    append_at(found.diagnostics(), at != nullptr ? at->find(key) : nullptr, d);
    if (!found.ok()) return std::nullopt;
    Params numbers = nominal(*found);
    return LoopModel{std::move(*found), std::move(numbers)};
  };
  out.plant = other(out.feedback.plant, "loop", "plant");
  out.observer = other(out.feedback.observer_model, "observer", "model");
  if (!study.feedforward.empty()) {
    Result<SeriesTable> table = read_series(file_beside(description.file, study.feedforward));
    append_at(table.diagnostics(), description.root.find("feedforward"), d);
    if (table.ok()) out.feedforward = std::move(*table);
  }
  if (!d.ok()) return d;
  if (out.servo.inputs.empty()) {
    Result<ServoChoice> own = servo_choice(spec);
    if (!own.ok()) return own.diagnostics();
    out.servo = std::move(*own);
  }
  if (out.path.kind != PathSpec::Kind::kSamples) return out;
  const Result<SeriesTable> table = read_csv(file_beside(description.file, out.path.file));
  if (!table.ok()) return table.diagnostics();
  if (table->columns.size() != out.servo.outputs.size() + 1) {
    d.error(1002, out.path.loc,
            fmt::format("\"{}\" has {} columns; time and {} outputs are needed", out.path.file,
                        table->columns.size(), out.servo.outputs.size()));
    return d;
  }
  out.path.times = table->columns.front().values;
  out.path.points.assign(table->rows(), {});
  for (size_t c = 1; c < table->columns.size(); ++c)
    for (size_t i = 0; i < table->rows(); ++i)
      out.path.points[i].push_back(table->columns[c].values[i]);
  return out;
}

}  // namespace

Result<LoadedInvertStudy> load_invert_study(const ModelSpec& description) {
  Result<InvertStudy> study = invert_study(description);
  if (!study.ok()) return study.diagnostics();
  ModelSpec spec;
  Result<Model> model = load(model_beside(description.file, study->model), study->set, &spec);
  if (!model.ok()) {
    Diagnostics d;
    append_at(model.diagnostics(), description.root.find("model"), d);
    return d;
  }
  Params params = nominal(*model);
  return with_model(description, std::move(*study), std::move(*model), std::move(params), spec);
}

Result<LoadedInvertStudy> load_invert_study(const ModelSpec& description, Model model,
                                            Params params, const ModelSpec& spec) {
  Result<InvertStudy> study = invert_study(description);
  if (!study.ok()) return study.diagnostics();
  return with_model(description, std::move(*study), std::move(model), std::move(params), spec);
}

Result<LoadedInvertStudy> load_invert_study(const std::string& path) {
  const Result<ModelSpec> file = read_model_file(path);
  if (!file.ok()) return file.diagnostics();
  return load_invert_study(*file);
}

Result<LoadedInvertStudy> invert_model(Model model, Params params, const ModelSpec& spec) {
  Result<ServoChoice> servo = servo_choice(spec);
  if (!servo.ok()) return servo.diagnostics();
  return LoadedInvertStudy{std::move(model), std::move(params), std::move(*servo), {}, {}, {}, {}};
}

namespace {

// The first word that the method does not know what to do with.
std::optional<UnknownWord> not_of_method(const InvertChanges& changes, const InvertOptions& o) {
  const bool stable = o.method == InvertMethod::kStable,
             boundary = stable && o.stable.method == StableMethod::kBoundaryValue;
  const auto joined = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    return text;
  };
  constexpr const char *kOfStable = "method stable beside it",
                       *kOfOptimal = "method optimal beside it",
                       *kOfEither = "method stable or optimal beside it",
                       *kOfForward = "a method that goes forward in time beside it";
  const auto word = [](const char* option, const std::optional<std::string>& text, bool applies,
                       const char* wanted) -> std::optional<UnknownWord> {
    if (!text || applies) return std::nullopt;
    return UnknownWord{option, *text, wanted};
  };
  const auto number = [](const std::optional<double>& x) {
    return x ? std::optional(fmt::format("{:g}", *x)) : std::nullopt;
  };
  const auto names = [&](const std::optional<std::vector<std::string>>& x) {
    return x && !x->empty() ? std::optional(joined(*x)) : std::nullopt;
  };
  for (const std::optional<UnknownWord>& wrong :
       {word("ends", changes.ends, boundary, kOfStable),
        word("guess", changes.guess, boundary, kOfStable),
        word("clamp-begin", names(changes.clamp_begin), boundary, kOfStable),
        word("clamp-end", names(changes.clamp_end), boundary, kOfStable),
        word("solver", changes.solver, stable && !boundary, kOfOptimal),
        word("before", number(changes.before), stable, kOfEither),
        word("after", number(changes.after), stable, kOfEither),
        word("tolerance", number(changes.tolerance), stable, kOfEither),
        word("form", changes.form, !stable, kOfForward),
        word("force", changes.force.value_or(false) ? std::optional<std::string>("") : std::nullopt,
             !stable, kOfForward)})
    if (wrong) return wrong;
  return std::nullopt;
}

}  // namespace

std::optional<UnknownWord> apply(const InvertChanges& changes, LoadedInvertStudy& study) {
  InverseOptions& inverse = study.options.inverse;
  if (changes.method) {
    InvertOptions named = study.options;
    // Of a linear implicit method before it: a method named anew iterates as its name says.
    int& iterations = named.inverse.newton.iterations;
    if (iterations == 1) iterations = NewtonOptions{}.iterations;
    if (!invert_method(*changes.method, named))
      return UnknownWord{"method", *changes.method,
                         "euler, linear_euler, bdf1 … bdf6, radau5, stable or optimal"};
    study.options = std::move(named);
  }
  StableOptions& stable = study.options.stable;
  if (std::optional<UnknownWord> wrong = not_of_method(changes, study.options)) return wrong;
  if (changes.solver) {
    const std::optional<StableMethod> solver = optimal_solver_of(*changes.solver);
    if (!solver) return UnknownWord{"solver", *changes.solver, "direct or indirect"};
    stable.method = *solver;
  }
  if (changes.ends) {
    const std::optional<EndKind> ends = end_kind_of(*changes.ends);
    if (!ends) return UnknownWord{"ends", *changes.ends, "eigenspaces or clamped"};
    stable.ends = *ends;
  }
  for (const auto* names : {&changes.clamp_begin, &changes.clamp_end})
    if (changes.ends && stable.ends == EndKind::kEigenspaces && *names && !(*names)->empty())
      return UnknownWord{"ends", *changes.ends, "clamped beside coordinates to clamp"};
  if (changes.guess) {
    const std::optional<StableGuess> guess = stable_guess_of(*changes.guess);
    if (!guess) return UnknownWord{"guess", *changes.guess, "rest or linear"};
    stable.guess = *guess;
  }
  stable.before = changes.before.value_or(stable.before);
  stable.after = changes.after.value_or(stable.after);
  stable.tolerance = changes.tolerance.value_or(stable.tolerance);
  for (const auto& [names, into] : {std::pair(&changes.clamp_begin, &stable.clamp_begin),
                                    std::pair(&changes.clamp_end, &stable.clamp_end)}) {
    if (!*names) continue;
    *into = **names;
    if (!into->empty()) stable.ends = EndKind::kClamped;
  }
  if (changes.form) {
    const std::optional<Formulation> form = formulation_of(*changes.form);
    if (!form)
      return UnknownWord{"form", *changes.form,
                         "original, projection, substitution, minimal_extension or baumgarte"};
    inverse.formulation = *form;
  }
  if (changes.outputs) {
    study.servo.outputs = *changes.outputs;
    study.servo.conditions.clear();
  }
  study.servo.inputs = changes.inputs.value_or(std::move(study.servo.inputs));
  if (changes.outputs || changes.inputs) study.servo.loc = {};  // no longer what the file says
  if (changes.to) {
    study.path.kind = PathSpec::Kind::kLine;
    study.path.to = *changes.to;
  }
  if (changes.duration) {
    study.path.duration = *changes.duration;
    study.path.speed = 0;
  }
  study.path.smooth = changes.smooth.value_or(study.path.smooth);
  inverse.dt = changes.step.value_or(inverse.dt);
  study.options.until = changes.until.value_or(study.options.until);
  if (study.options.method == InvertMethod::kStable) {
    // Each says where the run ends: what is said now stands over what the study says.
    const std::optional<double> end = end_of(study.path);
    if (changes.until && changes.after) {
      if (end && !end_agrees(study.options, *end))
        return UnknownWord{"until", fmt::format("{:g}", *changes.until),
                           fmt::format("{:g}, where the horizon after the path ends, or one of "
                                       "both alone",
                                       *end + *changes.after)};
    } else if (changes.until) {
      stable.after = -1;
    } else if (changes.after) {
      study.options.until = 0;
    }
  }
  study.options.verify = changes.verify.value_or(study.options.verify);
  study.options.force = changes.force.value_or(study.options.force);
  study.options.limits = changes.limits.value_or(std::move(study.options.limits));
  if (changes.redefine || changes.along || changes.weight) {
    if (!study.redefine) study.redefine.emplace();
    Redefinition& r = *study.redefine;
    r.rigid = changes.redefine.value_or(std::move(r.rigid));
    r.along = changes.along.value_or(std::move(r.along));
    if (changes.weight) r.weight = changes.weight;
  }
  return std::nullopt;
}

bool has_path(const LoadedInvertStudy& study) {
  return study.path.kind != PathSpec::Kind::kLine || !study.path.to.empty();
}

namespace {

// The servo system and the path, which may begin where the model rests.
struct Ready {
  std::unique_ptr<ModelServo> servo;
  std::optional<Path> path;
};
Result<Ready> ready(const LoadedInvertStudy& study, bool may_stay = false) {
  Result<std::unique_ptr<ModelServo>> servo =
      ModelServo::create(study.model, study.params, study.servo);
  if (!servo.ok()) return servo.diagnostics();
  Result<AnalysedRest> rest = analyse_at_rest(**servo);
  if (!rest.ok()) return rest.diagnostics();
  PathSpec wanted = study.path;
  if (may_stay && !has_path(study)) wanted.to = wanted.from.empty() ? rest->outputs : wanted.from;
  Result<Path> path = path_of(wanted, *rest, study.options.method);
  if (!path.ok()) {
    Diagnostics d;
    for (const Diagnostic& item : path.diagnostics().items())
      d.error(item.id, study.path.loc, item.message);
    return d;
  }
  return Ready{std::move(*servo), std::move(*path)};
}

}  // namespace

Result<StudyAnalysis> analyse_invert_study(const LoadedInvertStudy& study) {
  Result<Ready> r = ready(study, true);
  if (!r.ok()) return r.diagnostics();
  StudyAnalysis out;
  if (study.redefine) {
    Result<RedefinedOutput> other =
        redefine_output(study.model, study.params, study.servo, *study.redefine);
    if (!other.ok()) return other.diagnostics();
    Result<std::unique_ptr<ModelServo>> servo =
        ModelServo::create(study.model, study.params, other->choice);
    if (!servo.ok()) return servo.diagnostics();
    r->servo = std::move(*servo);
    out.redefined = std::move(*other);
  }
  Result<AnalysedRest> rest = analyse_at_rest(*r->servo, *r->path);
  if (!rest.ok()) return rest.diagnostics();
  static_cast<AnalysedRest&>(out) = std::move(*rest);
  Diagnostics notes = judge(out.analysis, *r->path);
  Diagnostics warnings;  // the analysis is what was asked for: what it finds is no failure
  for (const Diagnostic& item : notes.items()) {
    // Said more precisely by the limit of the weight.
    const bool said = item.id == 1034 ||
                      (item.id == 1031 && out.redefined && tolerates(*out.redefined, out.analysis));
    if (!out.redefined || !said) warnings.warning(item.id, item.loc, item.message);
  }
  return {std::move(out), std::move(warnings)};
}

namespace {

// The inversion that a file holds, with the path of the study for its outputs.
Result<Inversion> from_table(const SeriesTable& table, const LoadedInvertStudy& study, Ready& r) {
  Diagnostics d;
  Result<AnalysedRest> rest = analyse_at_rest(*r.servo, *r.path);
  if (!rest.ok()) return rest.diagnostics();
  Inversion out;
  out.analysis = rest->analysis;
  describe(study.model, *r.servo, out);
  const auto column = [&](const std::string& name) -> const std::vector<double>* {
    const int c = table.find(name);
    return c >= 0 ? &table.columns[static_cast<size_t>(c)].values : nullptr;
  };
  const std::vector<double>* t = column("t");
  bool equal = t != nullptr && t->size() > 1;
  for (size_t k = 2; equal && k < t->size(); ++k)
    equal = std::abs((*t)[k] - (*t)[k - 1] - ((*t)[1] - (*t)[0])) <= 1e-6 * ((*t)[1] - (*t)[0]);
  if (!equal) {
    d.error(1101, {},
            "feedforward: needs times \"t\" in equal steps, as `panto invert --csv` writes them");
    return d;
  }
  out.t = *t;
  for (const std::string& name : out.inputs) {
    if (const std::vector<double>* u = column(name))
      out.u.push_back(*u);
    else
      d.error(1101, {}, fmt::format("feedforward: holds no input of \"{}\"", name));
  }
  if (!d.ok()) return d;
  Diagnostics notes;
  std::string missing;
  for (size_t i = 0; i < out.coordinates.size(); ++i) {
    const std::vector<double>* y = column(out.coordinates[i] + "_q");
    if (y == nullptr) missing += (missing.empty() ? "" : ", ") + out.coordinates[i];
    out.y.push_back(
        y != nullptr ? *y
                     : std::vector<double>(t->size(), rest->rest.y[static_cast<Eigen::Index>(i)]));
    for (const auto& [suffix, into] : {std::pair{"_v", &out.v}, {"_a", &out.w}}) {
      const std::vector<double>* rate = column(out.coordinates[i] + suffix);
      into->push_back(y != nullptr && rate != nullptr ? *rate
                                                      : std::vector<double>(t->size(), 0.0));
    }
  }
  if (!missing.empty())
    notes.warning(1102, {}, fmt::format("feedforward: holds no {}; they stay at rest", missing));
  out.desired.assign(out.outputs.size(), {});
  std::vector<double> z(out.outputs.size());
  for (const double time : *t) {
    r.path->at(time, 1, z);
    for (size_t i = 0; i < z.size(); ++i) out.desired[i].push_back(z[i]);
  }
  return {std::move(out), std::move(notes)};
}

}  // namespace

Result<Inversion> run_invert_study(const LoadedInvertStudy& study) {
  Result<Ready> r = ready(study);
  if (!r.ok()) return r.diagnostics();
  if (study.feedforward) return from_table(*study.feedforward, study, *r);
  if (study.redefine)
    return invert_redefined(study.model, study.params, study.servo, *study.redefine, *r->path,
                            study.options);
  return invert(study.model, study.params, study.servo, *r->path, study.options);
}

}  // namespace panto
