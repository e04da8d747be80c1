// Why a mechanism cannot be assembled: which loop stays open, by how much, and which given values are to blame.
#include <algorithm>
#include <cmath>

#include "panto/mechanics/assembler.hpp"
#include "panto/mechanics/labels.hpp"

namespace panto {

namespace {

constexpr double kInsistence = 1e3;  // given values are kept while the loops take the whole misfit
constexpr double kOpen = 1e-6;       // a row further off than this is open

struct Gap {
  double length = 0, angle = 0;  // m, rad
};

Gap gap_of(const Model& m, int group, const Eigen::VectorXd& rows, double length) {
  Gap gap;
  for (int row : m.groups[static_cast<size_t>(group)].rows) {
    if (row >= m.n_position_rows) continue;
    const Channel& c = m.rows[static_cast<size_t>(row)].channel;
    if (is_length(c)) {
      gap.length += std::pow(rows(row) * length, 2);
    } else {
      const double e =
          c.kind == ChannelKind::kAxisDot ? std::asin(std::clamp(rows(row), -1.0, 1.0)) : rows(row);
      gap.angle += e * e;
    }
  }
  return {std::sqrt(gap.length), std::sqrt(gap.angle)};
}

std::string gap_text(const Gap& gap, double length) {
  std::string text;
  if (gap.length > kOpen * length) text = length_text(gap.length);
  if (gap.angle > kOpen) text += (text.empty() ? "" : " and ") + angle_text(gap.angle);
  return text;
}

}  // namespace

double Assembler::value_at(const Given& g, const Eigen::VectorXd& q) const {
  return workspace_.channel(model_.initial[static_cast<size_t>(g.condition)].channel, Order::kValue,
                            view(q), {}, {});
}

std::string Assembler::given_text(const Given& g, const Eigen::VectorXd* instead) const {
  const std::string line = g.loc.line > 0 ? " (line " + std::to_string(g.loc.line) + ")" : "";
  if (g.orientation >= 0) return "the orientation of " + g.name + line;
  const Condition& c = model_.initial[static_cast<size_t>(g.condition)];
  std::string text = g.name + " = " + quantity_text(c.channel, workspace_.number(c.value)) + line;
  if (instead) text += "; " + quantity_text(c.channel, value_at(g, *instead)) + " would fit";
  return text;
}

// A smallest set of given values that cannot all be kept; empty when the loops cannot close whatever is given.
Assembler::Kept Assembler::conflicting() {
  Kept kept(given_.size(), 0);
  Eigen::VectorXd q;
  int iterations = 0;
  if (!positions(kept, q, iterations)) return {};
  std::fill(kept.begin(), kept.end(), 1);
  for (size_t i = 0; i < given_.size(); ++i) {
    kept[i] = 0;
    if (positions(kept, q, iterations)) kept[i] = 1;
  }
  return kept;
}

void Assembler::explain_positions(const Eigen::VectorXd& nearest, Diagnostics& out) {
  // The nearest pose that keeps the given values, so that the loops show the whole gap.
  Eigen::VectorXd q = nearest;
  configure(Kept(given_.size(), 1));
  closure_.wanted = wanted_;
  for (WantedValue& w : closure_.wanted) w.weight = kInsistence;
  const ClosureResult result = closure_.solve(q);
  const Eigen::VectorXd rows = closure_.rows(q);
  if (!result.finite || !rows.allFinite()) {
    out.error(504, {},
              "initial pose: positions are not finite; a distance of zero has no direction");
    return;
  }
  const double length = workspace_.length();
  int worst = -1;
  double largest = kOpen;
  for (int i = 0; i < static_cast<int>(model_.groups.size()); ++i) {
    const Gap gap = gap_of(model_, i, rows, length);
    const double size = std::max(gap.length / length, gap.angle);
    if (size > largest) {
      largest = size;
      worst = i;
    }
  }

  std::string off;
  if (!wanted_.empty()) {
    int at = 0;
    const double most =
        rows.tail(static_cast<Eigen::Index>(wanted_.size())).cwiseAbs().maxCoeff(&at);
    const Channel& c = wanted_[static_cast<size_t>(at)].channel;
    off = quantity_text(c, most * (is_length(c) ? length : 1));
  }

  const Kept kept = conflicting();
  std::vector<size_t> blamed;
  for (size_t i = 0; i < kept.size(); ++i)
    if (kept[i]) blamed.push_back(i);
  std::string reason;
  if (blamed.empty()) {
    reason = worst >= 0 ? ", whatever initial values are chosen; check its lengths and places" : "";
  } else if (blamed.size() == 1) {
    Kept without = kept;
    without[blamed[0]] = 0;
    Eigen::VectorXd other;
    int iterations = 0;
    const bool fits = positions(without, other, iterations);
    reason = (worst >= 0 ? " with " : "") + given_text(given_[blamed[0]], fits ? &other : nullptr);
  } else {
    for (size_t i : blamed) reason += (reason.empty() ? "" : ", ") + given_text(given_[i], nullptr);
    reason = "; given values conflict: " + reason + "; drop one or make it a guess";
  }

  if (worst >= 0) {
    const bool driver =
        model_.rows[static_cast<size_t>(model_.groups[static_cast<size_t>(worst)].rows[0])]
            .target == TargetKind::kSignal;
    out.error(
        501, model_.groups[static_cast<size_t>(worst)].loc,
        group_label(model_, worst) +
            (driver ? " cannot reach its position: off by " : " cannot close: its ends stay ") +
            gap_text(gap_of(model_, worst, rows, length), length) + (driver ? "" : " apart") +
            reason);
    return;
  }
  // No loop is open: a given value is out of reach.
  out.error(502, blamed.empty() ? Loc{} : given_[blamed[0]].loc,
            "initial values cannot be reached, off by " + off + (blamed.size() == 1 ? ": " : "") +
                reason);
}

}  // namespace panto
