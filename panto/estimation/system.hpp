// What a filter knows of the system it observes (OBS-1): a state on a manifold, how it moves in one step, what sensors read of it.
// A state is a flat array of storage() numbers; a small change of it is a vector w of size() numbers: x ⊕ w, and a ⊖ b = w.
#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <vector>

#include "panto/base/status.hpp"
#include "panto/mechanics/workspace.hpp"

namespace panto {

class System {
 public:
  System() = default;
  virtual ~System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  [[nodiscard]] virtual int storage() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual int sensors() const = 0;

  // None of the following allocates, throws or locks.

  // out = x ⊕ w; what follows from the moved entries is brought up to date by settle(). out may be x.
  virtual void move(View x, View w, MutableView out) noexcept = 0;
  // w = a ⊖ b.
  virtual void difference(View a, View b, MutableView w) noexcept = 0;
  // Makes all of x agree with its free entries (loops closed). Cheap where it already does.
  [[nodiscard]] virtual Status settle(double t, MutableView x) noexcept = 0;
  // Settles x at t and moves it to t + dt. out may need settling.
  [[nodiscard]] virtual Status step(double t, double dt, MutableView x,
                                    MutableView out) noexcept = 0;
  // The same for one of several neighbouring states that are stepped together in every step, first that of i = 0: what is known of the others, and of
  // this one in the last step, makes it cheaper. After reserve_points().
  virtual void reserve_points(int count) { (void)count; }
  [[nodiscard]] virtual Status step_point(int i, double t, double dt, MutableView x,
                                          MutableView out) noexcept {
    (void)i;
    return step(t, dt, x, out);
  }
  // F = ∂(out ⊖ ·)/∂w of the step just taken from x to out.
  [[nodiscard]] virtual Status transition(double t, double dt, MutableView x, MutableView out,
                                          Eigen::MatrixXd& f) noexcept = 0;
  // Covariance added in a step that starts at x.
  virtual void process_noise(double t, double dt, View x, Eigen::MatrixXd& q) noexcept = 0;
  // Reads some sensors, with x settled where they need it.
  [[nodiscard]] virtual Status sense(double t, MutableView x, std::span<const int> sensors,
                                     MutableView y) noexcept = 0;
  // H = ∂y/∂w, a row per sensor asked for; after sense() at the same x.
  [[nodiscard]] virtual Status sense_jacobian(double t, MutableView x, std::span<const int> sensors,
                                              Eigen::MatrixXd& h) noexcept = 0;
  [[nodiscard]] virtual double variance(int sensor) const noexcept = 0;
  // Reading minus expectation, on the circle where the sensor is an angle.
  [[nodiscard]] virtual double innovation(int sensor, double reading,
                                          double expected) const noexcept {
    (void)sensor;
    return reading - expected;
  }

  // The last so many sensors are constraints: every step reads them, as zero. They are neither gated nor reported.
  [[nodiscard]] virtual int constraints() const noexcept { return 0; }

  // True when other free entries would describe the state better: then reframe() at a settled x gives it in the new ones, and T such that
  // w_new = T w_old.
  [[nodiscard]] virtual bool worn() const noexcept { return false; }
  [[nodiscard]] virtual Status reframe(double t, MutableView x, Eigen::MatrixXd& change) noexcept {
    (void)t, (void)x, (void)change;
    return Status::kOk;
  }
  // For smoothers, which come back to states in free entries that are no longer the present ones. b: all that changes with w at x, ∂/∂w, not only
  // the free entries; later adopt() gives x and T such that w_present = T w. Systems without reframe() need neither: b is empty.
  [[nodiscard]] virtual Status whole(double t, MutableView x, Eigen::MatrixXd& b) noexcept {
    (void)t, (void)x;
    b.resize(0, 0);
    return Status::kOk;
  }
  virtual void adopt(const Eigen::MatrixXd& b, MutableView x, Eigen::MatrixXd& change) noexcept {
    (void)b, (void)x, (void)change;
  }

  // What a step remembers beside the state: first guesses, the choice of free entries. memory() numbers.
  [[nodiscard]] virtual int memory() const { return 0; }
  // Forgets it but for the free entries: steps from a state depend on it alone.
  virtual void forget() noexcept {}
  virtual void remember(MutableView out) const noexcept { (void)out; }
  // Back to what was remembered with x at t. True: the free entries are still others than then, and w_now = T w_then.
  virtual bool recall(double t, View memory, MutableView x, Eigen::MatrixXd& change) noexcept {
    (void)t, (void)memory, (void)x, (void)change;
    return false;
  }
  // The next use of x settles it anew, whatever the system has computed at it.
  virtual void unsettle(MutableView x) const noexcept { (void)x; }
};

// A system that is a model: state arrays start with all coordinates and speeds.
class ModelSystem : public System {
 public:
  // What the entries of w are: "theta", "theta_dot", "force theta", "bias crank_gyro".
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  // State with these coordinates and speeds; everything added to them is zero.
  virtual void pack(View q, View v, MutableView x) const noexcept = 0;
  [[nodiscard]] virtual View q(View x) const = 0;
  [[nodiscard]] virtual View v(View x) const = 0;
  // Evaluates outputs of the model (no biases), with x settled as far as they need it.
  [[nodiscard]] virtual Status outputs(double t, MutableView x, std::span<const int> outputs,
                                       MutableView y) noexcept = 0;
  // Their derivatives by w, as sense_jacobian() for sensors; after outputs().
  [[nodiscard]] virtual Status outputs_jacobian(double t, MutableView x,
                                                std::span<const int> outputs,
                                                Eigen::MatrixXd& h) noexcept = 0;
};

// A model whose state is its motion, with forces and biases added: what an observer of a mechanism estimates.
class MotionSystem : public ModelSystem {
 public:
  // w starts with so many changes of coordinates and speeds; then come those of forces and of biases.
  [[nodiscard]] virtual int motion() const = 0;
  // ∂q and ∂v (nv rows, by speed index) by these entries of w.
  [[nodiscard]] virtual Status state_jacobian(double t, MutableView x, Eigen::MatrixXd& dq,
                                              Eigen::MatrixXd& dv) noexcept = 0;
  [[nodiscard]] virtual View forces(View x) const = 0;
  [[nodiscard]] virtual View biases(View x) const = 0;
};

}  // namespace panto
