// Every law on every model of the zoo.
#include <gtest/gtest.h>

#include "panto/io/load.hpp"
#include "tests/laws/laws.hpp"

namespace panto {
namespace {

class Zoo : public testing::TestWithParam<std::string> {};

TEST_P(Zoo, ObeysTheLaws) {
  const auto model = load(GetParam());
  ASSERT_TRUE(model.ok()) << model.diagnostics().text();
  laws::all(*model, 3, 1);
}

INSTANTIATE_TEST_SUITE_P(Models, Zoo, testing::ValuesIn(zoo_names()),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace panto
