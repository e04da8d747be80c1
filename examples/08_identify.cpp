// 08 Which joint stiffnesses do measured frequencies tell, and are they the only ones?
#include <cstdio>

#include "panto/identification/identify.hpp"
#include "panto/io/study.hpp"

namespace {

int fail(const panto::Diagnostics& diagnostics) {
  std::fputs(diagnostics.text().c_str(), stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const auto loaded = panto::load_identify_study(argc > 1 ? argv[1] : "examples/08_identify.toml");
  if (!loaded) return fail(loaded.diagnostics());
  const panto::Params params = panto::nominal(loaded->model);

  const auto both = panto::identify(loaded->model, params, loaded->study);
  if (!both) return fail(both.diagnostics());
  std::printf("explaining_both_poses %d sets\n", both->equivalent());
  for (const panto::IdentifiedParameter& p : both->parameters) {
    std::printf("%s %.9g N m/rad\n", p.name.c_str(), p.value);
    std::printf("std_%s %.9g N m/rad\n", p.name.c_str(), p.std);
  }

  // One pose gives as many frequencies as there are stiffnesses, and still does not tell them: the search is started from many points, and
  // several of the minima fit exactly.
  panto::IdentifyStudy straight = loaded->study;
  straight.poses.resize(1);
  const auto one = panto::identify(loaded->model, params, straight);
  if (!one) return fail(one.diagnostics());
  std::printf("explaining_straight_pose %d sets\n", one->equivalent());
  for (int i = 0; i < one->equivalent(); ++i)
    for (int k = 0; k < 3; ++k)
      std::printf("%s_%d %.9g N m/rad\n", one->parameters[static_cast<size_t>(k)].name.c_str(), i,
                  one->solutions[static_cast<size_t>(i)].theta(k));
}
