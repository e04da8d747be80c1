#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "panto/inversion/feedback/controller.hpp"
#include "panto/numerics/riccati.hpp"

namespace panto {
namespace {

std::string mode_text(const std::complex<double>& s) {
  // What cannot be told from zero is zero.
  if (std::abs(s) < 1e-6) return "at 0 1/s";
  if (std::abs(s.imag()) <= 1e-9 * std::abs(s)) return fmt::format("at {:.4g} 1/s", s.real());
  return fmt::format("at {:.4g} ± {:.4g}i 1/s", s.real(), std::abs(s.imag()));
}

}  // namespace

Result<GainSchedule> lqr_gains(ServoSystem& system, const DesiredMotion& motion,
                               const LqrSettings& settings) {
  Diagnostics d;
  const int n = 2 * system.nv(), nu = system.nu();
  const auto square = [&](const char* name, const Eigen::MatrixXd& m, int size) {
    if (m.rows() != size || m.cols() != size)
      d.error(
          1055, {},
          fmt::format("weight {} is {} x {}, {} x {} is needed ({})", name, m.rows(), m.cols(),
                      size, size, size == nu ? "the inputs" : "all coordinates, then all speeds"));
  };
  square("Q", settings.Q, n);
  square("R", settings.R, nu);
  if (!d.ok()) return d;
  std::vector<size_t> at;
  const size_t last = motion.t.size() - 1;
  switch (settings.at) {
    case LqrSettings::Where::kEnd:
      at = {last};
      break;
    case LqrSettings::Where::kStart:
      at = {0};
      break;
    case LqrSettings::Where::kPath: {
      const auto count = static_cast<size_t>(std::max(settings.samples, 2));
      for (size_t i = 0; i < count; ++i) {
        const size_t k = i * last / (count - 1);
        if (at.empty() || k > at.back()) at.push_back(k);
      }
    }
  }
  GainSchedule out;
  for (const size_t k : at) {
    const Wanted x = motion.at(k);
    const Result<LinearMotion> m = linearise_motion(system, x.t, x.y, x.v, x.u);
    if (!m.ok()) return m.diagnostics();
    const Riccati s = solve_riccati(m->A, m->B, m->T.transpose() * settings.Q * m->T, settings.R);
    switch (s.outcome) {
      case RiccatiOutcome::kSolved:
        break;
      case RiccatiOutcome::kBadWeights:
        d.error(1055, {},
                "weights: Q must be symmetric positive semidefinite, R symmetric positive "
                "definite");
        return d;
      case RiccatiOutcome::kNotStabilisable:
        d.error(1051, {},
                fmt::format("t = {:.6g} s: not stabilisable, no input moves the mode {}, which "
                            "does not decay by itself",
                            x.t, mode_text(s.mode)));
        return d;
      case RiccatiOutcome::kUnseen:
        d.error(1052, {},
                fmt::format("t = {:.6g} s: the weights Q do not see the mode {}, which does not "
                            "decay by itself; weight a coordinate that it moves",
                            x.t, mode_text(s.mode)));
        return d;
    }
    out.t.push_back(x.t);
    out.F.emplace_back(s.F * m->T.transpose());
    out.poles.push_back(s.poles);
    out.residual = std::max(out.residual, s.residual);
  }
  return out;
}

}  // namespace panto
