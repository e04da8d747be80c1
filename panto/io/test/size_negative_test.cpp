// Files that are no model at all: binary, truncated, huge, deep. They are refused, quickly and with a message.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <random>

#include "panto/io/load.hpp"
#include "panto/io/toml.hpp"
#include "panto/model/compile.hpp"
#include "tests/temporary_folder.hpp"

namespace panto {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string first_finding(const std::string& text) {
  const Result<ModelSpec> spec = parse_model_text(text, "f");
  const Diagnostics d = spec ? compile(*spec).diagnostics() : spec.diagnostics();
  return d.items().empty() ? "" : to_string(d.items()[0]);
}

constexpr const char* kModel = R"toml(# Ein Viergelenk, ä ö ü
space = "planar"
gravity = [0, -9.81]
parameters = { L = "16 mm", N = 2 }
body = [
  { name = "crank", bar = { length = "L", mass = 1 }, point_mass = [{ mass = 1, at = [0, 1e-3] }] },
  { repeat = "i = 1..N", name = "b{i}", mass = 1 },
]
[[joint]]
name = 'theta'
type = "revolute"
parent = { body = "ground", at = [4, 0], angle = "30 deg" }
child = "crank"
[[joint]]
repeat = "i = 1..N"
name = "q{i}"
type = "free"
parent = "crank.end"
child = "b{i}"
[initial]
theta = 0x10
q1.x = 1_000.5
title.a = """multi
line"""
)toml";

TEST(Truncated, AtEveryByteIsNeverACrash) {
  const std::string text = kModel;
  for (size_t n = 0; n <= text.size(); ++n) first_finding(text.substr(0, n));
}

TEST(Truncated, FromTheFrontIsNeverACrash) {
  const std::string text = kModel;
  for (size_t n = 0; n <= text.size(); ++n) first_finding(text.substr(n));
}

TEST(Binary, IsRefused) {
  std::string bytes(1 << 16, '\0');
  EXPECT_EQ(first_finding(bytes),
            "f:1:1: error[E0104]: byte 0x00 is not text; a model file is UTF-8 text");
  std::mt19937 random(1);
  for (char& c : bytes) c = static_cast<char>(random());
  EXPECT_NE(first_finding(bytes), "");
  EXPECT_NE(first_finding("title = \"\xff\xfe\"\n"), "");  // not UTF-8
  EXPECT_NE(first_finding("title = \"\xc3\"\n"), "");      // half a character
  std::string utf16 = "\xff\xfe";
  for (const char c : std::string("[body]")) utf16 += {c, '\0'};
  EXPECT_NE(first_finding(utf16), "");
}

TEST(Binary, ByteOrderMarkIsAccepted) {
  EXPECT_EQ(first_finding("\xEF\xBB\xBFspace = \"planar\"\n").find("E0104"), std::string::npos);
}

TEST(Huge, IsRefusedWithoutReadingIt) {
  const test::TemporaryFolder folder;
  const std::string path = folder.put("huge.toml", " ");
  fs::resize_file(path, 100u << 20);  // sparse: 100 MB of zeros
  const auto start = Clock::now();
  const Result<ModelSpec> spec = read_model_file(path);
  EXPECT_LT(milliseconds_since(start), 100);
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.diagnostics().items()[0].message, "the file has 100 MB, the limit is 16 MB");
}

TEST(Huge, OfPermittedSizeIsRead) {
  std::string text = "space = \"planar\"\n[parameters]\n";
  for (int i = 0; text.size() < (4u << 20); ++i) text += "p" + std::to_string(i) + " = 1.5\n";
  const auto start = Clock::now();
  first_finding(text);
  EXPECT_LT(milliseconds_since(start), 20000);
}

TEST(Deep, NestingIsRefusedBeforeTheStackEnds) {
  constexpr int kDeep = 100000;
  for (const std::string open : {"[", "{a=", "[{a="}) {
    std::string text = "x = ";
    for (int i = 0; i < kDeep; ++i) text += open;
    EXPECT_NE(first_finding(text).find("error[E0103]"), std::string::npos) << open;
  }
  for (const std::string part : {"a.", "\"a\" . ", "'a'."}) {
    std::string key;
    for (int i = 0; i < kDeep; ++i) key += part;
    EXPECT_NE(first_finding(key + "a = 1\n").find("error[E0103]"), std::string::npos) << part;
    EXPECT_NE(first_finding("[" + key + "a]\n").find("error[E0103]"), std::string::npos) << part;
  }
  std::string expression =
      "space = \"planar\"\nparameters = { a = \"" + std::string(kDeep, '(') + "\" }\n";
  EXPECT_NE(first_finding(expression).find("error[E0301]"), std::string::npos);
}

TEST(Files, ThatAreNoneAreRefused) {
  EXPECT_EQ(read_model_file("/nowhere/model.toml").diagnostics().text(),
            "/nowhere/model.toml: error[E0105]: the file does not exist\n");
  EXPECT_EQ(read_model_file("/dev/zero").diagnostics().text(),
            "/dev/zero: error[E0105]: not a regular file\n");
  EXPECT_EQ(read_model_file("/").diagnostics().text(), "/: error[E0105]: not a regular file\n");
}

}  // namespace
}  // namespace panto
