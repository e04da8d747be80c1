#include "panto/updating/stabilisation.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "panto/updating/poly_reference.hpp"

namespace panto {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

constexpr int kMostReferences = 4;
// Of the responses' energy that the references must carry before more of them are taken.
constexpr double kCarried = 0.999;
// Assurance of participations by which poles of different orders belong together, below the one that makes them stable.
constexpr double kLooser = 0.15;

// Responses as outputs x references with as few references as carry them: the smaller side of the grid, combined by its principal vectors (EMA-2).
struct Compressed {
  MatrixXcd h;
  int outputs = 0, references = 0;
  Eigen::MatrixXd combine;  // side x references
  bool of_excitations = true;
};

Compressed compress(const MatrixXcd& h, const ResponseNoise& noise, Index responses, int wanted) {
  const Index excitations = h.cols() / responses;
  Compressed c;
  c.of_excitations = excitations <= responses;
  const Index side = c.of_excitations ? excitations : responses,
              other = c.of_excitations ? responses : excitations;
  const auto column = [&](Index o, Index r) {
    return c.of_excitations ? r * responses + o : o * responses + r;
  };
  // Every line and every output in units of its noise.
  MatrixXcd scaled(h.rows(), h.cols());
  for (Index o = 0; o < other; ++o) {
    double size = 0;
    for (Index r = 0; r < side; ++r) size += noise.pairs(column(o, r)) * noise.pairs(column(o, r));
    for (Index r = 0; r < side; ++r)
      scaled.col(r * other + o) =
          h.col(column(o, r)).cwiseQuotient((std::sqrt(size) * noise.lines).cast<Complex>());
  }
  Eigen::MatrixXd energy(side, side);
  for (Index i = 0; i < side; ++i)
    for (Index j = 0; j <= i; ++j)
      energy(i, j) = energy(j, i) = (scaled.middleCols(i * other, other).conjugate().array() *
                                     scaled.middleCols(j * other, other).array())
                                        .real()
                                        .sum();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(energy);
  const VectorXd values = eigen.eigenvalues().reverse();
  Index count = std::min<Index>(side, wanted);
  if (wanted <= 0) {
    double carried = 0;
    for (count = 0;
         count < std::min<Index>(side, kMostReferences) && carried < kCarried * values.sum();
         ++count)
      carried += values(count);
    count = std::max<Index>(count, 1);
  }
  c.combine = eigen.eigenvectors().rowwise().reverse().leftCols(count);
  c.outputs = static_cast<int>(other);
  c.references = static_cast<int>(count);
  c.h = MatrixXcd::Zero(h.rows(), other * count);
  for (Index k = 0; k < count; ++k)
    for (Index r = 0; r < side; ++r)
      c.h.middleCols(k * other, other) += c.combine(r, k) * scaled.middleCols(r * other, other);
  return c;
}

struct Candidate {
  int order = 0;
  Complex s;
  VectorXcd participation;  // of the references
  Stability stability = Stability::kNew;
};

// Each pole against the nearest of the order before.
void judge(std::vector<Candidate>& poles, const EmaOptions& o) {
  size_t before = 0, begin = 0;
  for (size_t i = 0; i < poles.size(); ++i) {
    if (poles[i].order != poles[begin].order) {
      before = begin;
      begin = i;
    }
    if (begin == before || poles[before].order != poles[begin].order - 1) continue;
    Candidate& p = poles[i];
    for (size_t j = before; j < begin; ++j) {
      const Candidate& q = poles[j];
      const double f = frequency_of(p.s), z = damping_of(p.s);
      Stability s = Stability::kNew;
      if (std::abs(frequency_of(q.s) - f) < o.frequency_tolerance * f) {
        s = Stability::kFrequency;
        if (std::abs(damping_of(q.s) - z) < o.damping_tolerance * z) {
          s = Stability::kDamping;
          if (modal_assurance(p.participation, q.participation) > o.participation_mac)
            s = Stability::kFull;
        }
      }
      p.stability = std::max(p.stability, s);
    }
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Stable poles of one mode lie together over many orders: each joins the cluster nearest in frequency and participation, one per order (EMA-8).
std::vector<StablePole> clusters_of(const std::vector<Candidate>& poles, const EmaOptions& o) {
  struct Cluster {
    size_t first;  // of the highest order, the best resolved one
    int last_order;
    std::vector<double> re, im;
  };
  std::vector<Cluster> clusters;
  for (size_t i = poles.size(); i-- > 0;) {
    const Candidate& p = poles[i];
    if (p.stability != Stability::kFull) continue;
    Cluster* nearest = nullptr;
    double least = o.frequency_tolerance * frequency_of(p.s);
    for (Cluster& c : clusters) {
      if (c.last_order == p.order) continue;
      const Candidate& first = poles[c.first];
      const double distance = std::abs(frequency_of(first.s) - frequency_of(p.s));
      if (distance < least &&
          modal_assurance(first.participation, p.participation) > o.participation_mac - kLooser) {
        least = distance;
        nearest = &c;
      }
    }
    if (nearest == nullptr) nearest = &clusters.emplace_back(Cluster{i, p.order, {}, {}});
    nearest->last_order = p.order;
    nearest->re.push_back(p.s.real());
    nearest->im.push_back(p.s.imag());
  }
  std::vector<StablePole> out;
  out.reserve(clusters.size());
  for (const Cluster& c : clusters)
    out.push_back({{median(c.re), median(c.im)},
                   poles[c.first].participation,
                   static_cast<int>(c.re.size())});
  return out;
}

}  // namespace

Stabilisation stabilise(const VectorXd& frequency_hz, const MatrixXcd& h,
                        const ResponseNoise& noise, int responses, double decay,
                        const EmaOptions& o) {
  const Compressed c = compress(h, noise, responses, o.references);
  std::vector<Candidate> poles;
  for (const OrderPole& p :
       poly_reference_poles(frequency_hz, c.h, c.outputs, c.references, o.max_order)) {
    const Complex s = p.s + decay;
    if (!(s.real() < 0) || damping_of(s) > o.max_damping) continue;
    // Where the band's ends meet on the circle, the jump between them looks like a wide pole.
    const double width = -p.s.real() / (2 * std::numbers::pi),
                 f = p.s.imag() / (2 * std::numbers::pi);
    if (f - width < frequency_hz(0) || f + width > frequency_hz(frequency_hz.size() - 1)) continue;
    poles.push_back({p.order, s, p.participation, Stability::kNew});
  }
  judge(poles, o);
  Stabilisation out;
  out.references = c.references;
  for (const Candidate& p : poles)
    out.diagram.push_back({p.order, frequency_of(p.s), damping_of(p.s), p.stability});
  out.poles = clusters_of(poles, o);
  for (StablePole& p : out.poles)
    p.participation = c.of_excitations ? VectorXcd(c.combine * p.participation) : VectorXcd();
  return out;
}

}  // namespace panto
