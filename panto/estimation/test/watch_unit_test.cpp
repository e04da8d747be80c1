// When a filter counts as lost.
#include <gtest/gtest.h>

#include "panto/estimation/watch.hpp"
#include "panto/numerics/random.hpp"

namespace panto {
namespace {

double good(std::uint64_t k) { return normal(1, 0, k) * normal(1, 0, k); }

TEST(InnovationWatch, GoodInnovationsAreNeverLost) {
  InnovationWatch watch(50);
  for (std::uint64_t k = 0; k < 20000; ++k) ASSERT_FALSE(watch.add(good(k), 1, 0)) << k;
}

TEST(InnovationWatch, InnovationsOfThreeStandardDeviationsAreLostAfterTwoWindowsAndToldOnce) {
  InnovationWatch watch(50);
  int told = 0;
  std::uint64_t first = 0;
  for (std::uint64_t k = 0; k < 1000; ++k)
    if (watch.add(9 * good(k), 1, 0) && told++ == 0) first = k;
  EXPECT_EQ(told, 1);
  // The first whole window is at update 49; from there on all of fifty are bad.
  EXPECT_EQ(first, 98U);
}

TEST(InnovationWatch, RecoveryAndASecondLossAreToldAgain) {
  InnovationWatch watch(20);
  int told = 0;
  for (std::uint64_t k = 0; k < 900; ++k)
    if (watch.add((k / 300 == 1 ? 1 : 16) * good(k), 1, 0)) ++told;
  EXPECT_EQ(told, 2);
}

TEST(InnovationWatch, ReadingsThatTheGateLeavesOutForTheGreaterPart) {
  InnovationWatch watch(10);
  bool lost = false;
  for (int k = 0; k < 19; ++k) lost = watch.add(0, 0, 1);
  EXPECT_TRUE(lost);
  InnovationWatch half(10);
  for (std::uint64_t k = 0; k < 100; ++k) EXPECT_FALSE(half.add(good(k), 1, 1));
}

TEST(InnovationWatch, UpdatesWithoutReadingsDoNotCountAndAResetBeginsAnew) {
  InnovationWatch watch(10);
  for (int k = 0; k < 18; ++k) EXPECT_FALSE(watch.add(100, 1, 0));
  for (int k = 0; k < 100; ++k) EXPECT_FALSE(watch.add(0, 0, 0));
  watch.reset();
  for (int k = 0; k < 18; ++k) EXPECT_FALSE(watch.add(100, 1, 0));
  EXPECT_TRUE(watch.add(100, 1, 0));
}

TEST(Restart, Names) {
  EXPECT_EQ(restart_named("never"), Restart::kNever);
  EXPECT_EQ(restart_named("present"), Restart::kPresent);
  EXPECT_EQ(restart_named("initial"), Restart::kInitial);
  EXPECT_FALSE(restart_named("always"));
}

}  // namespace
}  // namespace panto
