// The whole task: masters, what the model is for, a ranking; out come the smallest sufficient model and the comparison of all rankings
// (`panto reduce`).
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>

#include "panto/reduction/rank.hpp"

namespace panto {

enum class RankingMethod : std::uint8_t { kSbe, kImr, kEbr };
const char* to_string(RankingMethod method);
// "imr"; nullopt where there is none of that name.
std::optional<RankingMethod> ranking_method(const std::string& name);

// A periodic force: degrees of freedom by name (a set or node: each of them), amplitude and phase at one frequency.
struct ForceTerm {
  std::vector<std::string> at;
  double hz = 0, amplitude = 1, phase = 0;  // [Hz], [N or N m], [rad]
  Loc loc{};
};

struct ReduceOptions {
  std::vector<std::string> masters;
  std::optional<RankingMethod> rank;  // absent: imr where modes or a band are asked for, else ebr
  // What for: modes by number, from 1, rigid ones counted, or all elastic ones of a band, or forces.
  std::vector<int> modes;
  std::vector<double> weights;  // of the modes; empty: equal
  std::optional<std::pair<double, double>> band_hz;
  std::vector<ForceTerm> forces;
  double damping = 0;       // ζ of the forced response, beside C
  std::string sample;       // master whose amplitude is compared; empty: the one that moves most
  double tolerance = 0.01;  // a-priori error ε of modes; gain error of forced responses
  double mac = 0.999;       // of forced responses
  int candidates =
      0;          // interior modes to choose from; 0: as many as the tolerance needs, or `keep`
  int keep = -1;  // interior modes to keep; -1: as many as the tolerance needs
  ReductionProgress progress{};
  std::map<std::string, Loc> places{};  // of what is given, by key; nowhere outside of studies

  // Nowhere for what no study says.
  [[nodiscard]] Loc place(const std::string& key) const {
    const auto found = places.find(key);
    return found != places.end() ? found->second : Loc{};
  }
};

// What the model is for, in place of the modes or the band that the options held.
void for_modes(ReduceOptions& options, std::vector<int> modes);
void for_band(ReduceOptions& options, std::pair<double, double> hz);

// How good models of growing size are, for one ranking. Entries that do not apply are NaN.
struct SizePoint {
  int size = 0;                                                 // masters and interior modes
  double epsilon = std::numeric_limits<double>::quiet_NaN();    // a priori, of the modes asked for
  double frequency = std::numeric_limits<double>::quiet_NaN();  // worst relative error of them
  double nco = std::numeric_limits<double>::quiet_NaN();        // smallest of them
  double mac = std::numeric_limits<double>::quiet_NaN();
  double gain = std::numeric_limits<double>::quiet_NaN();
};
struct RankingCurve {
  RankingMethod method = RankingMethod::kSbe;
  Ranking ranking;
  int needed = -1;  // size at which the tolerance is met; -1: not with the candidates
  std::vector<SizePoint> points;
};

struct RankedReduction {
  CraigBampton cb;
  std::optional<FullModes> modes;      // asked for
  std::vector<Harmonic> harmonics;     // asked for
  std::vector<RankingCurve> rankings;  // the chosen one first
  std::vector<int> selected;           // interior modes kept, in the order of the ranking
  std::vector<ModeError> mode_errors;  // of the modes, with those kept
  double unseen = 0;                   // share Σ αᵢ rest of modes that were not computed, in ε
  ReducedSystem system;
};

// E0904 … E0909 as find_dofs() and craig_bampton(), E0911, E0912 as full_modes() and forced_response(); E0913: options that contradict each other or
// do not say what the model is for, a sample that does not move; E0914: a force that does not act on a master. W0915: the tolerance is not met with the candidates.
Result<RankedReduction> reduce(const LinearSystem& system, const ReduceOptions& options);

}  // namespace panto
