// References of a reduced mechanism: members of RigidWorkspace.
#include <algorithm>

#include "panto/mechanics/rigid/rigid_workspace.hpp"

namespace panto {

References* references_of(Workspace& workspace) {
  const Model& m = workspace.model();
  if (!m.reduction.active() || m.reduction.modes.empty()) return nullptr;
  return dynamic_cast<References*>(&workspace);
}

namespace rigid {

namespace {

constexpr double kAngleStep =
    1e-5;  // of the central differences by link angles, whose error is the square of it

}  // namespace

template <class S>
void RigidWorkspace<S>::bake_references() {
  if constexpr (S::kPlanar) {
    if (!model_.reduction.active() || model_.reduction.modes.empty()) return;
    if (!map_) {
      map_ = std::make_unique<erls::ReferenceMap>(model_);
      references_.push_back({model_.reduction.shapes, {}, {}, {}});
      references_.front().fit.angles = fit_.angles = model_.reduction.reference;
      for (auto* v : {&link_angles_, &link_rates_, &unit_}) v->assign(model_.beams.size(), 0.0);
      const auto modes = static_cast<Eigen::Index>(model_.reduction.modes.size());
      eta_.setZero(modes);
      eta_dot_.setZero(modes);
      for (Eigen::MatrixXd* m : {&map_x_, &map_v_}) m->setZero(modes, modes);
      slope_.setZero(2 * modes, 2 * static_cast<Eigen::Index>(model_.beams.size()));
    }
    map_->bake(c_.beams);
    fit_ = map_->fit(shapes_, fit_.angles);
    const erls::ReducedLayout layout(model_);
    for (erls::Reference& r : references_) {
      r.fit = map_->fit(r.shapes, r.fit.angles);
      r.constants = erls::bake_reduction<double>(model_, layout, c_.beams, r.shapes);
      if (floating_) r.plan = floating_->baked(r.constants);
    }
  }
}

template <class S>
void RigidWorkspace<S>::place_beams(View q, View v) noexcept {
  set_positions(q);
  if (!v.empty()) eq_.kin.velocities(c_, v.data());
  for (size_t i = 0; i < model_.beams.size(); ++i) {
    if constexpr (S::kPlanar) {
      const auto& body = eq_.kin.body[static_cast<size_t>(model_.beams[i].body) + 1];
      link_angles_[i] = body.angle;
      link_rates_[i] = v.empty() ? 0.0 : body.w;
    }
  }
  forget_pose();
}

template <class S>
bool RigidWorkspace<S>::make_reference(View q, erls::Reference& out) {
  if constexpr (S::kPlanar) {
    if (!map_) return false;
    place_beams(q, {});
    // Those most like the model's own, whatever the way there: a pose has one set of modes.
    const Eigen::MatrixXd own = erls::turned_shapes(model_, model_.reduction.shapes, link_angles_);
    const auto modes = erls::interior_modes(model_, c_.beams, link_angles_, &own);
    if (!modes) return false;
    out.shapes = modes->shapes;
    out.fit = map_->fit(out.shapes, link_angles_);
    out.constants =
        erls::bake_reduction<double>(model_, erls::ReducedLayout(model_), c_.beams, out.shapes);
    if (floating_) out.plan = floating_->baked(out.constants);
    return true;
  } else {
    (void)q, (void)out;
    return false;
  }
}

template <class S>
void RigidWorkspace<S>::adopt(const erls::Reference& next) noexcept {
  shapes_ = next.shapes;  // all references are of one size: nothing is allocated
  fit_ = next.fit;
  if constexpr (S::kPlanar) {
    c_.reduced = next.constants;
    eq_.forget();
    mass_.bake(c_);
    if (floating_) floating_->use(next.plan);
    floating_last_ = false;
  }
  forget_pose();
}

template <class S>
double RigidWorkspace<S>::change_amplitudes(MutableView q, MutableView v) noexcept {
  const auto modes = eta_.size();
  double* amplitude =
      q.data() + model_.reduction.first_mode + model_.joint_nq() - model_.joint_nv();
  double* rate = v.data() + model_.reduction.first_mode;
  eta_ = Eigen::Map<const Eigen::VectorXd>(amplitude, modes);
  eta_dot_ = Eigen::Map<const Eigen::VectorXd>(rate, modes);
  const double lost = map_->lost(eta_);
  Eigen::Map<Eigen::VectorXd>(amplitude, modes).noalias() = map_->x() * eta_;
  Eigen::Map<Eigen::VectorXd> new_rate(rate, modes);
  new_rate.noalias() = map_->x() * eta_dot_;
  new_rate.noalias() += map_->v() * eta_;
  return lost;
}

template <class S>
double RigidWorkspace<S>::reduction_drift(View q) {
  if (!map_) return 0;
  place_beams(q, {});
  return map_->drift(shapes_, link_angles_);
}

template <class S>
bool RigidWorkspace<S>::renew_reduction(MutableView q, MutableView v, double& jump) {
  erls::Reference next;
  if (!make_reference(q, next)) return false;
  place_beams(q, v);
  if (!map_->compute(shapes_, next.shapes, link_angles_, link_rates_)) return false;
  jump = change_amplitudes(q, v);
  adopt(next);
  reference_ = -1;
  return true;
}

template <class S>
int RigidWorkspace<S>::add_reference(View q) {
  erls::Reference next;
  if (!make_reference(q, next)) return -1;
  references_.push_back(std::move(next));
  return references() - 1;
}

template <class S>
void RigidWorkspace<S>::use_reference(int i) noexcept {
  if (i == reference_ || i < 0 || i >= references()) return;
  adopt(references_[static_cast<size_t>(i)]);
  reference_ = i;
}

template <class S>
double RigidWorkspace<S>::misfit(View q) noexcept {
  place_beams(q, {});
  return map_->misfit(shapes_, fit_, link_angles_);
}

template <class S>
double RigidWorkspace<S>::reference_misfit(int i, View q) noexcept {
  place_beams(q, {});
  const erls::Reference& r = references_[static_cast<size_t>(i)];
  return map_->misfit(r.shapes, r.fit, link_angles_);
}

template <class S>
bool RigidWorkspace<S>::hand_over(int from, int to, MutableView q, MutableView v,
                                  Eigen::MatrixXd& change) noexcept {
  const Eigen::MatrixXd &old = references_[static_cast<size_t>(from)].shapes,
                        &next = references_[static_cast<size_t>(to)].shapes;
  place_beams(q, v);
  const auto modes = eta_.size(), nv = static_cast<Eigen::Index>(model_.nv),
             first = static_cast<Eigen::Index>(model_.reduction.first_mode);
  eta_ = Eigen::Map<const Eigen::VectorXd>(q.data() + first + model_.joint_nq() - model_.joint_nv(),
                                           modes);
  eta_dot_ = Eigen::Map<const Eigen::VectorXd>(v.data() + first, modes);
  // Columns of slope_: (η⁺, η̇⁺) by the angle of each link, then by its rate.
  const auto links = static_cast<Eigen::Index>(model_.beams.size());
  slope_.setZero();
  for (Eigen::Index l = 0; l < links; ++l) {
    const double angle = link_angles_[static_cast<size_t>(l)];
    for (const double sign : {1.0, -1.0}) {
      link_angles_[static_cast<size_t>(l)] = angle + sign * kAngleStep;
      if (!map_->compute(old, next, link_angles_, link_rates_)) return false;
      const double factor = sign / (2 * kAngleStep);
      slope_.col(l).head(modes).noalias() += factor * map_->x() * eta_;
      slope_.col(l).tail(modes).noalias() += factor * map_->x() * eta_dot_;
      slope_.col(l).tail(modes).noalias() += factor * map_->v() * eta_;
    }
    link_angles_[static_cast<size_t>(l)] = angle;
    // V is linear in the rates.
    std::fill(unit_.begin(), unit_.end(), 0.0);
    unit_[static_cast<size_t>(l)] = 1;
    if (!map_->compute(old, next, link_angles_, unit_)) return false;
    slope_.col(links + l).tail(modes).noalias() = map_->v() * eta_;
  }
  if (!map_->compute(old, next, link_angles_, link_rates_)) return false;
  change.setZero();
  change.block(0, first, modes, modes) = map_->x();
  change.block(modes, first, modes, modes) = map_->v();
  change.block(modes, nv + first, modes, modes) = map_->x();
  if constexpr (S::kPlanar)
    for (Eigen::Index l = 0; l < links; ++l)
      for (int body = model_.beams[static_cast<size_t>(l)].body; body != kGround;) {
        const Joint& j = model_.joints[static_cast<size_t>(body)];
        for (int k = j.v; k < j.v + j.nv; ++k) {
          const double turns = eq_.kin.column[static_cast<size_t>(k)].w;
          change.col(k) += turns * slope_.col(l);
          change.col(nv + k) += turns * slope_.col(links + l);
        }
        body = j.parent;
      }
  (void)change_amplitudes(q, v);
  reference_ = -1;  // whatever was in use
  use_reference(to);
  return true;
}

template void RigidWorkspace<Planar>::bake_references();
template void RigidWorkspace<Planar>::place_beams(View, View) noexcept;
template bool RigidWorkspace<Planar>::make_reference(View, erls::Reference&);
template void RigidWorkspace<Planar>::adopt(const erls::Reference&) noexcept;
template double RigidWorkspace<Planar>::change_amplitudes(MutableView, MutableView) noexcept;
template double RigidWorkspace<Planar>::reduction_drift(View);
template bool RigidWorkspace<Planar>::renew_reduction(MutableView, MutableView, double&);
template int RigidWorkspace<Planar>::add_reference(View);
template void RigidWorkspace<Planar>::use_reference(int) noexcept;
template double RigidWorkspace<Planar>::misfit(View) noexcept;
template double RigidWorkspace<Planar>::reference_misfit(int, View) noexcept;
template bool RigidWorkspace<Planar>::hand_over(int, int, MutableView, MutableView,
                                                Eigen::MatrixXd&) noexcept;
template void RigidWorkspace<Spatial>::bake_references();
template void RigidWorkspace<Spatial>::place_beams(View, View) noexcept;
template bool RigidWorkspace<Spatial>::make_reference(View, erls::Reference&);
template void RigidWorkspace<Spatial>::adopt(const erls::Reference&) noexcept;
template double RigidWorkspace<Spatial>::change_amplitudes(MutableView, MutableView) noexcept;
template double RigidWorkspace<Spatial>::reduction_drift(View);
template bool RigidWorkspace<Spatial>::renew_reduction(MutableView, MutableView, double&);
template int RigidWorkspace<Spatial>::add_reference(View);
template void RigidWorkspace<Spatial>::use_reference(int) noexcept;
template double RigidWorkspace<Spatial>::misfit(View) noexcept;
template double RigidWorkspace<Spatial>::reference_misfit(int, View) noexcept;
template bool RigidWorkspace<Spatial>::hand_over(int, int, MutableView, MutableView,
                                                 Eigen::MatrixXd&) noexcept;

}  // namespace rigid

}  // namespace panto
