// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace hypermile {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{ErrorCode::kUsage, "odd", "give an even number"};
  return n / 2;
}

Result<int> quarter(int n) {
  ASSIGN_OR_RETURN(const int first, half(n));
  ASSIGN_OR_RETURN(const int second, half(first));
  return second;
}

Result<void> check_even(int n) {
  RETURN_IF_ERROR(half(n));
  return {};
}

TEST(Result, CarriesTheValueThroughSeveralSteps) {
  EXPECT_EQ(*quarter(12), 3);
}

TEST(Result, ReturnsTheFirstErrorUnchanged) {
  const Result<int> result = quarter(6);

  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kUsage);
  EXPECT_EQ(result.error().line(), "odd; give an even number");
  EXPECT_EQ(result.optional(), std::nullopt);
}

TEST(Result, AddsContextInFront) {
  EXPECT_EQ((Error{ErrorCode::kIo, "disk full", {}}).in("log.jsonl").line(),
            "log.jsonl: disk full");
}

TEST(Result, VoidResultIsSuccessUnlessAnErrorIsGiven) {
  EXPECT_TRUE(check_even(2).ok());
  EXPECT_FALSE(check_even(3).ok());
}

TEST(Result, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));

  const std::unique_ptr<int> value = std::move(result).value();

  EXPECT_EQ(*value, 7);
}

}  // namespace
}  // namespace hypermile
