// SPDX-License-Identifier: Apache-2.0
#include "predict/ratio_prediction.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

// Time follows the share of active SMs; energy always falls.
class PredictorForTest final : public Predictor {
 public:
  std::vector<RatioEstimate> predict(const Features& features, std::string_view,
                                     std::span<const RelativeSetting> settings) const override {
    std::vector<RatioEstimate> out;
    for (const RelativeSetting& at : settings) {
      const double time = 1 + *features.get(Feature::kSmActive) * (1 / at.sm - 1);
      out.push_back({{time, 0.9 * time, 1.1 * time}, {at.sm, 0.9 * at.sm, 1.1 * at.sm}});
    }
    return out;
  }
};

PolicyContext context_of_clocks() {
  PolicyContext context;
  context.settings = {Setting()};
  for (const double mhz : {900.0, 800.0, 700.0}) {
    context.settings.emplace_back();
    context.settings.back().sm_clock = Mhz(mhz);
  }
  context.default_values.sm_clock = Mhz(1000);
  return context;
}

Features features_with(double sm_active) {
  Features features;
  features.set(Feature::kSmActive, sm_active);
  features.set(Feature::kPowerShare, 0.5);
  features.set(Feature::kGpuUtilization, 1);
  return features;
}

Window baseline_window() {
  Window window;
  window.power = Watts(200);
  return window;
}

TEST(RatioPrediction, AnswersForEverySettingOfTheList) {
  const PolicyContext context = context_of_clocks();
  Window baseline = baseline_window();
  baseline.features = std::make_shared<const Features>(features_with(0.2));

  const auto ratios =
      make_ratio_prediction(std::make_shared<PredictorForTest>(), "G", context)(baseline);

  ASSERT_EQ(ratios.size(), 4U);
  EXPECT_EQ(ratios[0].log_time, 0);
  EXPECT_NEAR(ratios[2].log_time, std::log(1.05), 1e-9);
  EXPECT_NEAR(ratios[2].time_sd, std::log(1.1 / 0.9) / 2 / 1.6448536, 1e-9);
  // The lowest clock within the bound of 5 % is the best.
  EXPECT_EQ(predicted_best(ratios, context.objective, Watts(200)), 2U);
}

TEST(RatioPrediction, ChoosesTheDefaultWhereNothingKeepsTheBound) {
  const PolicyContext context = context_of_clocks();

  const auto ratios = make_ratio_prediction(std::make_shared<PredictorForTest>(), "G", context,
                                            features_with(1))(baseline_window());

  EXPECT_EQ(predicted_best(ratios, context.objective, Watts(200)), 0U);
}

TEST(RatioPrediction, IsEmptyWithoutFeaturesOrPower) {
  const auto predict =
      make_ratio_prediction(std::make_shared<PredictorForTest>(), "G", context_of_clocks());
  Window few = baseline_window();
  Features one;
  one.set(Feature::kPowerShare, 0.5);
  few.features = std::make_shared<const Features>(one);
  Window dark;
  dark.features = std::make_shared<const Features>(features_with(0.5));

  EXPECT_TRUE(predict(baseline_window()).empty());
  EXPECT_TRUE(predict(few).empty());
  EXPECT_TRUE(predict(dark).empty());
}

}  // namespace
}  // namespace hypermile
