// SPDX-License-Identifier: Apache-2.0
#include "evidence/policy/careful_rival.h"

#include <gtest/gtest.h>

#include <vector>

#include "policy/job_ledger.h"

namespace hypermile {
namespace {

constexpr double kWindow = 30;

PolicyContext three_settings() {
  PolicyContext context;
  context.settings.resize(3);
  context.settings[1].sm_clock = Mhz(1200);
  context.settings[2].sm_clock = Mhz(900);
  return context;
}

// Asks for setting 2 for ever and writes down what it sees.
class Listener : public Policy {
 public:
  explicit Listener(std::vector<double>& times) : times_(times) {}
  Step next() override { return {.setting = 2, .exploring = true}; }
  void observe(const Window& window) override {
    times_.push_back(window.time_per_iteration->value());
  }

 private:
  std::vector<double>& times_;
};

Window window_of(double seconds) {
  Window window;
  window.iterations = kWindow;
  window.time_per_iteration = Seconds(seconds);
  window.duration = Seconds(kWindow * seconds);
  window.power = Watts(200);
  return window;
}

class CarefulRivalTest : public testing::Test {
 protected:
  void run(std::size_t setting, double seconds) {
    ledger_.pass(setting != 0, kWindow, Seconds(kWindow * seconds));
    ledger_.add(setting, window_of(seconds));
    careful_->observe(window_of(seconds));
    careful_->account(ledger_);
  }

  std::vector<double> times_;
  JobLedger ledger_{3, kWindow};
  std::unique_ptr<Policy> careful_ =
      make_careful(std::make_unique<Listener>(times_), three_settings());
};

TEST_F(CarefulRivalTest, CutsALookThatIsPlainlyTooSlow) {
  careful_->account(ledger_);
  EXPECT_FALSE(careful_->next().abort_above);
  run(0, 1);
  run(0, 1);
  const Step step = careful_->next();
  EXPECT_EQ(step.setting, 2U);
  EXPECT_TRUE(step.aborts(kWindow, Seconds(1.5)));
  EXPECT_FALSE(step.aborts(kWindow, Seconds(1.05)));
}

TEST_F(CarefulRivalTest, MeasuresTheDefaultAgainWithoutTheRivalsKnowledge) {
  run(0, 1);
  for (int i = 0; i < 45; ++i) run(2, 1.02);
  const std::size_t seen = times_.size();
  EXPECT_EQ(careful_->next().setting, 0U);
  run(0, 1);
  EXPECT_EQ(times_.size(), seen);
  EXPECT_EQ(careful_->next().setting, 2U);
}

TEST_F(CarefulRivalTest, ShowsTimesAsTheyWouldBeAtTheFirstDefault) {
  run(0, 1);
  run(0, 1);
  for (int i = 0; i < 40; ++i) run(0, 1.2);
  run(2, 1.2 * 1.05);
  EXPECT_NEAR(times_.back(), 1.05, 0.01);
}

}  // namespace
}  // namespace hypermile
