// SPDX-License-Identifier: Apache-2.0
//
// Hours of training with phases, drift and faults every few minutes, in virtual time: nothing gets
// stuck, the bound holds, the GPU is given back. HYPERMILE_DAY_HOURS sets the length (a test takes
// one; scripts/simulated-day a whole day).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "base/random.h"
#include "testing/control_fixture.h"

namespace hypermile {
namespace {

// The address sanitizer does, for a while; it tells of leaks itself.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsWhatIsFreed = true;
#elif defined(__has_feature)
constexpr bool kKeepsWhatIsFreed = __has_feature(address_sanitizer);
#else
constexpr bool kKeepsWhatIsFreed = false;
#endif

constexpr std::size_t kMostPages = 1024;  // 4 MB

class SimulatedDay : public ControllerTest {
 protected:
  double now() const { return (clock_.now() - begin_).value(); }

  // Trains on, counting what it takes against the default.
  void work(double seconds, const std::string& kernels = "train", double length = 1) {
    const double until = now() + seconds;
    while (now() < until) {
      const double before = now();
      train(std::min(until, before + 1), kernels, length);
      const double took = now() - before;
      spent_ += took;
      at_default_ += took * (milliseconds(40) * card_->work / card_->iteration());
    }
  }

  void trouble(Random& random) {
    switch (static_cast<int>(random.uniform(0, 9))) {
      case 0:
        port_.fails = 1;
        return;
      case 1:
        if (port_.state() == PortState::kHeld && port_.claims < 4) port_.lose();
        return;
      case 2:
        card_->lost = true;
        work(random.uniform(1, 20));
        card_->lost = false;
        return;
      case 3:
        card_->blind = true;
        work(random.uniform(5, 60));
        card_->blind = false;
        return;
      case 4:
        pause(now() + random.uniform(1, 60));
        return;
      case 5:
        work(random.uniform(1, 40), "evaluate", 0.5);
        return;
      case 6:
        card_->draw = random.uniform(250, 350);
        return;
      case 7:
        card_->work = random.uniform(0.8, 1.2);
        return;
      default:
        port_.silent = true;
        work(random.uniform(1, 30));
        port_.silent = false;
        return;
    }
  }

  double spent_ = 0, at_default_ = 0;
};

std::size_t resident_pages() {
  std::size_t size = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu %zu", &size, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident;
}

TEST_F(SimulatedDay, PassesWithFaultsEveryFewMinutes) {
  const char* told = std::getenv("HYPERMILE_DAY_HOURS");
  const double hours = told != nullptr ? std::atof(told) : 1;
  Random random(11);
  begin();
  work(300);
  std::size_t early = resident_pages();
  int faults = 0;

  while (now() < hours * 3600) {
    const bool first_hour = now() < 3600;
    work(random.uniform(60, 240));
    trouble(random);
    ++faults;
    lines_.clear();  // a day's log is long
    if (first_hour && now() >= 3600) early = resident_pages();
  }
  work(300);  // quiet at last
  const ControlState state = controller_->state();
  session_->finish();

  EXPECT_TRUE(state == ControlState::kHold || state == ControlState::kSearch ||
              state == ControlState::kBaseline)
      << to_string(state) << ": " << controller_->reason();
  EXPECT_LT(spent_ / at_default_, 1.05);
  EXPECT_TRUE(card_->held.empty());
  EXPECT_TRUE(controller_->summary().restored);
  if (!kKeepsWhatIsFreed) {
    EXPECT_LT(resident_pages(), early + kMostPages) << "more than after the first hour";
  }
  std::printf("%.0f h, %d faults: %.2f %% slower, %zu kB resident at first, %zu kB at the end\n",
              hours, faults, 100 * (spent_ / at_default_ - 1), early * 4, resident_pages() * 4);
}

}  // namespace
}  // namespace hypermile
