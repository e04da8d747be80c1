// 11 Which modulus and which mass at the tip does a hammer test of a rod tell, and what can it not tell?
#include <cstdio>

#include "panto/io/update_study.hpp"
#include "panto/updating/update.hpp"

namespace {

int fail(const panto::Diagnostics& diagnostics) {
  std::fputs(diagnostics.text().c_str(), stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const auto loaded = panto::load_update_study(argc > 1 ? argv[1] : "examples/11_hammer_test.toml");
  if (!loaded) return fail(loaded.diagnostics());
  const panto::Params params = panto::nominal(loaded->model);

  for (const bool sensitivity : {false, true}) {
    panto::UpdateStudy study = loaded->study;
    study.lambda = 0;  // three modes tell two parameters
    if (sensitivity) study.method = panto::UpdateMethod::kSensitivity;
    const auto found = panto::update(loaded->model, params, study);
    if (!found) return fail(found.diagnostics());
    const char* by = sensitivity ? "_by_sensitivities" : "";
    const panto::UpdatedParameter &e = found->parameters[0], &m_tip = found->parameters[1];
    std::printf("E%s %.9g Pa\n", by, e.value);
    std::printf("std_E%s %.9g Pa\n", by, e.std);
    std::printf("m_tip%s %.9g kg\n", by, m_tip.value);
    std::printf("std_m_tip%s %.9g kg\n", by, m_tip.std);
    std::printf("mean_error_before%s %.9g %%\n", by, 100 * found->mean_error_before());
    std::printf("mean_error_after%s %.6f %%\n", by, 100 * found->mean_error_after());
  }

  // With the density as well: frequencies tell ratios, so that the penalty decides how a change of all three is shared.
  panto::UpdateStudy more = loaded->study;
  more.parameters.resize(3);
  more.parameters[2].name = "rho";
  const auto found = panto::update(loaded->model, params, more);
  if (!found) return fail(found.diagnostics());
  for (const panto::UpdatedParameter& p : found->parameters)
    std::printf("told_of_%s %.6f 1\n", p.name.c_str(), p.resolution);
}
