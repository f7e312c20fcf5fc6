// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gtest/gtest.h>

#include <concepts>

namespace hypermile {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Multipliable = requires(A a, B b) {
  a* b;
};

static_assert(Addable<Watts, Watts>);
static_assert(!Addable<Watts, Joules>, "different units do not add");
static_assert(!std::convertible_to<double, Mhz>, "a plain number has no unit");
static_assert(!std::convertible_to<Mhz, Watts>);
static_assert(!Multipliable<Watts, Watts>, "only products that physics has");

TEST(Units, PowerOverTimeIsEnergyAndBack) {
  EXPECT_EQ(Watts(300) * Seconds(2), Joules(600));
  EXPECT_EQ(Joules(600) / Seconds(2), Watts(300));
  EXPECT_EQ(Joules(600) / Watts(300), Seconds(2));
}

TEST(Units, RatioOfOneUnitIsAPlainNumber) {
  const double ratio = Mhz(1410) / Mhz(705);

  EXPECT_DOUBLE_EQ(ratio, 2.0);
}

TEST(Units, OrderAndSumsFollowTheNumbers) {
  Seconds total = milliseconds(500);
  total += microseconds(500000);

  EXPECT_EQ(total, Seconds(1));
  EXPECT_LT(Mhz(345), Mhz(1980));
}

}  // namespace
}  // namespace hypermile
