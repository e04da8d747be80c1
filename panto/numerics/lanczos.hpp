// Low-noise differentiators (Lanczos): derivatives of equally spaced samples by least-squares polynomials, over a window centred on the sample
// (needs later samples) or ending at it (causal).
#pragma once

#include <span>
#include <vector>

namespace panto {

// Weights of the derivative of `order` of the least-squares polynomial of `degree` through `points` samples, oldest first, at sample number `at`:
// Σ w_k y_k / h^order. order <= degree < points. Three on either side of the centre, first derivative, degree 1 or 2: k/28, k = -3 … 3.
// Standard deviation of the result: that of a sample times |w|₂ / h^order.
std::vector<double> lanczos_weights(int points, int degree, int order, int at);

// At every sample: the window centred on it, near the ends the first or last one. `points` odd, not more than there are samples.
std::vector<double> lanczos(std::span<const double> y, double h, int order = 1, int points = 7,
                            int degree = 2);

// The window that ends at the newest sample, sample by sample. With degree = order the result is that of the window's centre, (points - 1)/2 samples
// late and quiet; with a higher degree it is that of the newest sample, and noisier.
class CausalLanczos {
 public:
  CausalLanczos(int points, int degree, int order, double h);
  void reset() noexcept { count_ = 0; }
  // Zero until `points` samples have come. Does not allocate.
  double next(double y) noexcept;
  [[nodiscard]] bool ready() const noexcept { return count_ >= samples_.size(); }

 private:
  std::vector<double> weights_, samples_;  // samples_: the newest before next_
  size_t next_ = 0, count_ = 0;
};

}  // namespace panto
