// A reduced model beside the full one of the same file without [reduction].
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <random>
#include <regex>
#include <string>

#include "panto/io/toml.hpp"
#include "panto/mechanics/assembly.hpp"
#include "panto/model/compile.hpp"
#include "tests/source_dir.hpp"

namespace panto::test {

inline View view(const Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }
inline MutableView view(Eigen::VectorXd& x) { return {x.data(), static_cast<size_t>(x.size())}; }

inline std::string file_text(const std::string& path) {
  std::ifstream in(PANTO_SOURCE_DIR "/" + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Beams with rotary inertia: "welded" has a weld between two of them and a master rotation, "gravity" hangs on a slide, "branches" closes a
// loop at displacements that are no masters.
inline std::string reduced_text(const std::string& name) {
  const std::string beam =
      "beam = { length = 0.6, circle = 0.012, E = 7e10, density = 2700, elements = 3, rotary = "
      "true, damping = { alpha = 0.4, beta = 2e-5 }, lumped = [{ node = 2, mass = 0.2, inertia = "
      "1e-3 }] }";
  const auto body = [&](const std::string& n) {
    return "[[body]]\nname = \"" + n + "\"\n" + beam + "\n";
  };
  const auto joint = [](const std::string& n, const std::string& type, const std::string& parent,
                        const std::string& child) {
    return "[[joint]]\nname = \"" + n + "\"\ntype = \"" + type + "\"\nparent = \"" + parent +
           "\"\nchild = \"" + child + "\"\n";
  };
  if (name == "welded")
    return "space = \"planar\"\ngravity = [0, -9.81]\n" + body("a") + body("b") + body("c") +
           joint("j1", "revolute", "ground", "a") + joint("w", "weld", "a.end", "b") +
           joint("j2", "revolute", "b.end", "c") +
           "[reduction]\nmasters = [\"b.n3.ux\", \"b.n3.uy\", \"c.n2.turn\", \"c.n4.ux\", "
           "\"c.n4.uy\"]\nlowest = 3\nreference = { a = 0.2, b = 0.2, c = 1.1 }\n";
  if (name == "gravity")
    return "space = \"planar\"\ngravity = [0, -9.81]\n[[body]]\nname = \"cart\"\nmass = 2\ncom = "
           "[0, 0]\ninertia = 0.1\n" +
           body("a") + body("b") + joint("s", "prismatic", "ground", "cart") +
           joint("j1", "revolute", "cart", "a") + joint("j2", "revolute", "a.end", "b") +
           "[reduction]\nmasters = [\"b.n4.ux\", \"b.n4.uy\"]\nlowest = 2\n";
  if (name == "branches")
    return "space = \"planar\"\nindependent = [\"j1\"]\n" + body("a") + body("b") + body("c") +
           joint("j1", "revolute", "ground", "a") +
           "[[frame]]\nname = \"o\"\nbody = \"ground\"\nat = [0.5, 0]\n" +
           joint("j2", "revolute", "ground.o", "b") + joint("j3", "revolute", "a.end", "c") +
           "[[loop]]\nname = \"l\"\ntype = \"pin\"\nbetween = [\"c.end\", \"b.end\"]\n"
           "[initial]\nj1 = 1.3\n[initial.guess]\nj2 = 1.4\nj3 = -1.3\n"
           "[reduction]\nmasters = [\"a.n3.ux\", \"a.n3.uy\"]\nlowest = 3\n";
  return file_text("models/flexible_manipulator_reduced/model.toml");
}

struct ReducedPoint {
  Eigen::VectorXd q, v, a;
};

struct ReducedCase {
  std::unique_ptr<Model> model, full;
  std::unique_ptr<Workspace> ws, full_ws;

  explicit ReducedCase(const std::string& name) : ReducedCase(reduced_text(name), 0) {}
  ReducedCase(const std::string& text, int) {
    const auto made = [](const std::string& t) {
      const auto spec = parse_model_text(t, "reduced.toml");
      EXPECT_TRUE(spec.ok()) << spec.diagnostics().text();
      auto m = compile(*spec);
      EXPECT_TRUE(m.ok()) << m.diagnostics().text();
      return std::make_unique<Model>(std::move(*m));
    };
    model = made(text);
    full = made(text.substr(0, text.find("[reduction]")));
    ws = Workspace::create(*model, nominal(*model));
    full_ws = Workspace::create(*full, nominal(*full));
  }

  // Any pose near the initial one, displaced and in motion; loops are not closed, which no law here needs.
  [[nodiscard]] ReducedPoint point(unsigned seed) const {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> d(-1, 1);
    ReducedPoint p;
    const auto start = assemble(*ws);
    EXPECT_TRUE(start.ok()) << start.diagnostics().text();
    p.q = start->q;
    p.v.resize(model->nv);
    p.a.resize(model->nv);
    for (int i = 0; i < model->nv; ++i) {
      const bool joint = i < model->joint_nv();
      p.q(i) += (joint ? 0.5 : 0.01) * d(random);
      p.v(i) = (joint ? 2 : 0.5) * d(random);
      p.a(i) = 10 * d(random);
    }
    return p;
  }

  // Coordinates of the full model at those of the reduced one (no ball joints: one speed per coordinate).
  [[nodiscard]] Eigen::VectorXd full_q(const Eigen::VectorXd& q) const {
    return both(q, Eigen::VectorXd::Zero(model->nv)).first;
  }
  // Speeds of the full model per speed of the reduced one.
  [[nodiscard]] Eigen::MatrixXd velocity_map(const Eigen::VectorXd& q) const {
    Eigen::MatrixXd map(full->nv, model->nv);
    for (int i = 0; i < model->nv; ++i)
      map.col(i) = both(q, Eigen::VectorXd::Unit(model->nv, i)).second;
    return map;
  }
  [[nodiscard]] std::pair<Eigen::VectorXd, Eigen::VectorXd> both(const Eigen::VectorXd& q,
                                                                 const Eigen::VectorXd& v) const {
    Eigen::VectorXd u(3 * model->nodes.size()), u_dot(u.size()), fq(full->nq), fv(full->nv);
    ws->node_motion(view(q), view(v), view(u), view(u_dot));
    fq.head(full->joint_nv()) = q.head(full->joint_nv());
    fv.head(full->joint_nv()) = v.head(full->joint_nv());
    for (size_t n = 0; n < full->nodes.size(); ++n)
      for (size_t axis = 0; axis < 3; ++axis)
        if (const int dof = full->nodes[n].dof[axis]; dof >= 0) {
          fq(dof) = u(static_cast<Eigen::Index>(3 * n + axis));
          fv(dof) = u_dot(static_cast<Eigen::Index>(3 * n + axis));
        }
    return {fq, fv};
  }
};

// Interior modes of the text's reduction, all of which the text then keeps.
inline int keep_all_modes(std::string& text) {
  const ReducedCase few(text, 0);
  int slaves = 0;
  for (const BeamNode& n : few.model->nodes)
    for (const int s : n.slave) slaves = std::max(slaves, s + 1);
  text = std::regex_replace(text, std::regex("modes = \\[.*\\]|lowest = \\d+"),
                            "lowest = " + std::to_string(slaves));
  return slaves;
}

// The manipulator with its motors turned from where it begins, the last link as it was.
inline Eigen::VectorXd manipulator_pose(const ReducedCase& c, double q1, double q2) {
  Eigen::VectorXd q = assemble(*c.ws)->q;
  q(0) += q1;
  q(1) += q2;
  q(2) += q2 - q1;  // the parallelogram
  q(3) += q1 - q2;
  q(4) -= q1;
  return q;
}

}  // namespace panto::test
