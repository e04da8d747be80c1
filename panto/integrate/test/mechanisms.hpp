// Small mechanisms that the tests of this folder share, described in code.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <memory>
#include <numbers>

#include "panto/integrate/ode.hpp"
#include "panto/model/compile.hpp"

namespace panto::test {

using Members = std::initializer_list<std::pair<const char*, Node>>;

inline Node table(Members members) {
  Node::Table t;
  for (const auto& [key, value] : members) t.emplace_back(key, value);
  return t;
}
inline Node list(std::initializer_list<Node> items) { return Node::Array(items); }

inline Model build(Node root) {
  ModelSpec spec;
  spec.root = std::move(root);
  Result<Model> model = compile(spec);
  EXPECT_TRUE(model.ok()) << model.diagnostics().text();
  return model.ok() ? std::move(*model) : Model{};
}

inline Node coordinate_output(const char* name) {
  return table({{"name", name}, {"type", "coordinate"}, {"of", name}});
}

// Point mass 1 kg on a massless rod of 1 m; theta from the x axis.
inline Model pendulum(double g = 9.81) {
  return build(table(
      {{"name", "pendulum"},
       {"space", "planar"},
       {"gravity", list({0.0, -g})},
       {"body", list({table({{"name", "bob"},
                             {"point_mass", table({{"mass", 1.0}, {"at", list({1.0, 0.0})}})}})})},
       {"joint",
        list({table(
            {{"name", "theta"}, {"type", "revolute"}, {"parent", "ground"}, {"child", "bob"}})})},
       {"output", list({coordinate_output("theta")})}}));
}

inline Node bar(const char* name, double length, double mass) {
  return table({{"name", name}, {"bar", table({{"length", length}, {"mass", mass}})}});
}
inline Node joint(const char* name, const char* type, Node parent, Node child) {
  return table({{"name", name}, {"type", type}, {"parent", parent}, {"child", child}});
}

inline Model double_pendulum() {
  return build(table({{"name", "double_pendulum"},
                      {"space", "planar"},
                      {"gravity", list({0.0, -9.81})},
                      {"body", list({bar("upper", 1, 1), bar("lower", 0.8, 0.5)})},
                      {"joint", list({joint("theta", "revolute", "ground", "upper"),
                                      joint("beta", "revolute", "upper.end", "lower")})},
                      {"output", list({coordinate_output("theta")})}}));
}

// Crank, coupler, rocker; the rocker's ground pin at (ground, 0).
inline Model fourbar(double crank, double coupler, double rocker, double ground, double density,
                     double g, double theta, double beta, double gamma,
                     std::initializer_list<std::pair<const char*, Node>> more = {}) {
  Node root = table(
      {{"name", "fourbar"},
       {"space", "planar"},
       {"gravity", list({0.0, -g})},
       {"independent", list({"theta"})},
       {"body",
        list({bar("crank", crank, density * crank), bar("coupler", coupler, density * coupler),
              bar("rocker", rocker, density * rocker)})},
       {"joint", list({joint("theta", "revolute", "ground", "crank"),
                       joint("beta", "revolute", "crank.end", "coupler"),
                       joint("gamma", "revolute",
                             table({{"body", "ground"}, {"at", list({ground, 0.0})}}), "rocker")})},
       {"loop", list({table({{"name", "pin"},
                             {"type", "pin"},
                             {"between", list({"coupler.end", "rocker.end"})}})})},
       {"initial", table({{"guess", table({{"beta", beta}, {"gamma", gamma}})}, {"theta", theta}})},
       {"output", list({coordinate_output("theta")})}});
  for (const auto& [key, value] : more) root.set(key, value);
  return build(root);
}

// The four-bar of Sanjurjo et al. (2017): 2, 8, 5 m, ground 10 m, 1 kg/m, g = 10, from rest at a crank angle of 60 degrees.
inline Model sanjurjo() { return fourbar(2, 8, 5, 10, 1, 10, std::numbers::pi / 3, -0.9, 1.9); }

// Heavy top on a ball joint.
inline Model heavy_top() {
  return build(table(
      {{"name", "heavy_top"},
       {"space", "spatial"},
       {"gravity", list({0.0, 0.0, -9.81})},
       {"body", list({table({{"name", "top"},
                             {"mass", 15.0},
                             {"com", list({0.0, 1.0, 0.0})},
                             {"inertia", list({0.234375, 0.46875, 0.234375})}})})},
       {"joint", list({joint("ball", "spherical", "ground", "top")})},
       {"output", list({table({{"name", "cg_z"},
                               {"type", "position"},
                               {"of", table({{"body", "top"}, {"at", list({0.0, 1.0, 0.0})}})},
                               {"axis", "z"}})})}}));
}

// A free body whose corner keeps its distance from the ground: quaternions with a loop.
inline Model distance_rod() {
  return build(table(
      {{"name", "distance_rod"},
       {"space", "spatial"},
       {"gravity", list({0.0, 0.0, -9.80665})},
       {"body",
        list({table({{"name", "rod"}, {"mass", 1.0}, {"inertia", list({0.04, 0.1, 0.1})}})})},
       {"joint", list({joint("free", "free", "ground", "rod")})},
       {"loop", list({table({{"name", "rope"},
                             {"type", "distance"},
                             {"length", 2.0},
                             {"between",
                              list({table({{"body", "ground"}, {"at", list({1.0, 2.0, 3.0})}}),
                                    table({{"body", "rod"}, {"at", list({2.0, 0.0, 0.0})}})})}})})},
       {"output",
        list({table({{"name", "cg_z"}, {"type", "position"}, {"of", "rod"}, {"axis", "z"}})})}}));
}

// Two arms: the first velocity-controlled of the given order, the second driven by nothing; a damped spring between them.
inline Model velocity_arm(int order) {
  Node actuator = table({{"name", "motor"},
                         {"type", "velocity"},
                         {"order", order},
                         {"on", "theta"},
                         {"input", "0.7*sin(3*t) + 0.2"}});
  if (order == 1) actuator.set("tau", 0.3);
  if (order == 2) {
    actuator.set("zeta", 0.7);
    actuator.set("omega", 4.0);
  }
  return build(table({{"name", "velocity_arm"},
                      {"space", "planar"},
                      {"gravity", list({0.0, -9.81})},
                      {"body", list({bar("upper", 1, 1), bar("lower", 0.8, 0.5)})},
                      {"joint", list({joint("theta", "revolute", "ground", "upper"),
                                      joint("beta", "revolute", "upper.end", "lower")})},
                      {"actuator", list({actuator})},
                      {"force", list({table({{"name", "spring"},
                                             {"type", "torsion_spring"},
                                             {"on", "beta"},
                                             {"stiffness", 3.0},
                                             {"damping", 0.2}})})},
                      {"output", list({coordinate_output("theta")})}}));
}

// Slider-crank whose crank angle follows a signal, with a damped spring on the slider.
inline Model driven_slider_crank() {
  return build(table(
      {{"name", "slider_crank"},
       {"space", "planar"},
       {"gravity", list({0.0, -9.81})},
       {"body", list({bar("crank", 0.3, 1), bar("rod", 1, 2),
                      table({{"name", "block"},
                             {"box", table({{"size", list({0.1, 0.1})}, {"mass", 3.0}})}}),
                      bar("flail", 0.5, 0.4)})},
       {"joint", list({joint("theta", "revolute", "ground", "crank"),
                       joint("beta", "revolute", "crank.end", "rod"),
                       joint("s", "prismatic", "ground", "block"),
                       joint("swing", "revolute", "block", "flail")})},
       {"loop",
        list({table(
            {{"name", "wrist"}, {"type", "pin"}, {"between", list({"rod.end", "block"})}})})},
       {"driver",
        list(
            {table({{"name", "motor"}, {"on", "theta"}, {"motion", "0.3 + 4*t + 0.2*sin(5*t)"}})})},
       {"force", list({table({{"name", "spring"},
                              {"type", "joint_spring"},
                              {"on", "s"},
                              {"stiffness", 40.0},
                              {"damping", 2.0},
                              {"free", 1.0}})})},
       {"output", list({coordinate_output("s"), coordinate_output("swing")})}}));
}

// A mechanism ready to integrate. q and v: start values, closed on construction.
struct Rig {
  std::unique_ptr<Model> model;  // the workspace refers to it
  std::unique_ptr<Workspace> workspace;
  std::unique_ptr<Ode> ode;
  std::vector<double> x;

  Rig(Model m, std::vector<double> q, std::vector<double> v, bool with_work = false)
      : model(std::make_unique<Model>(std::move(m))),
        workspace(Workspace::create(*model, nominal(*model))) {
    workspace->choose_partition(0, q);
    ode = std::make_unique<Ode>(*workspace, with_work);
    x.assign(static_cast<size_t>(ode->size()), 0.0);
    ode->pack(q, v, x);
    const Status closed = ode->project(0, x);
    EXPECT_TRUE(closed == Status::kOk || closed == Status::kRepartition);
    // Newton may have moved far from the guess: choose again at the closed pose.
    EXPECT_FALSE(fatal(ode->repartition(0, x)));
  }
};

inline Rig sanjurjo_rig(bool with_work = false) {
  // Pin above: rocker and coupler angles from the circle intersection.
  return {sanjurjo(), {std::numbers::pi / 3, -0.9, 1.9}, {0, 0, 0}, with_work};
}
inline Rig double_pendulum_rig() { return {double_pendulum(), {0.3, 0.5}, {0, 1}}; }
inline Rig heavy_top_rig() {
  const double c = std::sqrt(0.5);
  return {heavy_top(), {c, c, 0, 0}, {0.0, 15.0, -0.46}};
}
inline Rig distance_rod_rig() {
  return {distance_rod(), {-1, 4, 3, 1, 0, 0, 0}, {0, 0, 0, 0.3, 0.5, -0.4}};
}
inline Rig driven_rig(bool with_work = true) {
  return {driven_slider_crank(), {0.3, -0.4, 1.28, -1.2}, {0, 0, 0, 0}, with_work};
}
inline Rig velocity_rig(int order, bool with_work = true) {
  return {velocity_arm(order), {0.2, 0.4}, {0.1, -0.3}, with_work};
}

}  // namespace panto::test
