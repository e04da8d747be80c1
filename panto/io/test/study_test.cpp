#include "panto/io/study.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "panto/io/toml.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

std::string pendulum(const std::string& mass) {
  return R"toml(
space = "planar"
parameters = { k = "2 N m/rad" }
body = [{ name = "b", point_mass = { mass = )toml" +
         mass + R"toml(, at = [1, 0] } }]
joint = [{ name = "q", type = "revolute", parent = "ground", child = "b" }]
force = [{ name = "s", type = "torsion_spring", on = "q", stiffness = "k" }]
)toml";
}

std::string study(const std::string& model, const std::string& more = "") {
  return "model = \"" + model + "\"\nparameters.k = {}\n" + more +
         "[[pose]]\nfrequencies = [0.3]\n";
}

double mass_of(const LoadedStudy& loaded) {
  const int i = find_parameter(loaded.model, "b.point_mass.mass");
  return i < 0 ? -1 : nominal(loaded.model).values(i);
}

// A zoo with one model of mass 1, and a folder for studies.
class StudyFile : public testing::Test {
 protected:
  void SetUp() override {
    zoo_.put("swing/model.toml", pendulum("1"));
    setenv("PANTO_MODELS", zoo_.path().c_str(), 1);
  }
  void TearDown() override { unsetenv("PANTO_MODELS"); }
  double mass(const std::string& text) {
    const Result<LoadedStudy> loaded = load_identify_study(folder_.put("study.toml", text));
    EXPECT_TRUE(loaded) << loaded.diagnostics().text();
    return loaded ? mass_of(*loaded) : -1;
  }
  test::TemporaryFolder zoo_, folder_;
};

TEST_F(StudyFile, ModelOfTheZoo) { EXPECT_EQ(mass(study("swing")), 1); }

TEST_F(StudyFile, ModelFileBesideTheStudy) {
  folder_.put("heavy.toml", pendulum("2"));
  folder_.put("heavier/model.toml", pendulum("3"));
  EXPECT_EQ(mass(study("heavy.toml")), 2);
  EXPECT_EQ(mass(study("heavier")), 3);
  EXPECT_EQ(mass(study("heavier/model.toml")), 3);
}

TEST_F(StudyFile, FrequenciesFromAModalTable) {
  folder_.put("test.toml",
              "[[mode]]\nfrequency = 0.3\ndamping = 0.01\nfrequency_sigma = 0.002\n\n[[mode]]\n"
              "frequency = 0.8\ndamping = 0.01\n");
  const auto read = [&](const std::string& keys) {
    return load_identify_study(folder_.put("study.toml",
                                           "model = \"swing\"\nparameters.k = {}\n"
                                           "[[pose]]\ntest = \"test.toml\"\n" +
                                               keys));
  };
  const Result<LoadedStudy> loaded = read("modes = [1, 3]\n");
  ASSERT_TRUE(loaded) << loaded.diagnostics().text();
  const std::vector<MeasuredFrequency>& modes = loaded->study.poses[0].modes;
  ASSERT_EQ(modes.size(), 2U);
  EXPECT_EQ(modes[0].frequency_hz, 0.3);
  EXPECT_EQ(modes[0].sigma_hz, 0.002);
  EXPECT_EQ(modes[0].damping, -1);
  EXPECT_EQ(modes[1].frequency_hz, 0.8);
  EXPECT_EQ(modes[1].sigma_hz, 0);
  EXPECT_EQ(modes[1].mode, 2);
  const auto refused = [&](const std::string& keys, const char* id) {
    const Result<LoadedStudy> wrong = read(keys);
    EXPECT_FALSE(wrong);
    EXPECT_NE(wrong.diagnostics().text().find(id), std::string::npos) << wrong.diagnostics().text();
  };
  refused("modes = [1]\n", "E0113");
  refused("modes = [1, 0]\n", "E0112");
  refused("frequencies = [0.3]\n", "E0115");
}

TEST_F(StudyFile, WhatIsBesideTheStudyComesBeforeTheZoo) {
  folder_.put("swing/model.toml", pendulum("4"));
  EXPECT_EQ(mass(study("swing")), 4);
}

TEST_F(StudyFile, ModelFileByItsFullName) {
  EXPECT_EQ(mass(study(zoo_.path("swing/model.toml"))), 1);
}

TEST_F(StudyFile, SetsParametersAndKeepsTheDescription) {
  const std::string text = study("swing", "set = { \"b.point_mass.mass\" = \"5 kg\" }\n");
  const Result<LoadedStudy> loaded = load_identify_study(folder_.put("study.toml", text));
  ASSERT_TRUE(loaded) << loaded.diagnostics().text();
  EXPECT_EQ(mass_of(*loaded), 5);
  EXPECT_EQ(loaded->spec.source_text, pendulum("1"));
  EXPECT_EQ(loaded->study.poses.size(), 1u);
}

TEST_F(StudyFile, DescribedInCode) {
  const Result<ModelSpec> description = parse_model_text(study("swing"), "");
  ASSERT_TRUE(description);
  EXPECT_TRUE(load_identify_study(*description));
}

TEST_F(StudyFile, AMissingModelIsReportedAtItsKey) {
  const Result<LoadedStudy> loaded = load_identify_study(folder_.put("study.toml", study("swong")));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.diagnostics().text(), folder_.path("study.toml") +
                                             ":1:9: error[E0201]: there is no file and no model "
                                             "\"swong\"; did you mean \"swing\"?\n");
}

TEST_F(StudyFile, AMissingStudyIsReported) {
  const Result<LoadedStudy> loaded = load_identify_study(folder_.path("none.toml"));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.diagnostics().items().front().id, 105);
}

}  // namespace
}  // namespace panto
