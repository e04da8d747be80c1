// Superelements: linear structures given by their modes. Each becomes rotors on springs, one per mode, massless bodies for its connections, and couplings
// between the two (RED-13, RED-14): everything after this pass knows bodies, joints, loops and forces alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "panto/model/compile_internal.hpp"
#include "panto/model/csv_table.hpp"

namespace panto::compile_detail {
namespace {

struct Direction {
  const char* name;  // of the coordinate
  std::array<const char*, 3> endings;
};
constexpr std::array kPlanarDirections{Direction{"x", {"x", "ux", ""}},
                                       Direction{"y", {"y", "uy", ""}},
                                       Direction{"r", {"r", "turn", "angle"}}};
constexpr std::array kSpatialDirections{Direction{"x", {"x", "ux", ""}},
                                        Direction{"y", {"y", "uy", ""}},
                                        Direction{"z", {"z", "uz", ""}}};

std::string exact(double value) { return fmt::format("{:.17g}", value); }

}  // namespace

void Compiler::add_generated(const char* kind, const At& from, Node node) {
  node.loc = from.loc();
  const Node& kept = expanded_.emplace_back(std::move(node));
  Item item;
  item.kind = kind;
  item.name = *kept.find("name")->text();
  item.node = &kept;
  item.path = item.name;
  item.pointer = from.pointer;
  item.variable = kGenerated;
  items_[kind].push_back(std::move(item));
}

void Compiler::superelements() {
  std::set<std::string> names;
  for (const Item& item : items_["superelement"]) {
    const At at(item);
    if (!name_ok(item)) continue;
    if (!names.insert(item.name).second)
      error(202, at["name"], "there is another superelement of this name");
    else
      superelement(item);
  }
}

void Compiler::superelement(const Item& item) {
  const At at(item), file = at["modes"];
  if (file.text() == nullptr) return;  // reported by validate
  const std::filesystem::path path = std::filesystem::path(spec_.file).parent_path() / *file.text();
  const Result<CsvTable> table = read_csv_table(path.string());
  if (!table) {
    error(table.diagnostics().items()[0].id, file,
          fmt::format("\"{}\" cannot be used", *file.text()));
    diagnostics_.append(table.diagnostics());
    return;
  }
  const auto column = [&](const std::string& name) -> const std::vector<double>* {
    const auto it = std::find(table->names.begin(), table->names.end(), name);
    return it == table->names.end()
               ? nullptr
               : &table->columns[static_cast<size_t>(it - table->names.begin())];
  };
  const std::vector<double>*omega2 = column("omega2"), *damped = column("damping");
  if (omega2 == nullptr || omega2->empty()) {
    error(918, file,
          fmt::format("\"{}\" has no column \"omega2\" with the squares of natural frequencies; "
                      "\"panto reduce -o\" writes such files",
                      *file.text()));
    return;
  }
  for (size_t i = 0; i < omega2->size(); ++i)
    if (!((*omega2)[i] >= 0) || (damped != nullptr && !((*damped)[i] >= 0))) {
      error(918, file,
            fmt::format("\"{}\": mode {} has negative stiffness or damping", *file.text(), i + 1));
      return;
    }

  // η̈ + 2ζω η̇ + ω² η = Σ u f: a rotor, whose weight does not turn it, on a torsional spring.
  const At ratio = at["damping"];
  const auto coordinate = [&](size_t mode) {
    return fmt::format("{}.mode{}", item.name, mode + 1);
  };
  const Node hidden(Node::Table{{"type", "none"}});
  for (size_t i = 0; i < omega2->size(); ++i) {
    const std::string name = coordinate(i);
    const Node inertia = planar_ ? Node(1.0) : Node(Node::Array{1.0, 1.0, 1.0});
    add_generated(
        "body", at,
        Node::Table{{"name", name}, {"mass", 1.0}, {"inertia", inertia}, {"shape", hidden}});
    add_generated(
        "joint", at,
        Node::Table{{"name", name}, {"type", "revolute"}, {"parent", "ground"}, {"child", name}});
    const double critical = 2 * std::sqrt((*omega2)[i]),
                 given = damped != nullptr ? (*damped)[i] : 0;
    Node damping(given);
    if (ratio && ratio.node->is_number()) damping = Node(given + critical * ratio.node->number());
    if (ratio.text() != nullptr)
      damping = Node(fmt::format("{} + {} * ({})", exact(given), exact(critical), *ratio.text()));
    add_generated("force", at,
                  Node::Table{{"name", name},
                              {"type", "joint_spring"},
                              {"on", name},
                              {"stiffness", (*omega2)[i]},
                              {"damping", damping}});
  }

  std::vector<std::string> nodes;
  for (const std::string& name : table->names)
    if (const size_t dot = name.rfind('.'); dot != std::string::npos)
      nodes.push_back(name.substr(0, dot));
  const At connections = at["connect"];
  std::set<std::string> places;
  for (size_t k = 0; k < connections.size(); ++k) {
    const At entry = connections.element(k, std::to_string(k));
    const std::string* node = entry["node"].text();
    if (node == nullptr) continue;  // reported by validate
    const std::string own = entry["name"].text() != nullptr ? *entry["name"].text() : *node,
                      place = fmt::format("{}.{}", item.name, own);
    if (!places.insert(place).second) {
      error(202, entry, fmt::format("there is another connection \"{}\"", own));
      continue;
    }
    std::vector<std::pair<const Direction*, const std::vector<double>*>> moves;
    for (const Direction& d : planar_ ? kPlanarDirections : kSpatialDirections)
      for (const char* ending : d.endings)
        if (const auto* shape =
                *ending != 0 ? column(fmt::format("{}.{}", *node, ending)) : nullptr) {
          moves.emplace_back(&d, shape);
          break;
        }
    if (moves.empty()) {
      error(919, entry["node"],
            fmt::format("\"{}\" has no displacement of a node \"{}\"{}", *file.text(), *node,
                        did_you_mean(*node, nodes)));
      continue;
    }
    Node ground(Node::Table{{"body", "ground"}});
    if (entry["at"]) ground.set("at", *entry["at"].node);
    if (at["angle"]) ground.set("angle", *at["angle"].node);
    Node parent = ground;
    for (size_t i = 0; i < moves.size(); ++i) {
      const Direction& d = *moves[i].first;
      const bool last = i + 1 == moves.size(), turns = std::string_view(d.name) == "r";
      const std::string name = fmt::format("{}.{}", place, d.name), body = last ? place : name;
      add_generated("body", at, Node::Table{{"name", body}, {"shape", hidden}});
      Node joint(Node::Table{{"name", name},
                             {"type", turns ? "revolute" : "prismatic"},
                             {"parent", parent},
                             {"child", body}});
      if (!turns) joint.set("axis", d.name);
      add_generated("joint", at, std::move(joint));
      parent = Node(body);
      Node terms(Node::Table{{name, -1.0}});
      for (size_t mode = 0; mode < omega2->size(); ++mode)
        if (const double u = (*moves[i].second)[mode]; u != 0) terms.set(coordinate(mode), u);
      add_generated("loop", at,
                    Node::Table{{"name", name}, {"type", "coupling"}, {"terms", std::move(terms)}});
    }
  }
}

}  // namespace panto::compile_detail
