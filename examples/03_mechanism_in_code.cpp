// 03 Is a mechanism built in code the same as the one in the file?
#include <cmath>
#include <cstdio>

#include "panto/integrate/simulate.hpp"
#include "panto/io/load.hpp"
#include "panto/model/compile.hpp"

namespace {

using Table = panto::Node::Table;
using List = panto::Node::Array;

int fail(const panto::Diagnostics& diagnostics) {
  std::fputs(diagnostics.text().c_str(), stderr);
  return 2;
}

// Keys, values and units are those of the file, so one page (docs/model-file.md) describes both.
panto::ModelSpec four_bar() {
  panto::ModelSpec spec;
  panto::Node& m = spec.root;
  m.set("space", "planar");
  m.set("gravity", List{0, -9.81});
  m.set("independent", List{"theta"});
  const auto bar = [](const char* name, panto::Node length, double mass) {
    return Table{{"name", name}, {"bar", Table{{"length", std::move(length)}, {"mass", mass}}}};
  };
  m.set("body", List{bar("crank", 1, 1), bar("coupler", 2, 2), bar("rocker", "sqrt(13)", 4)});
  const auto hinge = [](const char* name, panto::Node on, const char* body) {
    return Table{{"name", name}, {"type", "revolute"}, {"parent", std::move(on)}, {"child", body}};
  };
  m.set("joint", List{hinge("theta", "ground", "crank"), hinge("beta", "crank.end", "coupler"),
                      hinge("gamma", Table{{"body", "ground"}, {"at", List{4, 0}}}, "rocker")});
  // Coupler and rocker meet: this closes the loop. The guesses say which of the two poses is meant.
  const List ends{"coupler.end", "rocker.end"};
  m.set("loop", List{Table{{"name", "pin"}, {"type", "pin"}, {"between", ends}}});
  m.set("initial", Table{{"theta", 0}, {"guess", Table{{"beta", "90 deg"}, {"gamma", "146 deg"}}}});
  m.set("output", List{Table{{"name", "theta"}, {"type", "coordinate"}, {"of", "theta"}}});
  return spec;
}

}  // namespace

int main() {
  const auto built = panto::compile(four_bar());
  if (!built) return fail(built.diagnostics());
  const auto file = panto::load("fourbar_f1");
  if (!file) return fail(file.diagnostics());

  panto::SimulationOptions options;
  options.until = 2;
  const auto a = panto::simulate(*built, panto::nominal(*built), options);
  if (!a) return fail(a.diagnostics());
  const auto b = panto::simulate(*file, panto::nominal(*file), options);
  if (!b) return fail(b.diagnostics());
  std::printf("theta %.15g rad\n", a->outputs[0].back());
  const double difference = std::abs(a->outputs[0].back() - b->outputs[0].back());
  std::printf("difference_from_file %.15g rad\n", difference);
}
