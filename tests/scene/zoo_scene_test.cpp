// Scenes, motions and reports of the mechanisms of the zoo.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <set>

#include "panto/io/load.hpp"
#include "panto/io/results.hpp"
#include "panto/io/toml.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/model/compile.hpp"
#include "panto/scene/modes_report.hpp"
#include "panto/scene/run_report.hpp"
#include "panto/scene/test/decode.hpp"

namespace panto::scene {
namespace {

using nlohmann::json;

Model zoo(const std::string& name) {
  Result<Model> model = load(name);
  EXPECT_TRUE(model.ok()) << name << model.diagnostics().text();
  return std::move(*model);
}

Model compiled(const std::string& text) {
  const Result<ModelSpec> spec = parse_model_text(text, "model.toml");
  EXPECT_TRUE(spec.ok()) << spec.diagnostics().text();
  Result<Model> model = compile(*spec);
  EXPECT_TRUE(model.ok()) << model.diagnostics().text();
  return std::move(*model);
}

std::vector<double> initial_pose(const Model& model) {
  const auto workspace = Workspace::create(model, nominal(model));
  const auto state = assemble(*workspace);
  EXPECT_TRUE(state.ok()) << state.diagnostics().text();
  return {state->q.begin(), state->q.end()};
}

// Displacements x, y and slope of a section in link axes, from one frame of a motion.
Vec3 bending(const Scene& scene, const double* frame, const Section& section) {
  const double angle = frame[3 * section.body + 2], c = std::cos(angle), s = std::sin(angle);
  Vec3 out{};
  for (size_t k = 0; k < 2; ++k) {
    const double* u = frame + 3 * (scene.bodies.size() + static_cast<size_t>(section.node) + k);
    const Vec3 local{c * u[0] + s * u[1], c * u[1] - s * u[0], u[2]};
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 3; ++j) out[i] += section.rows[6 * i + 3 * k + j] * local[j];
  }
  return out;
}

// Where a place is in the world, from one frame of a motion: as a page computes it.
Vec3 world(const Scene& scene, const double* frame, const Place& place, double deformation = 1) {
  if (place.body < 0) return place.at;
  auto [x, y, z] = std::tuple(place.at[0], place.at[1], place.at[2]);
  if (scene.planar) {
    if (place.section >= 0) {
      const Section& section = scene.sections[static_cast<size_t>(place.section)];
      const Vec3 d = bending(scene, frame, section);
      const double turn = std::atan(deformation * d[2]), arm = x - section.x;
      x = section.x + deformation * d[0] + std::cos(turn) * arm - std::sin(turn) * y;
      y = deformation * d[1] + std::sin(turn) * arm + std::cos(turn) * y;
    }
    const double* p = frame + 3 * place.body;
    const double c = std::cos(p[2]), s = std::sin(p[2]);
    return {p[0] + c * x - s * y, p[1] + s * x + c * y, 0};
  }
  const double* p = frame + 7 * place.body;
  const double w = p[3], a = p[4], b = p[5], c = p[6];
  // v + 2 u × (u × v + w v)
  const double cx = b * z - c * y + w * x, cy = c * x - a * z + w * y, cz = a * y - b * x + w * z;
  return {p[0] + x + 2 * (b * cz - c * cy), p[1] + y + 2 * (c * cx - a * cz),
          p[2] + z + 2 * (a * cy - b * cx)};
}

double distance(const Vec3& a, const Vec3& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// Numbers of one frame of a motion.
size_t stride_of(const Scene& scene) {
  return scene.bodies.size() * (scene.planar ? 3 : 7) + 3 * scene.nodes.size();
}

const std::vector<std::string> kChosen{"fourbar_f1", "slider_crank", "arm_spatial",
                                       "bricard",    "flyball",      "slider_crank_flexible"};
const std::set<std::string> kMeeting{"revolute", "spherical", "universal", "weld", "pin"};

TEST(ZooScene, EveryBodyIsDrawn) {
  for (const std::string& name : zoo_names()) {
    const Model model = zoo(name);
    const Scene scene = scene_of(model, nominal(model));
    ASSERT_EQ(scene.bodies.size(), model.file_joints.size()) << name;
    EXPECT_GT(scene.size, 0) << name;
    for (const DrawnBody& b : scene.bodies) {
      EXPECT_FALSE(b.shapes.empty()) << name << ": " << b.name;
      for (const Drawing& d : b.shapes) {
        const size_t least = d.kind == DrawingKind::kLink      ? 2
                             : d.kind == DrawingKind::kPolygon ? 3
                                                               : 0;
        EXPECT_GE(d.points.size(), least) << name << ": " << b.name;
      }
    }
  }
}

TEST(ZooScene, JointsMeetInTheInitialPose) {
  for (const std::string& name : zoo_names()) {
    const Model model = zoo(name);
    const Scene scene = scene_of(model, nominal(model));
    const Motion pose = motion_at(model, nominal(model), 0, initial_pose(model));
    const bool chosen = std::find(kChosen.begin(), kChosen.end(), name) != kChosen.end();
    for (const DrawnJoint& j : scene.joints) {
      EXPECT_NEAR(std::hypot(j.axis[0], j.axis[1], j.axis[2]), 1, 1e-14) << name << ": " << j.name;
      if (!kMeeting.contains(j.type)) continue;
      // Joints of the tree to round-off, loops to the tolerance of the assembly.
      const double tolerance = (chosen ? 1e-12 : 1e-9) * std::max(1.0, scene.size);
      EXPECT_LT(
          distance(world(scene, pose.poses.data(), j.a), world(scene, pose.poses.data(), j.b)),
          tolerance)
          << name << ": " << j.name;
    }
  }
}

TEST(ZooScene, PosesReproduceEveryNamedPoint) {
  for (const std::string& name : kChosen) {
    const Model model = zoo(name);
    const Params params = nominal(model);
    SimulationOptions options;
    // Beams take many steps, too many for an hour under sanitizers.
    options.until = model.beams.empty() ? 1 : 0.02;
    options.sample = options.until / 100;
    const Result<panto::Run> run = simulate(model, params, options);
    ASSERT_TRUE(run.ok()) << run.diagnostics().text();
    const Report report = report_of_run(model, params, *run);
    ASSERT_EQ(report.motions.size(), 1u) << name;
    const Motion& motion = report.motions[0];
    const Scene& scene = *report.scene;
    const size_t stride = stride_of(scene);
    ASSERT_EQ(motion.t.size(), run->t.size());
    ASSERT_EQ(motion.poses.size(), stride * motion.t.size());
    // As the page gets them: single precision.
    const json j = json::parse(to_json(report));
    const auto single = panto::scene::test::decode<float>(j["motions"][0]["poses"]["data"]);
    const std::vector<double> poses(single.begin(), single.end());
    EXPECT_EQ(panto::scene::test::decode<double>(j["motions"][0]["t"]["data"]), run->t);

    const auto workspace = Workspace::create(model, params);
    ASSERT_FALSE(scene.points.empty() && name != "flyball") << name;
    for (size_t i = 0; i < motion.t.size(); ++i) {
      std::vector<double> q;
      for (const auto& series : run->q) q.push_back(series[i]);
      for (const NamedPoint& point : scene.points) {
        // On a beam, the last frame of the name follows the node; a frame that nothing uses does not.
        const auto frame = std::find_if(model.frames.rbegin(), model.frames.rend(),
                                        [&](const Frame& f) { return f.name == point.name; });
        if (point.at.section >= 0 && frame->node < 0) continue;
        const FramePose exact =
            workspace->frame_pose(q, static_cast<int>(model.frames.rend() - frame) - 1);
        const double* at = motion.poses.data() + stride * i;
        EXPECT_LT(distance(world(scene, at, point.at), exact.position), 1e-12 * (1 + scene.size))
            << name << ": " << point.name;
        EXPECT_LT(distance(world(scene, poses.data() + stride * i, point.at), exact.position),
                  2e-6 * (1 + scene.size))
            << name << ": " << point.name;
      }
    }
  }
}

TEST(ZooScene, EveryModelMakesAReport) {
  for (const std::string& name : zoo_names()) {
    const Model model = zoo(name);
    const Report report = report_of_model(model, nominal(model));
    EXPECT_TRUE(report.notes.empty()) << name << ": " << report.notes[0];
    const json j = json::parse(to_json(report));
    EXPECT_EQ(j["scene"]["bodies"].size(), model.file_joints.size());
    EXPECT_EQ(j["motions"][0]["t"]["n"], 1);
    EXPECT_FALSE(j["panels"].empty());
    const auto places_are_on_bodies = [&](const json& place) {
      const int body = place["body"];
      return body >= -1 && body < static_cast<int>(report.scene->bodies.size());
    };
    for (const json& x : j["scene"]["joints"])
      EXPECT_TRUE(places_are_on_bodies(x["a"]) && places_are_on_bodies(x["b"])) << name;
    for (const char* kind : {"forces", "sensors", "points"})
      for (const json& x : j["scene"][kind]) EXPECT_TRUE(places_are_on_bodies(x)) << name;
  }
}

TEST(ZooScene, ModeShapesHaveTheBodiesAndNodesOfTheScene) {
  for (const std::string& name : zoo_names()) {
    const Model model = zoo(name);
    const auto workspace = Workspace::create(model, nominal(model));
    const std::vector<double> q = initial_pose(model);
    OperatingPoint point;
    point.q = Eigen::VectorXd::Map(q.data(), model.nq);
    panto::Modes modes;
    modes.list.emplace_back().shape = Eigen::VectorXd::Ones(model.nv);
    const Report report = report_of_modes(*workspace, point, modes);
    const Scene& scene = *report.scene;
    EXPECT_EQ(report.modes->pose.size(), stride_of(scene)) << name;
    EXPECT_EQ(report.modes->list[0].shape.size(), 6 * scene.bodies.size() + 3 * scene.nodes.size())
        << name;
  }
}

TEST(Scene, FourBarHasItsJointsLoopAndPoints) {
  const Model model = zoo("fourbar_f1");
  const Scene s = scene_of(model, nominal(model));
  ASSERT_EQ(s.joints.size(), 4u);
  EXPECT_EQ(s.joints[3].name, "pin");
  EXPECT_TRUE(s.joints[3].loop);
  EXPECT_EQ(s.joints[2].a.body, -1);
  EXPECT_EQ(s.joints[2].a.at, (Vec3{4, 0, 0}));
  EXPECT_EQ(s.bodies[1].shapes[0].kind, DrawingKind::kBar);
  EXPECT_DOUBLE_EQ(s.bodies[1].shapes[0].numbers[0], 2);
  EXPECT_DOUBLE_EQ(s.bodies[1].mass, 2);
  EXPECT_DOUBLE_EQ(s.bodies[1].centre[0], 1);
  const auto end = std::find_if(s.points.begin(), s.points.end(),
                                [](const NamedPoint& p) { return p.name == "coupler.end"; });
  ASSERT_NE(end, s.points.end());
  EXPECT_EQ(end->at.at, (Vec3{2, 0, 0}));
  EXPECT_EQ(s.gravity, (Vec3{0, -9.81, 0}));
  EXPECT_EQ(s.up, (Vec3{0, 1, 0}));
}

TEST(Scene, ActuatorsAndSensorsSitWhereTheyAct) {
  const Model model = zoo("slider_crank");
  const Scene s = scene_of(model, nominal(model));
  ASSERT_EQ(s.forces.size(), 2u);
  EXPECT_TRUE(s.forces[0].torque);
  EXPECT_EQ(s.forces[0].at.body, 0);
  EXPECT_FALSE(s.forces[1].torque);
  EXPECT_EQ(s.forces[1].at.body, 2);
  ASSERT_TRUE(s.forces[1].direction.has_value());
  EXPECT_EQ(std::abs((*s.forces[1].direction)[0]), 1);
  ASSERT_EQ(s.sensors.size(), 3u);
  EXPECT_EQ(s.sensors[1].type, "accelerometer");
  EXPECT_EQ(s.sensors[1].at.body, 2);
  EXPECT_EQ(s.sensors[2].at.body, 0);  // the torque acts on the crank
  EXPECT_EQ(s.bodies[2].shapes[0].kind, DrawingKind::kBox);
}

TEST(Scene, SpringsConnectTheirPlaces) {
  const Model flyball = zoo("flyball");
  const Scene s = scene_of(flyball, nominal(flyball));
  ASSERT_EQ(s.springs.size(), 2u);
  EXPECT_FALSE(s.springs[0].torsional);
  const std::set<int> bodies{s.springs[0].a.body, s.springs[0].b.body};
  EXPECT_EQ(bodies, (std::set<int>{1, 2}));
  EXPECT_EQ(s.up, (Vec3{0, 0, 1}));
  const Model arm = zoo("arm_spatial");
  const Scene passive = scene_of(arm, nominal(arm));
  ASSERT_EQ(passive.springs.size(), 1u);
  EXPECT_TRUE(passive.springs[0].torsional);
  EXPECT_EQ(passive.springs[0].a.body, 2);
  EXPECT_EQ(passive.springs[0].b.body, 3);
}

TEST(Scene, ActuatorsOfADistanceAreLegs) {
  const Model model = zoo("hexapod");
  const Scene s = scene_of(model, nominal(model));
  const auto legs = std::count_if(s.joints.begin(), s.joints.end(),
                                  [](const DrawnJoint& j) { return j.type == "distance"; });
  EXPECT_EQ(legs, 6);
  for (const DrawnForce& f : s.forces) EXPECT_EQ(f.at.body, 0) << f.name;
}

TEST(Scene, ParametersMoveTheDrawing) {
  const Model model = zoo("bricard");
  Params longer = nominal(model);
  longer.values[find_parameter(model, "L")] = 3;
  const Scene s = scene_of(model, longer);
  EXPECT_DOUBLE_EQ(s.bodies[0].shapes[0].numbers[0], 3);
  EXPECT_DOUBLE_EQ(s.bodies[0].shapes[0].at[0], 1.5);
}

TEST(Scene, PolygonsKeepTheirCorners) {
  const Model model = zoo("excavator");
  const Scene s = scene_of(model, nominal(model));
  bool found = false;
  for (const DrawnBody& b : s.bodies)
    for (const Drawing& d : b.shapes)
      if (d.kind == DrawingKind::kPolygon && d.points.size() == 4 && d.points[3][0] == 5.5)
        found = true;
  EXPECT_TRUE(found);
}

TEST(Scene, LinksOfCompoundJointsAreNotBodies) {
  const Model model = compiled(
      "space = \"spatial\"\n"
      "body = [{ name = \"a\", mass = 1, inertia = [1, 1, 1], com = [0.5, 0, 0] },\n"
      "  { name = \"b\", mass = 1, inertia = [1, 1, 1] }, { name = \"c\", mass = 1, inertia = [1, "
      "1, 1], shape = { type = \"none\" } }]\n"
      "joint = [{ name = \"f\", type = \"free\", parent = \"ground\", child = \"a\" },\n"
      "  { name = \"u\", type = \"universal\", parent = { body = \"a\", at = [1, 0, 0] }, child = "
      "\"b\" },\n"
      "  { name = \"w\", type = \"weld\", parent = { body = \"b\", at = [0, 2, 0] }, child = \"c\" "
      "}]\n"
      "force = [{ name = \"load\", type = \"force\", on = { body = \"b\", at = [0, 1, 0] }, value "
      "= [0, 0, \"-3*step(t - 1)\"] }]\n");
  const Scene s = scene_of(model, nominal(model));
  ASSERT_EQ(s.bodies.size(), 3u);
  EXPECT_EQ(s.bodies[1].name, "b");
  EXPECT_EQ(s.joints[1].a.body, 0);
  EXPECT_EQ(s.joints[1].b.body, 1);
  EXPECT_EQ(s.joints[1].axis, (Vec3{1, 0, 0}));
  // a: from the universal joint to the centre of mass. b: its two joints and its centre, which is at the first.
  ASSERT_EQ(s.bodies[0].shapes.size(), 1u);
  EXPECT_EQ(s.bodies[0].shapes[0].points, (std::vector<Vec3>{{1, 0, 0}, {0.5, 0, 0}}));
  EXPECT_EQ(s.bodies[1].shapes[0].points, (std::vector<Vec3>{{0, 0, 0}, {0, 2, 0}}));
  EXPECT_TRUE(s.bodies[2].shapes.empty());
  ASSERT_EQ(s.forces.size(), 1u);
  EXPECT_EQ(s.forces[0].name, "load");
  EXPECT_EQ(s.forces[0].at.body, 1);
  EXPECT_EQ(*s.forces[0].direction, (Vec3{0, 0, -1}));
  EXPECT_EQ(motion_at(model, nominal(model), 0, initial_pose(model)).poses.size(), 21u);
}

// ---- beams ---------------------------------------------------------------------------------------------------------------

// A clamped beam along 30 degrees with a force across its tip; `elements` in it.
Model cantilever(int elements) {
  return compiled(R"(
title = "Cantilever"
space = "planar"
body = [{ name = "beam", beam = { length = 2, rectangle = ["20 mm", "10 mm"], E = "70 GPa", density = 2700, elements = )" +
                  std::to_string(elements) + R"( } }]
joint = [{ name = "clamp", type = "weld", parent = { body = "ground", at = [1, 2], angle = "30 deg" }, child = "beam" }]
sensor = [{ name = "gauge", type = "strain_gauge", of = "beam", x = 0.3, height = 0.005, noise = 1e-6 }]
output = [{ name = "tip", type = "position", of = "beam.end", axis = "y" }]
)");
}

constexpr double kTip = 0.01, kLength = 2;  // deflection, length of the cantilever

// v(x) of a cantilever with a force across its end: v = δ x² (3 L - x) / (2 L³), v' at the end 3 δ / (2 L).
double deflection(double x) {
  return kTip * x * x * (3 * kLength - x) / (2 * std::pow(kLength, 3));
}
double slope(double x) { return kTip * x * (6 * kLength - 3 * x) / (2 * std::pow(kLength, 3)); }

// Coordinates of the cantilever bent by the force.
std::vector<double> bent(const Model& model) {
  std::vector<double> q(static_cast<size_t>(model.nq), 0.0);
  const double angle = std::numbers::pi / 6;
  const int shift = model.joint_nq() - model.joint_nv();
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const double x = kLength * static_cast<double>(i) / static_cast<double>(model.nodes.size() - 1);
    const Vec3 u{-std::sin(angle) * deflection(x), std::cos(angle) * deflection(x), slope(x)};
    for (size_t k = 0; k < 3; ++k)
      if (model.nodes[i].dof[k] >= 0) q[static_cast<size_t>(model.nodes[i].dof[k] + shift)] = u[k];
  }
  return q;
}

TEST(Beam, TheCurveOfACantileverIsItsCubicTimesTheScale) {
  for (const int elements : {1, 3}) {
    const Model model = cantilever(elements);
    const Scene scene = scene_of(model, nominal(model));
    const Motion motion = motion_at(model, nominal(model), 0, bent(model));
    ASSERT_EQ(motion.poses.size(), stride_of(scene));
    const Drawing& curve = scene.bodies[0].shapes[0];
    ASSERT_EQ(curve.kind, DrawingKind::kBeam);
    ASSERT_EQ(curve.count, 8 * elements + 1);
    const double c = std::cos(std::numbers::pi / 6), s = std::sin(std::numbers::pi / 6);
    for (const double scale : {0.0, 1.0, 50.0}) {
      for (int i = 0; i < curve.count; ++i) {
        const double x = kLength * i / (curve.count - 1), v = scale * deflection(x);
        const Vec3 drawn =
            world(scene, motion.poses.data(), {0, {x, 0, 0}, curve.first + i}, scale);
        // Round-off.
        EXPECT_LT(distance(drawn, {1 + c * x - s * v, 2 + s * x + c * v, 0}), 1e-13) << x;
      }
    }
  }
}

TEST(Beam, TheCurveEndsAtItsNodesAndPassesThroughThem) {
  const Model model = cantilever(3);
  const Params params = nominal(model);
  const Scene scene = scene_of(model, params);
  const std::vector<double> q = bent(model);
  const Motion motion = motion_at(model, params, 0, q);
  const Drawing& curve = scene.bodies[0].shapes[0];
  ASSERT_EQ(scene.nodes.size(), 4u);
  for (size_t n = 0; n < scene.nodes.size(); ++n) {
    const int section = curve.first + 8 * static_cast<int>(n);
    const double x = scene.sections[static_cast<size_t>(section)].x;
    const double* u = motion.poses.data() + 3 * (1 + n);
    const Vec3 on_curve = world(scene, motion.poses.data(), {0, {x, 0, 0}, section});
    const Vec3 on_link = world(scene, motion.poses.data(), {0, {x, 0, 0}});
    EXPECT_LT(distance(on_curve, {on_link[0] + u[0], on_link[1] + u[1], 0}), 1e-15);
    EXPECT_NEAR(
        bending(scene, motion.poses.data(), scene.sections[static_cast<size_t>(section)])[2], u[2],
        1e-16);
  }
  const auto workspace = Workspace::create(model, params);
  const auto output = std::find_if(model.outputs.begin(), model.outputs.end(),
                                   [](const Output& o) { return o.name == "tip"; });
  const FramePose tip = workspace->frame_pose(q, output->channel.frame_a);
  const auto end = std::find_if(scene.points.begin(), scene.points.end(),
                                [](const NamedPoint& p) { return p.name == "beam.end"; });
  ASSERT_NE(end, scene.points.end());
  EXPECT_EQ(end->at.section, curve.first + curve.count - 1);
  EXPECT_LT(distance(world(scene, motion.poses.data(), end->at), tip.position), 1e-15);
}

TEST(Beam, WithoutDisplacementItIsAStraightBar) {
  const Model model = cantilever(2);
  const Scene scene = scene_of(model, nominal(model));
  const Motion motion =
      motion_at(model, nominal(model), 0, std::vector<double>(static_cast<size_t>(model.nq), 0.0));
  for (size_t i = 0; i < scene.sections.size(); ++i) {
    const Vec3 at{scene.sections[i].x, 0, 0};
    EXPECT_EQ(world(scene, motion.poses.data(), {0, at, static_cast<int>(i)}, 100),
              world(scene, motion.poses.data(), {0, at}));
  }
}

TEST(Beam, AGaugeBetweenNodesSitsOnTheCurve) {
  const Model model = cantilever(2);
  const Scene scene = scene_of(model, nominal(model));
  const Motion motion = motion_at(model, nominal(model), 0, bent(model));
  ASSERT_EQ(scene.sensors.size(), 1u);
  const Place& gauge = scene.sensors[0].at;
  const Drawing& curve = scene.bodies[0].shapes[0];
  EXPECT_EQ(gauge.section, curve.count);  // one of its own, after the curve
  const Section& section = scene.sections[static_cast<size_t>(gauge.section)];
  EXPECT_NEAR(section.x, 0.3, 1e-15);
  const Vec3 d = bending(scene, motion.poses.data(), section);
  EXPECT_NEAR(d[1], deflection(0.3), 1e-16);
  EXPECT_NEAR(d[2], slope(0.3), 1e-16);
}

TEST(Beam, ModesBend) {
  const Model model = cantilever(4);
  const auto workspace = Workspace::create(model, nominal(model));
  OperatingPoint point;
  point.q = Eigen::VectorXd::Zero(model.nq);
  panto::Modes modes;
  panto::Mode first;
  first.shape = Eigen::VectorXd::Map(bent(model).data(), model.nv);
  modes.list.push_back(first);
  const Report report = report_of_modes(*workspace, point, modes);
  const Scene& scene = *report.scene;
  ASSERT_EQ(report.modes->pose.size(), stride_of(scene));
  const std::vector<double>& shape = report.modes->list[0].shape;
  ASSERT_EQ(shape.size(), 6 * scene.bodies.size() + 3 * scene.nodes.size());
  // The clamped link stays, the tip moves by the deflection and turns by the slope.
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(shape[i], 0, 1e-10);
  EXPECT_NEAR(std::hypot(shape[shape.size() - 3], shape[shape.size() - 2]), kTip, 1e-15);
  EXPECT_NEAR(shape.back(), slope(kLength), 1e-15);
}

TEST(Beam, TheReportHasSectionsAndTheScale) {
  const Model model = cantilever(2);
  Report report = report_of_model(model, nominal(model));
  const json chosen_by_page = json::parse(to_json(report));
  EXPECT_FALSE(chosen_by_page.contains("deformation"));
  report.deformation = 50;
  const json j = json::parse(to_json(report));
  EXPECT_EQ(j["deformation"], 50);
  EXPECT_EQ(j["scene"]["nodes"], (std::vector<std::string>{"beam.n1", "beam.n2", "beam.n3"}));
  EXPECT_EQ(j["scene"]["sections"].size(), report.scene->sections.size());
  EXPECT_EQ(j["scene"]["sections"][3]["rows"].size(), 18u);
  EXPECT_EQ(j["scene"]["bodies"][0]["shapes"][0]["kind"], "beam");
  EXPECT_EQ(j["scene"]["sensors"][0]["section"], 17);
  const json rigid =
      json::parse(to_json(report_of_model(zoo("pendulum"), nominal(zoo("pendulum")))));
  EXPECT_FALSE(rigid["scene"].contains("sections"));
}

TEST(Motion, KeepsAtMostSoManyFramesFirstAndLastAmongThem) {
  EXPECT_EQ(chosen_frames(3, 5), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(chosen_frames(10, 4), (std::vector<size_t>{0, 3, 6, 9}));
  EXPECT_TRUE(chosen_frames(0, 5).empty());
  const std::vector<size_t> many = chosen_frames(123457, kMostFrames);
  EXPECT_EQ(many.size(), kMostFrames);
  EXPECT_EQ(many.front(), 0u);
  EXPECT_EQ(many.back(), 123456u);
  EXPECT_TRUE(std::is_sorted(many.begin(), many.end()));
}

TEST(Motion, CountsTurnsAndKeepsTheSignOfQuaternions) {
  const Model pendulum = compiled(
      "space = \"planar\"\nbody = [{ name = \"a\", bar = { length = 1, mass = 1 } }]\n"
      "joint = [{ name = \"q\", type = \"revolute\", parent = { body = \"ground\", at = [0, 0], "
      "angle = 1 }, child = \"a\" }]\n");
  panto::Run run;
  run.coordinate_names = {"q"};
  run.q.resize(1);
  for (int i = 0; i <= 10; ++i) {
    run.t.push_back(i);
    run.q[0].push_back(5.0 * i);  // most of a turn from frame to frame
  }
  Diagnostics notes;
  const Motion m = motion_of(pendulum, nominal(pendulum), run, notes);
  EXPECT_TRUE(notes.items().empty());
  for (size_t i = 0; i <= 10; ++i)
    EXPECT_NEAR(m.poses[3 * i + 2], 1 + 5.0 * static_cast<double>(i), 1e-12);

  const Model top = compiled(
      "space = \"spatial\"\nbody = [{ name = \"a\", mass = 1, inertia = [1, 1, 1] }]\n"
      "joint = [{ name = \"q\", type = \"revolute\", parent = \"ground\", child = \"a\", axis = "
      "\"x\" }]\n");
  run.q[0].clear();
  for (int i = 0; i <= 10; ++i) run.q[0].push_back(1.3 * i);
  const Motion turning = motion_of(top, nominal(top), run, notes);
  for (size_t i = 1; i <= 10; ++i) {
    double along = 0;
    for (size_t k = 3; k < 7; ++k)
      along += turning.poses[7 * i + k] * turning.poses[7 * (i - 1) + k];
    EXPECT_NEAR(along, std::cos(0.65), 1e-12);
  }
}

TEST(Motion, WithoutCoordinatesThereIsANoteInsteadOfAnAnimation) {
  const Model model = zoo("fourbar_f1");
  SimulationOptions options;
  options.until = 0.1;
  options.keep_states = false;
  const Result<panto::Run> run = simulate(model, nominal(model), options);
  const Report report = report_of_run(model, nominal(model), *run);
  EXPECT_TRUE(report.motions.empty());
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("W0642"), std::string::npos);
}

TEST(RunReport, GhostsMoveWithTheirOwnNumbers) {
  const Model model = zoo("fourbar_f1");
  SimulationOptions options;
  options.until = 0.5;
  const Result<panto::Run> run = simulate(model, nominal(model), options);
  const std::vector<Override> heavier{{"coupler.bar.mass", "4"}};
  const Result<Model> other = load("fourbar_f1", heavier);
  const Params params = nominal(model), other_params = nominal(*other);
  const Result<panto::Run> second = simulate(*other, other_params, options);
  const Recorded ghost{*second, &*other, &other_params};
  const Report report = report_of_run({*run, &model, &params}, &ghost);
  ASSERT_EQ(report.motions.size(), 2u);
  EXPECT_NE(report.motions[0].poses, report.motions[1].poses);

  const Model pendulum = zoo("pendulum");
  const Params pendulum_params = nominal(pendulum);
  const Result<panto::Run> third = simulate(pendulum, pendulum_params, options);
  const Recorded foreign{*third, &pendulum, &pendulum_params};
  const Report odd = report_of_run({*run, &model, &params}, &foreign);
  EXPECT_EQ(odd.motions.size(), 1u);
  ASSERT_FALSE(odd.notes.empty());
  EXPECT_NE(odd.notes[0].find("W0643"), std::string::npos);
}

TEST(RunReport, ARunKeepsItsModel) {
  ModelSpec spec;
  const std::vector<Override> set{{"coupler.bar.mass", "4"}};
  const Result<Model> model = load("fourbar_f1", set, &spec);
  panto::Run run;
  run.model = "fourbar_f1";
  EXPECT_FALSE(model_of(run).ok());
  run.model_text = spec.source_text;
  run.settings = {"coupler.bar.mass=4"};
  const Result<Model> again = model_of(run);
  ASSERT_TRUE(again.ok()) << again.diagnostics().text();
  EXPECT_EQ(again->name, "fourbar_f1");
  EXPECT_EQ(nominal(*again).values, nominal(*model).values);
}

}  // namespace
}  // namespace panto::scene
