// The flexible manipulator of Chapter 6: plant of 30 degrees of freedom, its readings, and an observer of 13 on them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "validation/support.hpp"

namespace panto::validation::palomba {

inline constexpr double kFlexibleStep = 1e-4;
inline const std::vector<std::string> kAngles{"q1", "q2", "q5"};
inline const std::vector<std::string> kMasters{"AD.n2.ux", "AD.n2.uy", "BC.n3.ux",
                                               "BC.n3.uy", "EF.n2.ux", "EF.n2.uy"};

// The zoo's reduced manipulator with the torques (6.7), and the same without its [reduction].
struct Plants {
  std::unique_ptr<Model> full, reduced;
};
Result<Plants> plants();

// Course of angles, then masters: values and rates.
struct Course {
  std::vector<double> t;
  std::vector<std::vector<double>> q, v;
};
struct Plant {
  Course course;
  std::vector<std::vector<double>> sensors;  // ideal, [sensor][step]
};
Result<Plant> run_plant(const Model& full, double until);

enum class Encoders : std::uint8_t {
  kEdges,  // quantised; used where a reading changes: there the angle is the edge between both
  kEvery,  // quantised; every reading, as if its error were independent of the last
  kWhite,  // noise of the same variance in place of quantisation
};

struct Readings {
  std::vector<std::vector<double>> y, u;  // [step][sensor], [step][motor]
};
Readings read(const Plant& plant, Encoders encoders, unsigned seed);

struct Observed {
  Course course;
  int references = 0;  // changes of them
};
Result<Observed> observe(const Model& reduced, const std::string& filter, const Plant& plant,
                         const Readings& readings, Encoders encoders);

}  // namespace panto::validation::palomba
