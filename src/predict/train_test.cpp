// SPDX-License-Identifier: Apache-2.0
#include "predict/train.h"

#include <gtest/gtest.h>

#include <cmath>

#include "predict/baselines.h"
#include "predict/check.h"
#include "predict/jobs_for_test.h"
#include "predict/model_predictor.h"

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

TEST_P(TrainedModel, SaysExactlyOneAtTheDefaultAndNeverFasterBelowIt) {
  const ModelPredictor predictor(model(jobs_for_test(20)));
  std::vector<RelativeSetting> settings = {{1, 1, {}}};
  for (double s = 0.99; s > 0.3; s -= 0.01) settings.push_back({s, 1, {}});

  const auto out = predictor.predict(job_for_test("x", 0.2, 0.8).features, "card", settings);

  EXPECT_EQ(out[0].time.value, 1);
  EXPECT_EQ(out[0].energy.value, 1);
  for (std::size_t i = 1; i < out.size(); ++i) {
    EXPECT_GE(out[i].time.value, out[i - 1].time.value - 3e-3) << settings[i].sm;
    EXPECT_LE(out[i].time.low, out[i].time.value);
    EXPECT_GT(out[i].time.high, out[i].time.value);
  }
}

TEST_P(TrainedModel, IsLessSureOfACardItHasNotSeen) {
  const ModelPredictor predictor(model(jobs_for_test(20)));
  const std::vector<RelativeSetting> settings = {{0.8, 1, {}}};
  const Features features = job_for_test("x", 0.2, 0.8).features;

  const auto known = predictor.predict(features, "card", settings);
  const auto unknown = predictor.predict(features, "another", settings);

  EXPECT_EQ(known[0].time.value, unknown[0].time.value);
  EXPECT_GT(unknown[0].time.high, known[0].time.high);
}

TEST_P(TrainedModel, AnswersWithoutAnyFeature) {
  const ModelPredictor predictor(model(jobs_for_test(20)));
  const std::vector<RelativeSetting> settings = {{0.8, 1, {}}, {0.8, 0.5, 0.7}};

  const auto out = predictor.predict({}, "", settings);

  EXPECT_TRUE(std::isfinite(out[0].time.value));
  EXPECT_GE(out[0].time.value, 1);
  // Nobody moved memory clock or limit: nothing is claimed of them.
  EXPECT_EQ(out[1].time.value, out[0].time.value);
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
  EXPECT_EQ(a->calibration.time_scale, b->calibration.time_scale);
}

TEST(Train, LeavesEachCardOutOnceWhereThereAreSeveral) {
  auto jobs = jobs_for_test(10, "one");
  const auto others = jobs_for_test(10, "two");
  jobs.insert(jobs.end(), others.begin(), others.end());

  const auto model = train(jobs, options_for(ModelKind::kAnalytic));

  ASSERT_TRUE(model);
  EXPECT_EQ(model->cards, (std::vector<std::string>{"one", "two"}));
  ASSERT_TRUE(model->by_card);
  EXPECT_GT(model->by_card->rows, 0U);
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
