// How constraints, values and errors are named in messages.
#pragma once

#include <string>

#include "panto/model/model.hpp"

namespace panto {

// loop "pin", driver "motor", actuator "drive".
std::string group_label(const Model& model, int group);
// The part of its group that a row stands for: "x", "distance", "angle", a coordinate's name.
std::string row_component(const Model& model, int row);
// "30 deg", "12 mm", "2 rad/s": a channel's value or rate for people.
std::string quantity_text(const Channel& channel, double value, Order order = Order::kValue);
std::string angle_text(double radians);
std::string length_text(double metres);
// Whether the channel's value is a length (angles and direction cosines are not).
bool is_length(const Channel& channel);

}  // namespace panto
