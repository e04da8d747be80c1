#include "panto/base/diagnostics.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "panto/base/contract.hpp"
#include "panto/base/numerical_failure.hpp"
#include "panto/base/status.hpp"

namespace panto {
namespace {

TEST(Diagnostics, AnErrorIsPrintedWithPlaceIdAndMessage) {
  Diagnostic d;
  d.id = 101;
  d.message = "no file";
  EXPECT_EQ(to_string(d), "error[E0101]: no file");
  d.loc.file = "arm.toml";
  d.severity = Severity::kWarning;
  EXPECT_EQ(to_string(d), "arm.toml: warning[W0101]: no file");
  d.loc.line = 42;
  d.loc.column = 8;
  d.severity = Severity::kError;
  EXPECT_EQ(to_string(d), "arm.toml:42:8: error[E0101]: no file");
}

TEST(Diagnostics, OnlyErrorsMakeThemFail) {
  Diagnostics d;
  EXPECT_TRUE(d.ok());
  d.warning(1, {}, "w");
  EXPECT_TRUE(d.ok());
  d.error(2, {}, "e");
  EXPECT_FALSE(d.ok());
  EXPECT_EQ(d.items().size(), 2u);
}

TEST(Diagnostics, TextListsThemInFileOrder) {
  Diagnostics d;
  d.error(1, {"f", 9, 1}, "c");
  d.error(2, {"f", 2, 7}, "b");
  d.warning(3, {"f", 2, 3}, "a");
  EXPECT_EQ(d.text(), "f:2:3: warning[W0003]: a\nf:2:7: error[E0002]: b\nf:9:1: error[E0001]: c\n");
}

TEST(Diagnostics, AppendedErrorsCount) {
  Diagnostics a, b;
  b.error(1, {}, "e");
  a.append(b);
  EXPECT_FALSE(a.ok());
  ASSERT_EQ(a.items().size(), 1u);
  EXPECT_EQ(a.items()[0].message, "e");
}

TEST(Result, HoldsAValueOrTheReasonWhyNot) {
  const Result<int> good(3);
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, 3);
  Diagnostics d;
  d.error(1, {}, "because");
  const Result<int> bad(d);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.diagnostics().items()[0].message, "because");
}

TEST(Result, WarningsMayAccompanyAValue) {
  Diagnostics d;
  d.warning(1, {}, "careful");
  const Result<std::string> r("x", d);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->size(), 1u);
  EXPECT_EQ(r.diagnostics().items().size(), 1u);
}

TEST(Suggestions, TheNearestCandidateWins) {
  EXPECT_EQ(nearest("forearn", {"arm", "forearm", "foreman"}), "forearm");
  EXPECT_EQ(nearest("angel", {"angle", "speed"}), "angle");  // exchanged letters count once
  EXPECT_EQ(did_you_mean("forearn", {"forearm"}), "; did you mean \"forearm\"?");
}

TEST(Suggestions, NothingIsSuggestedWhenAllIsFar) {
  EXPECT_FALSE(nearest("elbow", {"wrist", "shoulder"}));
  EXPECT_FALSE(nearest("elbow", {}));
  EXPECT_EQ(did_you_mean("elbow", {"wrist"}), "");
  EXPECT_FALSE(nearest(std::string(100000, 'a'), {std::string(100000, 'b')}));
}

TEST(Contract, AViolationTellsWhatWasRequired) {
  try {
    PANTO_EXPECT(1 + 1 == 3, "sizes differ");
    FAIL() << "no exception";
  } catch (const std::logic_error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("sizes differ"), std::string::npos);
    EXPECT_NE(text.find("1 + 1 == 3"), std::string::npos);
  }
  EXPECT_NO_THROW(PANTO_EXPECT(true, "never"));
}

TEST(Diagnostics, IterationsForModesThatFailAreNoBadInput) {
  Diagnostics failed, bad;
  failed.error(908, {}, "the 3 lowest interior modes were not found");
  bad.append(failed);
  bad.error(907, {}, "K is indefinite");
  EXPECT_TRUE(numerical_failure(failed));
  EXPECT_FALSE(numerical_failure(bad));
}

TEST(Status, EveryStatusHasItsOwnText) {
  std::set<std::string> texts;
  for (int i = -5; i <= 2; ++i) texts.insert(to_string(static_cast<Status>(i)));
  EXPECT_EQ(texts.size(), 8u);
  EXPECT_EQ(texts.count("unknown status"), 0u);
}

TEST(Status, TheSignSeparatesRecoverableFromFatal) {
  EXPECT_TRUE(ok(Status::kOk));
  EXPECT_FALSE(ok(Status::kNotConverged));
  EXPECT_FALSE(fatal(Status::kNotConverged));
  EXPECT_TRUE(fatal(Status::kSingular));
}

}  // namespace
}  // namespace panto
