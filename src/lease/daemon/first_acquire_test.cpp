// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/first_acquire.h"

#include <gtest/gtest.h>

#include "lease/protocol/message.h"

namespace hypermile {
namespace {

std::string frame(const wire::Request& request) {
  return wire::encode_request({1, request}).value();
}

TEST(FirstAcquire, NamesTheGpusOnceTheRequestIsWhole) {
  const std::string whole = frame(wire::AcquireRequest{{GpuUuid("GPU-1"), GpuUuid("GPU-2")}});

  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const auto part = read_first_acquire(whole.substr(0, bytes));
    ASSERT_TRUE(part.ok()) << bytes;
    EXPECT_FALSE(part->has_value()) << bytes;
  }
  const auto gpus = read_first_acquire(whole + "more");
  ASSERT_TRUE(gpus.ok());
  ASSERT_TRUE(gpus->has_value());
  EXPECT_EQ((*gpus)->size(), 2U);
}

TEST(FirstAcquire, AnyOtherRequestNamesNone) {
  for (const wire::Request& request :
       {wire::Request(wire::StatusRequest{}), wire::Request(wire::ListRequest{}),
        wire::Request(wire::ResetRequest{}), wire::Request(wire::RenewRequest{1})}) {
    const auto refused = read_first_acquire(frame(request));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
  }
  EXPECT_EQ(read_first_acquire(std::string(64, '\0')).error().code, ErrorCode::kParse);
}

}  // namespace
}  // namespace hypermile
