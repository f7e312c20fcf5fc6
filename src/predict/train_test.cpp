// SPDX-License-Identifier: Apache-2.0
#include "predict/train.h"

#include <gtest/gtest.h>

#include <cmath>

#include "predict/baselines.h"
#include "predict/check.h"
#include "predict/model_predictor.h"
#include "testing/predicted_jobs.h"

namespace hypermile {
namespace {

TrainingOptions options_for(ModelKind kind) {
  TrainingOptions options;
  options.kind = kind;
  options.boosting.rounds = 60;
  options.boosting.rate = 0.15;
  return options;
}

class TrainedModel : public testing::TestWithParam<ModelKind> {
 protected:
  static Model model(const std::vector<Example>& jobs) {
    auto trained = train(jobs, options_for(GetParam()));
    EXPECT_TRUE(trained);
    return std::move(*trained);
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, TrainedModel, testing::ValuesIn(kModelKinds),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

// Four families, of which three moved the clock: leaving one of them out tells little of clocks.
TEST_P(TrainedModel, IsBelievedOnANewCardByDistanceWhereFewFamiliesMovedTheClock) {
  std::vector<Example> jobs;
  for (const char* card : {"GTX 980", "V100", "A100"}) {
    for (const Example& job : jobs_for_test(12, card)) jobs.push_back(job);
  }
  for (Example& limited : jobs_for_test(12, "P100")) {
    for (MeasuredRatio& point : limited.points) point.at = {1, 1, point.at.sm};
    jobs.push_back(limited);
  }

  EXPECT_FALSE(model(jobs).new_card.clocks_trust);
}

// The jobs of all families follow one rule, so that the whole model holds on a fifth.
TEST_P(TrainedModel, IsBelievedOnANewCardAsLeftOutFamiliesSayWhereFourMovedTheClock) {
  std::vector<Example> jobs;
  for (const char* card : {"GTX 980", "V100", "A100", "P100"}) {
    for (const Example& job : jobs_for_test(12, card)) jobs.push_back(job);
  }

  const Model made = model(jobs);

  ASSERT_TRUE(made.new_card.clocks_trust);
  EXPECT_EQ(made.new_card.clocks_trust->time, 1);
}

TEST_P(TrainedModel, BeatsTheMeanCurveOnJobsItHasNotSeen) {
  const auto jobs = jobs_for_test(40);
  const ModelPredictor predictor(model(jobs));
  const MeanCurvePredictor mean(mean_curve(jobs));
  Checker own;
  Checker baseline;

  for (const double core : {0.1, 0.3, 0.6, 0.85}) {
    const Example unseen = job_for_test("unseen", core, 0.45);
    own.add(predictor, unseen);
    baseline.add(mean, unseen);
  }

  EXPECT_LT(own.result().time_mae, 0.5 * baseline.result().time_mae);
  EXPECT_GE(own.result().coverage90, 0.7);
}

// With noise, as in measured jobs: without constraints, the curves would follow the noise.
std::vector<Example> jobs_of_three_knobs(std::size_t count) {
  std::vector<Example> jobs = jobs_for_test(count);
  Random random(11);
  for (Example& job : jobs) {
    const double core = *job.features.get(Feature::kFp32Active);
    const double memory = 1 - core / (core + *job.features.get(Feature::kDramActive));
    const auto add = [&](RelativeSetting at, double time) {
      time *= 1 + 0.04 * random.gaussian();
      job.points.push_back({at, time, 0.9 * time});
    };
    for (const double m : {0.9, 0.75, 0.5}) {
      add({1, m, {}}, 1 + memory * (1 / m - 1));
      add({0.7, m, {}}, 1 + memory * (1 / m - 1) + (1 - memory) * (1 / 0.7 - 1));
    }
    for (const double u : {1.0, 0.85, 0.7, 0.55}) add({1, 1, u}, 1 + 0.3 * (kLimitTop / u - 1));
  }
  return jobs;
}

TEST_P(TrainedModel, NeverPredictsLessTimeAtALowerClockOrLimit) {
  const ModelPredictor predictor(model(jobs_of_three_knobs(20)));
  std::vector<std::vector<RelativeSetting>> curves(4);
  for (double ratio = 1; ratio > 0.25; ratio -= 0.005) {
    curves[0].push_back({ratio, 1, {}});
    curves[1].push_back({ratio, 0.8, {}});
    curves[2].push_back({1, ratio, {}});
    curves[3].push_back({1, 1, kLimitTop * ratio});
  }

  for (const double core : {0.05, 0.3, 0.5, 0.9}) {
    for (const auto& curve : curves) {
      const auto out = predictor.predict(job_for_test("x", core, 0.5).features, "card", curve);
      for (std::size_t i = 1; i < out.size(); ++i) {
        EXPECT_GE(out[i].time.value, out[i - 1].time.value - 1e-12) << core << " " << i;
      }
    }
  }
}

TEST_P(TrainedModel, SaysExactlyOneAtTheDefaultAndNeverFasterBelowIt) {
  const ModelPredictor predictor(model(jobs_for_test(20)));
  std::vector<RelativeSetting> settings = {{1, 1, {}}};
  for (double s = 0.99; s > 0.3; s -= 0.01) settings.push_back({s, 1, {}});

  const auto out = predictor.predict(job_for_test("x", 0.2, 0.8).features, "card", settings);

  EXPECT_EQ(out[0].time.value, 1);
  EXPECT_EQ(out[0].energy.value, 1);
  for (std::size_t i = 1; i < out.size(); ++i) {
    EXPECT_GE(out[i].time.value, out[i - 1].time.value) << settings[i].sm;
    EXPECT_LE(out[i].time.low, out[i].time.value);
    EXPECT_GT(out[i].time.high, out[i].time.value);
  }
}

TEST_P(TrainedModel, HasSomeDoubtUnderALimitOutOfReach) {
  const ModelPredictor predictor(model(jobs_of_three_knobs(20)));
  const std::vector<RelativeSetting> settings = {{1, 1, 2.0}};

  const auto out = predictor.predict(job_for_test("x", 0.2, 0.8).features, "card", settings);

  EXPECT_EQ(out[0].time.value, 1);
  EXPECT_LT(out[0].time.low, 1);
  EXPECT_GT(out[0].time.high, 1);
}

TEST_P(TrainedModel, IsLessSureOfACardItHasNotSeenAndLeansOnTheMean) {
  const ModelPredictor predictor(model(jobs_for_test(20)));
  const std::vector<RelativeSetting> settings = {{0.8, 1, {}}};
  const Features features = job_for_test("x", 0.2, 0.8).features;

  const auto known = predictor.predict(features, "card", settings);
  const auto unknown = predictor.predict(features, "another", settings);

  const double mean = predictor.model().mean.at(settings[0]).time;
  EXPECT_GT(std::abs(known[0].time.value - mean), 0.02);
  EXPECT_NEAR(unknown[0].time.value, 0.5 * (known[0].time.value + mean), 0.01);
  EXPECT_GT(unknown[0].time.high - unknown[0].time.low, known[0].time.high - known[0].time.low);
}

// What a model of `jobs` says of a job at 0.8 of the clock on `card`.
RatioEstimate said_of(ModelKind kind, const std::vector<Example>& jobs, const std::string& card) {
  auto model = train(jobs, options_for(kind));
  EXPECT_TRUE(model);
  const std::vector<RelativeSetting> settings = {{0.8, 1, {}}};
  return ModelPredictor(std::move(*model))
      .predict(job_for_test("x", 0.2, 0.8).features, card, settings)[0];
}

TEST(Train, TreesOfOneFamilyLeaveEnergyOnOtherCardsToLinearForms) {
  auto jobs = jobs_for_test(20, "V100");
  const auto variant = jobs_for_test(20, "Tesla V100-PCIE-16GB");
  jobs.insert(jobs.end(), variant.begin(), variant.end());
  const auto says = [&](ModelKind kind, const char* card) { return said_of(kind, jobs, card); };

  EXPECT_EQ(says(ModelKind::kBoosted, "A100").energy.value,
            says(ModelKind::kAnalytic, "A100").energy.value);
  EXPECT_NE(says(ModelKind::kBoosted, "A100").time.value,
            says(ModelKind::kAnalytic, "A100").time.value);
  EXPECT_NE(says(ModelKind::kBoosted, "V100").energy.value,
            says(ModelKind::kAnalytic, "V100").energy.value);
}

TEST(Train, TreesOfTwoFamiliesAnswerAboutEnergyOnOtherCardsThemselves) {
  auto jobs = jobs_for_test(20, "V100");
  const auto others = jobs_for_test(20, "GTX 980");
  jobs.insert(jobs.end(), others.begin(), others.end());

  EXPECT_NE(said_of(ModelKind::kBoosted, jobs, "A100").energy.value,
            said_of(ModelKind::kAnalytic, jobs, "A100").energy.value);
}

TEST_P(TrainedModel, AnswersWithoutAnyFeature) {
  const ModelPredictor predictor(model(jobs_for_test(20)));
  const std::vector<RelativeSetting> settings = {{0.8, 1, {}}, {0.8, 0.5, {}}, {1, 0.5, 0.7}};

  const auto out = predictor.predict({}, "", settings);

  EXPECT_TRUE(std::isfinite(out[0].time.value));
  EXPECT_GE(out[0].time.value, 1);
  // No job moved the memory clock or the limit, so the model predicts no effect.
  EXPECT_EQ(out[1].time.value, out[0].time.value);
  EXPECT_EQ(out[2].time.value, 1);
}

TEST(Train, TreesOfTimeFollowTheDirectionsOfPhysics) {
  const auto model = train(jobs_of_three_knobs(20), options_for(ModelKind::kBoosted));
  ASSERT_TRUE(model);

  // How strongly time follows the knob as another input grows.
  const auto check_direction = [&](Knob knob, std::size_t input, double sign) {
    const Forest& forest = *model->find(knob, Target::kTime)->members.front().forest;
    for (const double core : {0.05, 0.3, 0.5, 0.9}) {
      Inputs inputs = inputs_of(job_for_test("x", core, 0.5).features, {0.7, 0.8, 0.7});
      double before = -sign * 1e9;
      for (float x = 0.3F; x < 1.2F; x += 0.01F) {
        inputs[input] = x;
        const double here = forest.value(inputs);
        EXPECT_GE(sign * (here - before), -1e-6) << to_string(knob) << " " << core << " " << x;
        before = here;
      }
    }
  };
  check_direction(Knob::kSmClock, kMemoryRatio, 1);
  check_direction(Knob::kMemoryClock, kMemoryRatio, -1);
  check_direction(Knob::kPowerLimit, kLimitRatio, -1);
}

TEST(Train, GivesTheSameModelWhateverTheThreads) {
  const auto jobs = jobs_for_test(12);
  TrainingOptions one = options_for(ModelKind::kBoosted);
  one.threads = 1;
  TrainingOptions three = one;
  three.threads = 3;
  const std::vector<RelativeSetting> settings = {{0.77, 1, {}}};

  const auto a = train(jobs, one);
  const auto b = train(jobs, three);

  ASSERT_TRUE(a && b);
  EXPECT_EQ(raw_estimates(*a, jobs[0].features, settings)[0].time,
            raw_estimates(*b, jobs[0].features, settings)[0].time);
  EXPECT_EQ(a->calibration.clocks.time, b->calibration.clocks.time);
}

TEST_P(TrainedModel, DoubtsAKnobOnAnotherCardThatNobodyMoved) {
  const ModelPredictor predictor(model(jobs_for_test(20)));
  const std::vector<RelativeSetting> settings = {{0.8, 1, {}}, {0.8, 0.5, {}}, {0.8, 1, 0.5}};

  const auto out = predictor.predict(job_for_test("x", 0.2, 0.8).features, "another", settings);

  EXPECT_EQ(out[1].time.value, out[0].time.value);
  EXPECT_GT(out[1].time.high, out[0].time.high + 0.5);
  EXPECT_GT(out[1].energy.high, out[0].energy.high);
  EXPECT_GT(out[2].time.high, out[0].time.high + 0.5);
}

TEST(Train, SetsBoundsForCardsOfOtherFamilies) {
  std::vector<Example> jobs;
  for (const char* card : {"V100", "Tesla V100-PCIE-16GB", "A100", "RTX 3080", "H100"}) {
    for (Example job : jobs_for_test(8, card)) {
      // The V100's jobs follow another rule, which a model could learn from another V100 variant.
      for (MeasuredRatio& point : job.points) point.time *= card_family(card) == "V100" ? 1.3 : 1;
      jobs.push_back(std::move(job));
    }
  }

  const auto model = train(jobs, options_for(ModelKind::kAnalytic));

  ASSERT_TRUE(model);
  ASSERT_TRUE(model->by_card);
  EXPECT_GT(model->by_card->time_mae, 1.2 * model->by_workload.time_mae);
  EXPECT_NE(model->new_card.clocks.time, kCardPairScales.time);
}

TEST(Train, UsesTheCardPairScalesWithTooFewCards) {
  auto jobs = jobs_for_test(10, "one 100");
  const auto others = jobs_for_test(10, "two 200");
  jobs.insert(jobs.end(), others.begin(), others.end());

  const auto model = train(jobs, options_for(ModelKind::kAnalytic));

  ASSERT_TRUE(model);
  ASSERT_EQ(model->cards.size(), 2U);
  EXPECT_EQ(model->cards[0].card, "one 100");
  EXPECT_EQ(model->cards[1].card, "two 200");
  ASSERT_TRUE(model->by_card);
  EXPECT_GT(model->by_card->rows, 0U);
  EXPECT_EQ(model->new_card.clocks.time, kCardPairScales.time);
}

TEST(Train, RefusesASingleWorkload) {
  const std::vector<Example> jobs = {job_for_test("w_input1", 0.5, 0.5),
                                     job_for_test("w_input2", 0.6, 0.5)};

  const auto model = train(jobs, {});

  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kUsage);
}

TEST(Choose, TakesTheLeastEnergyThatKeepsTheBound) {
  const auto at = [](double time, double energy, double doubt) {
    return RatioEstimate{{time, time - doubt, time + doubt}, {energy, energy, energy}};
  };
  const std::vector<RatioEstimate> estimates = {at(1.01, 0.95, 0.01), at(1.04, 0.9, 0.1),
                                                at(1.2, 0.7, 0.01)};

  EXPECT_EQ(choose(estimates, Objective{}, 0.5), 1U);
  EXPECT_EQ(choose(estimates, Objective{}, 0.9), 0U);
  EXPECT_EQ(choose(std::vector<RatioEstimate>{at(1.2, 0.7, 0.01)}, Objective{}, 0.5), 1U);
}

}  // namespace
}  // namespace hypermile
