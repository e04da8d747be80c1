#include "panto/scene/base64.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "panto/scene/test/decode.hpp"

namespace panto::scene {
namespace {

TEST(Base64, IsThatOfRfc4648) {
  // Section 10 of the RFC.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xfb\xff"), "+/8=");
}

TEST(Base64, WritesNumbersInLittleEndian) {
  // 1 is 0x3f800000 and 0x3ff0000000000000.
  EXPECT_EQ(base64_f4(std::vector<double>{1}), "AACAPw==");
  EXPECT_EQ(base64_f8(std::vector<double>{1}), "AAAAAAAA8D8=");
  EXPECT_EQ(base64_f8(std::vector<double>{}), "");
}

TEST(Base64, NumbersComeBack) {
  const std::vector<double> numbers{0,    -0.0,   1,     -2.5,
                                    M_PI, 1e-300, 1e300, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(test::decode<double>(base64_f8(numbers)), numbers);
  const std::vector<float> floats = test::decode<float>(base64_f4(numbers));
  ASSERT_EQ(floats.size(), numbers.size());
  EXPECT_EQ(floats[4], static_cast<float>(M_PI));
  EXPECT_EQ(floats[6], std::numeric_limits<float>::infinity());
  const std::vector<double> none{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_TRUE(std::isnan(test::decode<float>(base64_f4(none)).at(0)));
}

}  // namespace
}  // namespace panto::scene
