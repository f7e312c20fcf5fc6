// SPDX-License-Identifier: Apache-2.0
#include "sim/ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "sim/sim_ranks.h"
#include "testing/sim_fixture.h"

namespace hypermile {
namespace {

constexpr std::uint64_t kSeeds[] = {3, 4, 5, 6};

// Ranks on cards of one model, with a given amount of work each.
class RanksTest : public testing::Test {
 protected:
  void make(const std::vector<double>& work, bool exact = true) {
    sheet_ = sheet_of("rtx3080ti");
    if (exact) sheet_.constants = typical(sheet_.constants);
    std::vector<SimGpu*> gpus;
    for (std::size_t i = 0; i < work.size(); ++i) {
      SimGpuOptions options;
      options.seed = kSeeds[i];
      options.effects = kNoEffects;
      cards_.push_back(std::make_unique<SimGpu>(sheet_, clock_, options));
      gpus.push_back(cards_.back().get());
    }
    ranks_ = std::make_unique<SimRanks>(gpus);
    workload_.load = simple_load(1.5e12, 1e9);
    ranks_->start(workload_, 0, work);
  }

  double energy_of(std::size_t rank) { return cards_[rank]->true_view().totals.energy_j; }

  VirtualClock clock_;
  GpuSheet sheet_;
  Workload workload_;
  std::vector<std::unique_ptr<SimGpu>> cards_;
  std::unique_ptr<SimRanks> ranks_;
};

TEST_F(RanksTest, GoAsFastAsTheSlowestWouldAlone) {
  make({1.0, 1.2});
  SimGpu alone(sheet_, clock_, {5, kNoEffects, true});
  Workload slow = workload_;
  slow.load = scaled(workload_.load, 1.2);
  alone.start(slow);

  clock_.advance(Seconds(60));

  EXPECT_NEAR(cards_[0]->iterations(), alone.iterations(), 1.5);
  EXPECT_NEAR(cards_[1]->iterations(), alone.iterations(), 1.5);
}

TEST_F(RanksTest, AreNeverMoreThanAnIterationApart) {
  make({1.0, 1.05, 0.9, 1.2}, false);

  for (int i = 0; i < 500; ++i) {
    clock_.advance(milliseconds(7));
    double least = kNever;
    double most = 0;
    for (const auto& card : cards_) {
      least = std::min(least, std::floor(card->iterations()));
      most = std::max(most, std::floor(card->iterations()));
    }
    ASSERT_LE(most - least, 1);
  }
  EXPECT_GT(cards_[0]->iterations(), 10);
}

TEST_F(RanksTest, ARankThatWaitsDrawsLessAndCountsAsBusy) {
  make({0.5, 1.0});

  clock_.advance(Seconds(20));

  EXPECT_LT(energy_of(0), 0.85 * energy_of(1));
  EXPECT_GT(cards_[0]->true_view().totals.busy_s, 19.5);
  EXPECT_LT(cards_[0]->true_view().totals.sm_s, 12);
}

TEST_F(RanksTest, ASlowerClockOfTheRankThatWaitsCostsNoTimeAndSavesEnergy) {
  make({0.8, 1.0});
  clock_.advance(Seconds(20));
  const double before = cards_[1]->iterations();
  const double energy = energy_of(0);
  ASSERT_TRUE(cards_[0]->apply({Mhz(1605)}).front().result.ok());
  clock_.advance(Seconds(1));
  const double from = cards_[1]->iterations();
  const double energy_from = energy_of(0);

  clock_.advance(Seconds(19));

  EXPECT_NEAR((cards_[1]->iterations() - from) / 19, before / 20, 0.01 * before / 20);
  EXPECT_LT((energy_of(0) - energy_from) / 19, 0.97 * energy / 20);
}

TEST_F(RanksTest, MovingInManyStepsGivesTheSameBits) {
  make({1.0, 1.1, 0.95}, false);
  for (int i = 0; i < 4001; ++i) clock_.advance(milliseconds(2.5));
  std::vector<double> energies;
  for (std::size_t i = 0; i < 3; ++i) energies.push_back(energy_of(i));
  ranks_.reset();
  cards_.clear();
  // A second clock that starts at zero like the first.
  VirtualClock again;
  std::vector<SimGpu*> gpus;
  for (std::size_t i = 0; i < 3; ++i) {
    cards_.push_back(
        std::make_unique<SimGpu>(sheet_, again, SimGpuOptions{kSeeds[i], kNoEffects, true}));
    gpus.push_back(cards_.back().get());
  }
  {
    SimRanks ranks(gpus);
    ranks.start(workload_, 0, {1.0, 1.1, 0.95});

    again.sleep_until(clock_.now());

    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(energy_of(i), energies[i]) << i;
  }
  cards_.clear();
}

TEST_F(RanksTest, NoRankContinuesWhileOneIsMissing) {
  make({1.0, 1.0});
  std::vector<SimRank> ranks = {cards_[0]->as_rank(), cards_[1]->as_rank()};

  advance_together(std::span(ranks).first(1), false, Seconds(5));

  EXPECT_EQ(ranks[0].state->job.train_iterations, 0U);
  EXPECT_TRUE(ranks[0].state->job.waiting);
  EXPECT_EQ(ranks[0].state->now_s, 5);
}

TEST_F(RanksTest, ARankThatIsAheadWaitsUntilTheOthersAreThere) {
  make({1.0, 1.0});
  clock_.advance(Seconds(1));
  std::vector<SimRank> ranks = {cards_[0]->as_rank(), cards_[1]->as_rank()};
  ranks[0].iterations_before = 3;
  const auto before = ranks[0].state->job.train_iterations;

  advance_together(ranks, true, Seconds(30));

  const auto [a, b] =
      std::pair(ranks[0].state->job.train_iterations + 3, ranks[1].state->job.train_iterations);
  EXPECT_GT(ranks[0].state->job.train_iterations, before);
  EXPECT_LE(a > b ? a - b : b - a, 1U);
}

TEST_F(RanksTest, ShortIterationsMeetInGroups) {
  make({1.0, 1.3});
  ranks_.reset();
  std::vector<SimGpu*> gpus = {cards_[0].get(), cards_[1].get()};
  Workload quick;
  quick.load = simple_load(1.5e10, 1e7);  // a millisecond per iteration
  SimRanks ranks(gpus);
  ranks.start(quick, 0, {1.0, 1.3});
  const double begin = clock_.now().since_origin().value();

  clock_.advance(Seconds(5));

  EXPECT_EQ(begin, 0);
  EXPECT_GT(cards_[0]->iterations(), 1000);
  EXPECT_NEAR(cards_[0]->iterations(), cards_[1]->iterations(), 15);
}

}  // namespace
}  // namespace hypermile
