#include "panto/model/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "panto/model/compile_internal.hpp"
#include "panto/model/schema.hpp"

namespace panto {
namespace compile_detail {
namespace {

std::string joined(const std::string& path, std::string_view part) {
  return path.empty() ? std::string(part) : fmt::format("{}.{}", path, part);
}

// JSON-pointer form of a key.
std::string escaped(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

// "model.toml" in a folder is called like the folder, any other file like itself.
std::string default_name(const std::string& file) {
  const std::filesystem::path path(file);
  if (path.stem() != "model") return path.stem().string();
  const std::string folder = path.parent_path().filename().string();
  return folder.empty() || folder == "." ? "model" : folder;
}

}  // namespace

At At::operator[](std::string_view key) const {
  At at;
  at.item = item;
  at.node = node != nullptr ? node->find(key) : nullptr;
  at.owner = at.node != nullptr ? at.node : owner;
  at.path = joined(path, key);
  at.pointer = pointer + "/" + escaped(key);
  return at;
}

At At::element(size_t i, std::string_view suffix) const {
  At at;
  at.item = item;
  const auto* items = node != nullptr ? node->array() : nullptr;
  at.node = items != nullptr && i < items->size() ? &(*items)[i] : nullptr;
  at.owner = at.node != nullptr ? at.node : owner;
  at.path = joined(path, suffix);
  at.pointer = fmt::format("{}/{}", pointer, i);
  return at;
}

bool At::flag(bool fallback) const {
  const bool* b = node != nullptr ? std::get_if<bool>(&node->value) : nullptr;
  return b != nullptr ? *b : fallback;
}

std::string At::full_name() const {
  if (path.empty()) return item->path;
  return joined(item->path, path);
}

Compiler::Compiler(const ModelSpec& spec, std::span<const Override> overrides)
    : spec_(spec), overrides_(overrides), override_used_(overrides.size(), false) {
  // The last of several overrides of one name counts.
  for (size_t i = 0; i < overrides.size(); ++i) {
    override_index_.insert_or_assign(overrides[i].name, i);
  }
  root_.node = &spec.root;
}

std::string Compiler::label(const At& at) {
  const Item& item = *at.item;
  if (item.kind.empty()) return at.path;
  const std::string head =
      item.name.empty() ? item.kind : fmt::format("{} \"{}\"", item.kind, item.name);
  return at.path.empty() ? head : fmt::format("{}: {}", head, at.path);
}

void Compiler::error(int id, const At& at, const std::string& message) {
  Loc loc = at.loc();
  if (at.set != nullptr) loc = Loc{fmt::format("--set {}={}", at.set->name, at.set->value), 0, 0};
  if (!at.item->variable.empty() && loc.line > 0 &&
      !repeated_findings_.emplace(id, loc.line, loc.column).second) {
    return;
  }
  const std::string where = label(at);
  diagnostics_.error(id, loc, where.empty() ? message : fmt::format("{}: {}", where, message));
}

void Compiler::warning(int id, const At& at, const std::string& message) {
  const Loc& loc = at.loc();
  if (!at.item->variable.empty() && loc.line > 0 &&
      !repeated_findings_.emplace(id, loc.line, loc.column).second) {
    return;
  }
  diagnostics_.warning(id, loc, fmt::format("{}: {}", label(at), message));
}

bool Compiler::name_ok(const Item& item) {
  if (item.generated()) return true;
  if (item.name.empty()) {
    const At at = At(item)["name"];
    if (at.text() != nullptr) error(210, at, "a name must not be empty");
    return false;  // absent: reported as a missing key
  }
  if (!std::all_of(item.name.begin(), item.name.end(), name_character)) {
    error(210, At(item)["name"], "a name consists of letters, digits, \"_\" and \"-\"");
    return false;
  }
  return true;
}

void Compiler::top_level() {
  const Node& root = spec_.root;
  const Node* name = root.find("name");
  model_.name =
      name != nullptr && name->text() != nullptr ? *name->text() : default_name(spec_.file);
  const Node* title = root.find("title");
  if (title != nullptr && title->text() != nullptr) model_.title = *title->text();
  const Node* space = root.find("space");
  planar_ = !(space != nullptr && space->text() != nullptr && *space->text() == "spatial");
  model_.space = planar_ ? SpaceKind::kPlanar : SpaceKind::kSpatial;
}

Result<Model> Compiler::run() {
  validate(spec_.root, diagnostics_);
  if (spec_.root.table() == nullptr) return diagnostics_;
  top_level();
  read_parameters();
  expand_items();
  superelements();
  if (expansion_stopped_) return diagnostics_;  // what is there is not what was meant
  assign_theta();
  model_.gravity = numbers<3>(At(root_)["gravity"], dim::kAcceleration, {"x", "y", "z"});
  if (const At rotating = At(root_)["rotating"]; rotating && rotating.node->table() != nullptr) {
    model_.rotation_rate = number(rotating["rate"], dim::kFrequency);
    model_.rotation_setting = number(rotating["setting"], dim::kNone);
  }
  tree();
  bodies();
  frames();
  joint_frames();
  loops();
  elastic_layout();
  ancf_layout();
  drivers();
  following_ = true;
  forces();
  actuators();
  sort_rows();
  outputs();
  following_ = false;
  initial();
  preferred();
  run_defaults();
  warn_about_massless();
  check_rotation();

  for (size_t i = 0; i < overrides_.size(); ++i) {
    if (override_used_[i]) continue;
    const std::string& wanted = overrides_[i].name;
    if (const auto it = override_index_.find(wanted); it->second != i) continue;
    std::vector<std::string> known = named_names_;
    for (const ParameterInfo& p : model_.parameters) known.push_back(p.name);
    diagnostics_.error(
        203, Loc{fmt::format("--set {}={}", wanted, overrides_[i].value), 0, 0},
        fmt::format("the model has no parameter \"{}\"{}", wanted, did_you_mean(wanted, known)));
  }
  if (diagnostics_.ok()) reduction_basis();
  if (!diagnostics_.ok()) return diagnostics_;
  return {std::move(model_), diagnostics_};
}

// Only the inertia of ANCF beams is worked out in a turning frame.
void Compiler::check_rotation() {
  if (model_.rotation_rate < 0) return;
  const At at = At(root_)["rotating"];
  if (!model_.nodes.empty())
    error(405, at, "beams of small deformation do not feel a turning ground; use \"ancf\"");
  for (const Body& b : model_.bodies)
    if (!b.solids.empty())
      return error(405, at,
                   fmt::format("rigid bodies with mass, such as \"{}\", do not feel a turning "
                               "ground; put lumped masses on an ANCF beam",
                               b.name));
}

void Compiler::warn_about_massless() {
  // A subtree without mass at the end of a branch makes the mass matrix singular.
  const size_t n = model_.bodies.size();
  std::vector<bool> has_mass(n, false);
  for (size_t i = n; i-- > 0;) {
    if (!model_.bodies[i].solids.empty() || beam_of(static_cast<int>(i)) >= 0 ||
        ancf_of(static_cast<int>(i)) >= 0)
      has_mass[i] = true;
    const int parent = model_.joints[i].parent;
    if (has_mass[i] && parent >= 0) has_mass[static_cast<size_t>(parent)] = true;
  }
  for (const Item& item : items_["body"]) {
    const auto it = body_index_.find(item.name);
    if (it == body_index_.end()) continue;
    const int index = final_body_[static_cast<size_t>(it->second)];
    if (index < 0 || has_mass[static_cast<size_t>(index)]) continue;
    if (model_.joints[static_cast<size_t>(index)].type == JointType::kWeld || item.generated())
      continue;
    warning(411, At(item), "the body and all it carries have no mass");
  }
}

}  // namespace compile_detail

Result<Model> compile(const ModelSpec& spec, std::span<const Override> overrides) {
  return compile_detail::Compiler(spec, overrides).run();
}

}  // namespace panto
