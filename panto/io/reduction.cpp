#include "panto/io/reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <sstream>

#include "panto/io/atomic_file.hpp"
#include "panto/io/hdf5.hpp"
#include "panto/io/load.hpp"
#include "panto/io/matrix_market.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"
#include "panto/model/copy_back.hpp"
#include "panto/model/write_toml.hpp"
#include "panto/reduction/superelement.hpp"

namespace panto {
namespace {

namespace fs = std::filesystem;

constexpr double kWritten = 1e-14;  // round-off of numbers in files: solvers write fourteen digits

std::string beside(const std::string& file, const std::string& name) {
  const fs::path candidate = fs::path(file).parent_path() / name;
  std::error_code failure;
  return fs::exists(candidate, failure) ? candidate.string() : name;
}

Diagnostics refused(const Loc& loc, const std::string& message) {
  Diagnostics out;
  out.error(917, loc, message);
  return out;
}

Result<LinearSystem> checked(LinearSystem system, const MatrixOrigin& origin = {}) {
  Diagnostics d = check(system, origin);
  if (!d.ok()) return located(d, origin.K);
  return system;
}

// Upper triangle, "row column value" per line.
Result<SparseMatrix> read_triangle(const std::string& path, Eigen::Index size) {
  const auto bytes = read_bytes(path);
  if (!bytes) return bytes.diagnostics();
  std::vector<Eigen::Triplet<double, Eigen::Index>> entries;
  const char *at = bytes->data(), *end = at + bytes->size();
  int line = 1;
  const auto blanks = [&] {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) {
      if (*at == '\n') ++line;
      ++at;
    }
  };
  const auto number = [&](auto& value) {
    blanks();
    if (at < end && *at == '+') ++at;
    const auto [stop, error] = std::from_chars(at, end, value);
    at = stop;
    return error == std::errc();
  };
  for (blanks(); at < end; blanks()) {
    long row = 0, column = 0;
    double value = 0;
    if (!number(row) || !number(column) || !number(value))
      return refused({path, line, 1}, "expected row, column and value");
    if (row < 1 || column < row || column > size)
      return refused({path, line, 1}, fmt::format("entry ({}, {}) of an upper triangle of {} rows",
                                                  row, column, size));
    if (value == 0) continue;
    entries.emplace_back(row - 1, column - 1, value);
    if (row != column) entries.emplace_back(column - 1, row - 1, value);
  }
  SparseMatrix out(size, size);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

// *NSET, NSET=NAME [, GENERATE] and *NODE, NSET=NAME of an input deck, names in capitals as the solver takes them; what it includes from elsewhere is not
// followed.
void read_sets(const std::string& path, const std::map<long, std::vector<int>>& dofs_of,
               LinearSystem& system) {
  const auto bytes = read_bytes(path);
  if (!bytes) return;
  std::istringstream in(*bytes);
  const auto set_of = [&](const std::string& name) {
    return std::find_if(system.sets.begin(), system.sets.end(),
                        [&](const DofSet& s) { return s.name == name; });
  };
  DofSet* set = nullptr;
  bool generate = false, nodes = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("**")) continue;
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, ',');) {
      std::erase_if(field, [](unsigned char c) { return std::isspace(c) != 0; });
      std::string upper;
      for (const char c : field)
        upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      fields.push_back(std::move(upper));
    }
    if (line.starts_with('*')) {
      set = nullptr;
      generate = false;
      nodes = !fields.empty() && fields[0] == "*NODE";
      if (fields.empty() || (fields[0] != "*NSET" && !nodes)) continue;
      for (const std::string& f : fields) {
        if (f.starts_with("NSET=")) {
          // A set may be continued by a second card.
          auto known = set_of(f.substr(5));
          if (known == system.sets.end()) {
            system.sets.push_back({f.substr(5), {}});
            known = system.sets.end() - 1;
          }
          set = &*known;
        }
        generate = generate || f == "GENERATE";
      }
      continue;
    }
    if (set == nullptr) continue;
    if (nodes && fields.size() > 1) fields.resize(1);  // number, then its place
    std::vector<long> ids;
    for (const std::string& f : fields) {
      long id = 0;
      const auto [stop, error] = std::from_chars(f.data(), f.data() + f.size(), id);
      if (error == std::errc() && stop == f.data() + f.size()) {
        ids.push_back(id);
      } else if (const auto other = set_of(f); other != system.sets.end() && &*other != set) {
        const std::vector<int> dofs = other->dofs;
        set->dofs.insert(set->dofs.end(), dofs.begin(), dofs.end());
      }
    }
    const auto add = [&](long id) {
      if (const auto node = dofs_of.find(id); node != dofs_of.end())
        set->dofs.insert(set->dofs.end(), node->second.begin(), node->second.end());
    };
    if (generate && ids.size() >= 2) {
      const long step = ids.size() > 2 ? std::max(ids[2], 1L) : 1;
      for (auto node = dofs_of.lower_bound(ids[0]); node != dofs_of.end() && node->first <= ids[1];
           ++node)
        if ((node->first - ids[0]) % step == 0) add(node->first);
    } else {
      for (const long id : ids) add(id);
    }
  }
}

Result<LinearSystem> linearised(const PosedModel& m, const std::string& file) {
  Result<Model> model = load(beside(file, m.model), m.set);
  if (!model) return model.diagnostics();
  if (!m.at.empty()) {
    model = with_pose(*model, m.at);
    if (!model) return model.diagnostics();
  }
  const auto workspace = Workspace::create(*model, nominal(*model));
  const auto point = operating_point(*workspace, m.operation);
  if (!point) return point.diagnostics();
  const auto linear = linearize(*workspace, *point);
  if (!linear) return linear.diagnostics();
  return linear_system(*linear, model->name);
}

// A row per mode.
std::string text_of(const SuperelementModes& modes) {
  fmt::memory_buffer text;
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "omega2 [1/s^2]");
  if (modes.damping.size() > 0) fmt::format_to(to, ",damping [1/s]");
  for (const std::string& name : modes.masters) fmt::format_to(to, ",{}", name);
  for (Eigen::Index i = 0; i < modes.omega2.size(); ++i) {
    fmt::format_to(to, "\n{:.17g}", modes.omega2(i));
    if (modes.damping.size() > 0) fmt::format_to(to, ",{:.17g}", modes.damping(i));
    for (Eigen::Index k = 0; k < modes.shapes.rows(); ++k)
      fmt::format_to(to, ",{:.17g}", modes.shapes(k, i));
  }
  fmt::format_to(to, "\n");
  return {text.data(), text.size()};
}

}  // namespace

Result<LinearSystem> read_matrices(const MatrixFiles& files) {
  Diagnostics d;
  LinearSystem out;
  out.round_off = kWritten;
  out.name = fs::path(files.stiffness).stem().string();
  const auto read = [&](const std::string& path, SparseMatrix& into) {
    Result<MatrixFile> file = read_matrix_market(path);
    d.append(file.diagnostics());
    if (!file) return;
    into = file->matrix;  // Eigen 3.4 has no move of sparse matrices
    if (out.dofs.empty()) {
      out.dofs = std::move(file->names);
    } else if (!file->names.empty() && file->names != out.dofs) {
      const auto [here, there] =
          std::mismatch(file->names.begin(), file->names.end(), out.dofs.begin(), out.dofs.end());
      const bool both = here != file->names.end() && there != out.dofs.end();
      d.error(901, {path, 0, 0},
              both ? fmt::format("row {} is \"{}\" here and \"{}\" in {}: rows of all matrices "
                                 "stand in one order",
                                 here - file->names.begin() + 1, *here, *there, files.stiffness)
                   : fmt::format("{} names here, {} in {}", file->names.size(), out.dofs.size(),
                                 files.stiffness));
    }
  };
  read(files.stiffness, out.K);
  read(files.mass, out.M);
  if (!files.damping.empty()) read(files.damping, out.C);
  if (!d.ok()) return d;
  if (out.dofs.empty())
    for (int i = 0; i < out.size(); ++i) out.dofs.push_back(fmt::format("d{}", i + 1));
  return checked(std::move(out),
                 {{files.mass, 0, 0}, {files.stiffness, 0, 0}, {files.damping, 0, 0}, false});
}

Result<LinearSystem> read_calculix(const std::string& job) {
  fs::path stem = job;
  if (const std::string e = stem.extension().string();
      e == ".inp" || e == ".sti" || e == ".mas" || e == ".dof")
    stem.replace_extension();
  const auto named = [&](const char* ending) { return stem.string() + ending; };
  std::error_code failure;
  for (const char* ending : {".dof", ".sti", ".mas"})
    if (!fs::is_regular_file(named(ending), failure))
      return refused({named(ending), 0, 0},
                     "there is no such file: let ccx write it, with *FREQUENCY, "
                     "SOLVER=MATRIXSTORAGE in the step");
  const auto text = read_bytes(named(".dof"));
  if (!text) return text.diagnostics();
  LinearSystem out;
  out.round_off = kWritten;
  out.name = stem.filename().string();
  std::map<long, std::vector<int>> dofs_of;
  std::istringstream in(*text);
  int line = 0;
  for (std::string word; in >> word;) {
    ++line;
    const size_t dot = word.find('.');
    long node = 0;
    const bool number =
        dot != std::string::npos && dot + 2 == word.size() &&
        std::from_chars(word.data(), word.data() + dot, node).ptr == word.data() + dot;
    const char direction = number ? word.back() : '0';
    if (!number || node < 1 || direction < '1' || direction > '9')
      return refused({named(".dof"), line, 1},
                     fmt::format("\"{}\": expected node and direction, such as 17.1", word));
    dofs_of[node].push_back(static_cast<int>(out.dofs.size()));
    const std::string axis = direction <= '3'
                                 ? std::string(1, static_cast<char>('x' + direction - '1'))
                                 : std::string(1, direction);
    out.dofs.push_back(fmt::format("n{}.{}", node, axis));
  }
  const auto size = static_cast<Eigen::Index>(out.dofs.size());
  auto k = read_triangle(named(".sti"), size);
  if (!k) return k.diagnostics();
  auto m = read_triangle(named(".mas"), size);
  if (!m) return m.diagnostics();
  out.K = *k;
  out.M = *m;
  if (fs::is_regular_file(named(".inp"), failure)) read_sets(named(".inp"), dofs_of, out);
  Result<LinearSystem> system =
      checked(std::move(out), {{named(".mas"), 0, 0}, {named(".sti"), 0, 0}, {}, false});
  if (system) return system;
  Diagnostics d;
  for (const Diagnostic& one : system.diagnostics().items())
    if (one.id == 903)
      d.error(one.id, one.loc,
              one.message +
                  ": elements C3D8 and C3D20 have such mass matrices; C3D8R, C3D8I, "
                  "C3D20R, shells and beams of the solver do not");
    else
      d.error(one.id, one.loc, one.message);
  return d;
}

Result<LinearSystem> system_of(const ReduceStudy& study, const std::string& file) {
  struct Source {
    const std::string& file;
    Result<LinearSystem> operator()(const PosedModel& m) const { return linearised(m, file); }
    Result<LinearSystem> operator()(const MatrixFiles& m) const {
      return read_matrices({beside(file, m.mass), beside(file, m.stiffness),
                            m.damping.empty() ? m.damping : beside(file, m.damping)});
    }
    Result<LinearSystem> operator()(const CalculixJob& c) const {
      const fs::path near = fs::path(file).parent_path() / c.job;
      std::error_code failure;
      return read_calculix(
          fs::exists(fs::path(near).replace_extension(".dof"), failure) ? near.string() : c.job);
    }
    Result<LinearSystem> operator()(const Plate& p) const { return plate(p); }
    Result<LinearSystem> operator()(const Prism& p) const { return prism(p); }
    Result<LinearSystem> operator()(const BeamFrame& f) const { return beam_frame(f, "frame"); }
  };
  Result<LinearSystem> made = std::visit(Source{file}, study.source);
  if (!made) return made.diagnostics();
  Diagnostics notes = made.diagnostics();
  Result<LinearSystem> out = checked(std::move(*made));
  if (!out) return out;
  return {std::move(*out), std::move(notes)};
}

Result<LoadedReduceStudy> load_reduce_study(const ModelSpec& description) {
  Result<ReduceStudy> study = reduce_study(description);
  if (!study) return study.diagnostics();
  Result<LinearSystem> system = system_of(*study, description.file);
  // Where the study says what is reduced.
  Diagnostics notes = system.diagnostics();
  for (const char* key : {"plate", "prism", "frame", "matrices", "calculix", "model"})
    if (const Node* source = description.root.find(key)) notes = located(notes, source->key_loc);
  if (!system) return notes;
  LoadedReduceStudy out{std::move(study->options), std::move(*system)};
  if (description.root.find("name") != nullptr) out.system.name = study->name;
  return {std::move(out), std::move(notes)};
}

Result<LoadedReduceStudy> load_reduce_study(const std::string& path) {
  const Result<ModelSpec> file = read_model_file(path);
  if (!file) return file.diagnostics();
  return load_reduce_study(*file);
}

Diagnostics write_reduction(const LinearSystem& system, const RankedReduction& reduction,
                            const std::string& path) {
  Diagnostics out = write_atomically(
      path, [&](const std::string& name) { return hdf5::write(system, reduction, name); });
  if (!out.ok()) return out;
  const auto pair = [&](const char* ending, const Eigen::MatrixXd& a) {
    const fs::path name = fs::path(path).replace_extension(ending);
    out.append(write_matrix_market(a.sparseView(), true, reduction.system.names, name.string()));
  };
  pair(".M.mtx", reduction.system.M);
  pair(".K.mtx", reduction.system.K);
  // What an earlier reduction left beside it would belong to another system.
  const auto remove = [&](const char* ending) {
    std::error_code failure;
    fs::remove(fs::path(path).replace_extension(ending), failure);
  };
  if (reduction.system.C.rows() > 0)
    pair(".C.mtx", reduction.system.C);
  else
    remove(".C.mtx");
  const auto modes = superelement_modes(reduction.system, reduction.cb.rigid);
  out.append(modes.diagnostics());
  if (modes.ok())
    out.append(write_text_atomically(fs::path(path).replace_extension(".modes.csv").string(),
                                     text_of(*modes)));
  else
    remove(".modes.csv");
  return out;
}

Result<std::string> reduced_model(const ModelSpec& spec, const Model& model, const Params& params,
                                  const LinearSystem& system, const RankedReduction& reduction) {
  Diagnostics d;
  if (model.reduction.active() || spec.root.find("reduction") != nullptr) {
    d.error(1103, {}, fmt::format("\"{}\" is reduced already", model.name));
    return d;
  }
  const auto masters = static_cast<size_t>(reduction.cb.masters.size());
  const std::vector<std::string> names(
      reduction.system.names.begin(),
      reduction.system.names.begin() + static_cast<ptrdiff_t>(masters));
  Node::Array displacements, modes;
  for (const std::string& name : names)
    if (find_dof(model, name) >= model.joint_nv()) displacements.emplace_back(name);
  for (const ScalarCoordinate& c : scalar_coordinates(model))
    if (const std::string& name = model.coordinate_names[static_cast<size_t>(c.q)];
        c.v < model.joint_nv() &&
        std::find(system.dofs.begin(), system.dofs.end(), name) != system.dofs.end() &&
        std::find(names.begin(), names.end(), name) == names.end())
      d.error(
          1103, {},
          fmt::format("joint coordinate \"{}\" is no master: a reduced mechanism keeps its joints",
                      name));
  if (!d.ok()) return d;
  std::vector<int> kept = reduction.selected;
  std::sort(kept.begin(), kept.end());
  for (const int mode : kept) modes.emplace_back(mode + 1);

  Node table;
  table.set("masters", std::move(displacements));
  table.set("modes", std::move(modes));
  std::string text;
  if (spec.source_text.empty()) {
    ModelSpec written = with_parameters(spec, model, params);
    written.root.set("reduction", std::move(table));
    text = write_toml(written.root);
  } else {
    text = copy_back(spec, model, params);
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += "\n[reduction]\n" + write_toml(table);
  }

  const Result<ModelSpec> again = parse_model_text(text, spec.file);
  if (!again.ok()) return again.diagnostics();
  const Result<Model> made = compile(*again);
  if (!made.ok()) return made.diagnostics();
  for (const int mode : kept) {
    const double hz = std::sqrt(std::max(reduction.cb.omega2(mode), 0.0)) / (2 * std::numbers::pi),
                 there = made->reduction.frequencies[static_cast<size_t>(mode)];
    // Modes of the linearised mechanism and of the file come from different matrices: equal to the round-off of their eigenvalues.
    if (std::abs(hz - there) <= 1e-6 * hz) continue;
    d.error(1103, {},
            fmt::format("interior mode {} has {:.6g} Hz here and {:.6g} Hz where the model begins: "
                        "reduce it in its initial pose, unloaded",
                        mode + 1, hz, there));
    return d;
  }
  return text;
}

}  // namespace panto
