// SPDX-License-Identifier: Apache-2.0
#include "control/slack_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace hypermile {
namespace {

// A job whose answers are known: each rank needs its work at its clock, all wait for the slowest,
// and a rank that waits draws a third.
class SlackJob {
 public:
  SlackJob(std::vector<double> work, double sensitivity = 0.8, double noise = 0.001)
      : work_(std::move(work)), sensitivity_(sensitivity), noise_(noise) {
    for (double clock = 1500; clock >= 600; clock -= 15) ladder_.push_back(clock);
    limit_.assign(work_.size(), 1e9);
  }

  SlackTerms terms() const {
    SlackTerms terms;
    terms.gpus = work_.size();
    terms.ladder = ladder_;
    for (const double limit : limit_) terms.reached.emplace_back(std::min(limit, ladder_.front()));
    terms.sensitivity = sensitivity_;
    return terms;
  }
  // This card cannot go faster than that, whatever it is told.
  void limit(std::size_t gpu, double clock) { limit_[gpu] = clock; }
  void slow_down(double factor) { pace_ *= factor; }

  double time_of(std::size_t gpu, std::size_t rung) const {
    const double clock = std::min(ladder_[rung], limit_[gpu]);
    return pace_ * work_[gpu] * std::pow(ladder_.front() / clock, sensitivity_);
  }
  double time(const Rungs& rungs) const {
    double slowest = 0;
    for (std::size_t i = 0; i < rungs.size(); ++i)
      slowest = std::max(slowest, time_of(i, rungs[i]));
    return slowest;
  }
  double energy(const Rungs& rungs) const {
    double sum = 0;
    for (std::size_t i = 0; i < rungs.size(); ++i) {
      const double clock = std::min(ladder_[rungs[i]], limit_[i]) / ladder_.front();
      const double watts = 60 + 240 * clock * clock * clock;
      const double busy = time_of(i, rungs[i]);
      sum += watts * busy + watts / 3 * (time(rungs) - busy);
    }
    return sum;
  }
  Window window(const Rungs& rungs) {
    Window window;
    window.iterations = 30;
    window.time_per_iteration = Seconds(time(rungs) * (1 + noise_ * random_.gaussian()));
    window.time_error = noise_;
    window.energy_per_iteration = Joules(energy(rungs) * (1 + noise_ * random_.gaussian()));
    window.energy_error = noise_;
    window.power = *window.energy_per_iteration / *window.time_per_iteration;
    window.power_error = noise_;
    return window;
  }
  // Runs the search to its end; the longest joint time met, against the first.
  double play(SlackSearch& search) {
    const double first = time(Rungs(work_.size(), 0));
    double worst = 1;
    for (int i = 0; i < 200 && !search.done(); ++i) {
      worst = std::max(worst, time(search.next()) / first);
      search.observe(window(search.next()));
    }
    EXPECT_TRUE(search.done());
    return worst;
  }
  void seed(std::uint64_t seed) { random_ = Random(seed); }

 private:
  std::vector<double> work_, ladder_, limit_;
  double sensitivity_, noise_;
  double pace_ = 0.1;
  Random random_{1};
};

TEST(SlackSearch, FindsTheRankThatWaits) {
  SlackJob job({0.85, 1.0});
  SlackSearch search(job.terms());

  job.play(search);

  EXPECT_GT(search.kept()[0], 5U);  // at least 6 % lower
  EXPECT_EQ(search.kept()[1], 0U);
  EXPECT_LT(job.energy(search.kept()), 0.97 * job.energy({0, 0}));
  EXPECT_LE(search.windows(), 12U);
}

TEST(SlackSearch, FindsAllThatWaitForOne) {
  SlackJob job({0.9, 0.9, 0.9, 0.9, 1.0, 0.9, 0.9, 0.9});
  SlackSearch search(job.terms());

  job.play(search);

  EXPECT_EQ(search.kept()[4], 0U);
  const auto lowered = std::ranges::count_if(search.kept(), [](std::size_t r) { return r > 0; });
  EXPECT_EQ(lowered, 7);
  EXPECT_LE(search.windows(), 20U);
}

TEST(SlackSearch, GivesUpSoonWhereAllKeepTheSamePace) {
  for (const std::size_t gpus : {2U, 4U, 8U}) {
    SlackJob job(std::vector<double>(gpus, 1));
    SlackSearch search(job.terms());

    job.play(search);

    EXPECT_EQ(search.kept(), Rungs(gpus, 0)) << gpus;
    EXPECT_LE(search.windows(), 10U) << gpus;
  }
}

TEST(SlackSearch, LevelsCardsToTheOneThatIsAtItsLimit) {
  SlackJob job({1, 1, 1, 1});
  job.limit(2, 1400);
  SlackSearch search(job.terms());
  search.observe(job.window(search.next()));

  const Rungs first = search.next();
  job.play(search);

  EXPECT_EQ(first, (Rungs{6, 6, 0, 6}));  // 1410 MHz, in the first test
  EXPECT_GE(search.kept()[0], 5U);
  EXPECT_EQ(search.kept()[2], 0U);
}

TEST(SlackSearch, DoesNotTrustStepsThatCouldNotBeSeen) {
  SlackJob job({0.9, 1.0}, 0.05, 0.005);
  SlackSearch search(job.terms());

  job.play(search);

  EXPECT_EQ(search.kept(), (Rungs{0, 0}));
  EXPECT_LE(search.windows(), 3U);
}

TEST(SlackSearch, WithoutRoomNothingMayMove) {
  SlackJob job({0.9, 1.0}, 0.8, 0);
  SlackTerms terms = job.terms();
  terms.room = 0;
  SlackSearch search(terms);

  job.play(search);

  EXPECT_DOUBLE_EQ(job.time(search.kept()), job.time({0, 0}));
}

// Whatever the cards and the noise: what is kept costs no time that matters, and never energy.
TEST(SlackSearch, KeepsThePaceOnRandomJobs) {
  Random random(7);
  int found = 0;
  for (int run = 0; run < 400; ++run) {
    const std::size_t gpus = 2 + static_cast<std::size_t>(random.uniform() * 7);
    std::vector<double> work;
    for (std::size_t i = 0; i < gpus; ++i) work.push_back(random.uniform(0.85, 1));
    SlackJob job(work, random.uniform(0.3, 1), random.uniform(0.0002, 0.003));
    job.seed(static_cast<std::uint64_t>(run));
    const Rungs none(gpus, 0);
    SlackSearch search(job.terms());

    const double worst = job.play(search);

    ASSERT_LE(job.time(search.kept()) / job.time(none), 1.0075) << run;
    ASSERT_LE(job.energy(search.kept()), job.energy(none) * 1.0001) << run;
    ASSERT_LE(worst, 1.09) << run;
    ASSERT_LE(search.windows(), 2 * (10 + 3 * gpus) + 1) << run;
    found += search.kept() != none ? 1 : 0;
  }
  EXPECT_GT(found, 200);
}

TEST(SlackSearch, AJobThatSlowsDownMeanwhileIsNotTakenForSlack) {
  for (int seed = 1; seed <= 20; ++seed) {
    SlackJob job({1.0, 1.0, 1.0, 1.0});
    job.seed(static_cast<std::uint64_t>(seed));
    SlackSearch search(job.terms());
    for (int i = 0; i < 40 && !search.done(); ++i) {
      // Slow minutes come and go.
      if (i % 3 == 1) job.slow_down(i % 2 == 0 ? 1 / 1.03 : 1.03);
      search.observe(job.window(search.next()));
    }

    EXPECT_LE(job.time(search.kept()) / job.time({0, 0, 0, 0}), 1.01) << seed;
  }
}

TEST(SlackSearch, UnusableWindowsChangeNothingAndEndAtLast) {
  SlackJob job({0.9, 1.0});
  SlackSearch search(job.terms());
  Window bad;
  bad.unusable = "no power";

  for (int i = 0; i < 100; ++i) search.observe(bad);

  EXPECT_TRUE(search.done());
  EXPECT_EQ(search.kept(), (Rungs{0, 0}));
}

TEST(SlackSearch, AnInterruptionBeginsTheComparisonAnew) {
  SlackJob job({0.9, 1.0});
  SlackSearch search(job.terms());
  search.observe(job.window(search.next()));
  ASSERT_NE(search.next(), (Rungs{0, 0}));

  search.interrupted();

  EXPECT_EQ(search.next(), (Rungs{0, 0}));
  job.play(search);
  EXPECT_GT(search.kept()[0], 0U);
}

// A policy that shares the job's time comes for two Windows and goes.
TEST(SlackSearch, EndsWhereOthersComeBetweenAllComparisons) {
  SlackJob job({0.85, 1.0, 0.9, 0.9});
  SlackSearch search(job.terms());

  for (int visit = 0; visit < 60 && !search.done(); ++visit) {
    search.observe(job.window(search.next()));
    for (int i = 0; i < 3 && search.comparing(); ++i) search.observe(job.window(search.next()));
    EXPECT_FALSE(search.comparing());
    search.interrupted();
  }

  ASSERT_TRUE(search.done());
  for (const std::size_t i : {0U, 2U, 3U}) EXPECT_GT(search.kept()[i], 3U) << i;
  EXPECT_EQ(search.kept()[1], 0U);
}

TEST(SlackSearch, WhatWasRightElsewhereIsTriedFirst) {
  SlackJob job({0.85, 1.0, 0.9, 0.95});
  SlackSearch before(job.terms());
  job.play(before);
  SlackTerms terms = job.terms();
  terms.guess = before.kept();
  SlackSearch search(terms);

  job.play(search);

  EXPECT_EQ(search.kept(), before.kept());
  EXPECT_LT(search.windows(), before.windows());
  EXPECT_LE(search.windows(), 6U);
}

TEST(SlackSearch, AWrongGuessIsSearchedAnew) {
  SlackJob job({0.85, 1.0});
  SlackTerms terms = job.terms();
  terms.guess = {0, 10};
  SlackSearch search(terms);

  job.play(search);

  EXPECT_GT(search.kept()[0], 5U);
  EXPECT_EQ(search.kept()[1], 0U);
}

TEST(SlackSearch, KnowsWhatItSaves) {
  SlackJob job({0.85, 1.0});
  SlackSearch search(job.terms());

  job.play(search);

  EXPECT_NEAR(search.energy_ratio(), job.energy(search.kept()) / job.energy({0, 0}), 0.003);
}

TEST(SlackSearch, OneGpuHasNobodyToWaitFor) {
  EXPECT_TRUE(SlackSearch(SlackJob({1.0}).terms()).done());
}

}  // namespace
}  // namespace hypermile
