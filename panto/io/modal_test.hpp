// Modal tables: what a modal test measured, as TOML, CSV or universal files (docs/ema.md tells the formats).
#pragma once

#include <string>
#include <string_view>

#include "panto/base/diagnostics.hpp"
#include "panto/model/modal_test.hpp"

namespace panto {

// By the name of the file: .csv is a table with a row per mode and point, .uff or .unv a universal file (dataset 55, six digits), anything else TOML. All that is wrong is told: E0951 values that cannot be
// (frequencies that are not positive, damping ratios outside 0 … 1, negative deviations, directions of no length), E0952 points that are there twice, rows that
// contradict each other, columns that are missing; what the readers of TOML and CSV find. A damaged CSV table is an error, no row is dropped.
// Modes are sorted by frequency. Directions are made unit vectors.
Result<ModalTest> read_modal_test(const std::string& path);
Result<ModalTest> parse_modal_toml(std::string_view text, const std::string& file);
Result<ModalTest> parse_modal_csv(std::string_view text, const std::string& file);

// What is written reads back as the same doubles. Points are listed apart where the shapes do not tell all of them in their order.
std::string modal_toml(const ModalTest& test);
std::string modal_csv(const ModalTest& test);
// By the name of the file, as above; complete or not at all (E0620).
Diagnostics write_modal_test(const ModalTest& test, const std::string& path);

}  // namespace panto
