#include <algorithm>

#include "panto/model/model.hpp"

namespace panto {
namespace {

template <class Items, class Name>
int index_of(const Items& items, std::string_view name, Name name_of) {
  const auto it =
      std::find_if(items.begin(), items.end(), [&](const auto& x) { return name_of(x) == name; });
  return it == items.end() ? -1 : static_cast<int>(it - items.begin());
}

}  // namespace

Params nominal(const Model& model) {
  Params p;
  p.values.resize(static_cast<Eigen::Index>(model.parameters.size()));
  for (size_t i = 0; i < model.parameters.size(); ++i) {
    p.values[static_cast<Eigen::Index>(i)] = model.parameters[i].value;
  }
  return p;
}

int find_parameter(const Model& model, std::string_view name) {
  return index_of(model.parameters, name,
                  [](const ParameterInfo& p) { return std::string_view(p.name); });
}

int find_output(const Model& model, std::string_view name) {
  return index_of(model.outputs, name, [](const Output& o) { return std::string_view(o.name); });
}

int find_dof(const Model& model, std::string_view name) {
  const int speed =
      index_of(model.speed_names, name, [](const std::string& s) { return std::string_view(s); });
  if (speed >= 0) return speed;
  for (const ScalarCoordinate& c : scalar_coordinates(model))
    if (model.coordinate_names[static_cast<size_t>(c.q)] == name) return c.v;
  return -1;
}

std::vector<ScalarCoordinate> scalar_coordinates(const Model& model) {
  std::vector<ScalarCoordinate> list;
  for (const Joint& j : model.joints)
    if (j.nv == 1) list.push_back({j.q, j.v, j.type != JointType::kPrismatic});
  for (size_t i = 0; i < model.elastic.size(); ++i) {
    const int k = static_cast<int>(i);
    list.push_back({model.joint_nq() + k, model.joint_nv() + k, model.elastic[i].angular});
  }
  return list;
}

bool is_slide(const Model& model, int dof) {
  if (dof >= model.joint_nv())
    return !model.elastic[static_cast<size_t>(dof - model.joint_nv())].angular;
  for (const Joint& j : model.joints)
    if (dof >= j.v && dof < j.v + j.nv) return j.type == JointType::kPrismatic;
  return false;
}

}  // namespace panto
