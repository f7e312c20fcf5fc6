// SPDX-License-Identifier: Apache-2.0
#include "predict/trust.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

MeanCurve flat_mean(double time, double energy) {
  MeanCurve mean;
  MeanCurve::Along along;
  along.time.fill(time);
  along.energy.fill(energy);
  mean.knobs.push_back(along);
  return mean;
}

Example job(const std::string& group, double time, double energy) {
  Example example;
  example.group = group;
  example.points.push_back({{0.7, 1, {}}, time, energy});
  return example;
}

TEST(Trust, IsWholeWhereTheModelIsRightAndNoneWhereTheMeanIs) {
  const MeanCurve mean = flat_mean(1.2, 0.8);
  const std::vector<RawEstimate> said = {{1.1, 0.9, 0.1, 0.1}};
  TrustChooser right(RowKind::kClocks);
  right.add(job("a", 1.1, 0.9), "card", said, mean);
  TrustChooser wrong(RowKind::kClocks);
  wrong.add(job("a", 1.2, 0.8), "card", said, mean);

  EXPECT_EQ(right.choose({}).time, 1);
  EXPECT_EQ(right.choose({}).energy, 1);
  EXPECT_EQ(wrong.choose({}).time, 0);
  EXPECT_EQ(wrong.choose({}).energy, 0);
}

TEST(Trust, GivesEveryCardTheSameWeight) {
  const MeanCurve mean = flat_mean(1.2, 0.8);
  const std::vector<RawEstimate> said = {{1.1, 0.9, 0.1, 0.1}};
  TrustChooser chooser(RowKind::kClocks);
  for (const char* name : {"a", "b", "c", "d"}) {
    chooser.add(job(name, 1.2, 0.8), "one", said, mean);  // four jobs whose mean is right
  }
  chooser.add(job("e", 1.1, 0.9), "two", said, mean);    // and two cards with one job each whose
  chooser.add(job("f", 1.1, 0.9), "three", said, mean);  // model is right

  EXPECT_EQ(chooser.choose({}).time, 1);
}

TEST(Trust, LeavesTheDefaultAtOne) {
  const std::vector<RelativeSetting> settings = {{}, {0.7, 1, {}}};
  std::vector<RawEstimate> said = {{1, 1, 0, 0}, {1.1, 0.9, 0.1, 0.1}};

  Calibration by;
  by.clocks_trust = {0.5, 0};
  lean_on_mean(flat_mean(1.2, 0.8), by, std::nullopt, settings, said);

  EXPECT_EQ(said[0].time, 1);
  EXPECT_DOUBLE_EQ(said[1].time, 1.15);
  EXPECT_DOUBLE_EQ(said[1].energy, 0.8);
}

TEST(Trust, FallsWithTheDistanceWhereNobodyChoseIt) {
  const std::vector<RelativeSetting> settings = {{0.7, 1, {}}};
  Calibration by;
  by.clocks_trust.reset();
  const auto time_at = [&](double distance) {
    std::vector<RawEstimate> said = {{1.1, 0.9, 0.1, 0.1}};
    KnobDistances distances;
    distances.fill(distance);
    lean_on_mean(flat_mean(1.2, 0.8), by, distances, settings, said);
    return said[0].time;
  };

  EXPECT_DOUBLE_EQ(time_at(0), 1.1);
  EXPECT_DOUBLE_EQ(time_at(1), 1.15);
  EXPECT_DOUBLE_EQ(time_at(2), 1.2);  // no feature in common: the mean curve
  EXPECT_DOUBLE_EQ(time_at(3), 1.2);
}

TEST(Trust, CountsTheFamiliesOfCardsThatItLearntFrom) {
  const std::vector<RawEstimate> said = {{1.1, 0.9, 0.1, 0.1}};
  TrustChooser chooser(RowKind::kClocks);
  for (const char* card : {"A100-SXM4-80GB", "A100 80GB PCIe", "V100"}) {
    Example one = job("a", 1.1, 0.9);
    one.key.gpu = card;
    chooser.add(one, card, said, flat_mean(1.2, 0.8));
  }

  EXPECT_EQ(chooser.families(), 2U);
}

TEST(Trust, IsAsToldWithoutAnyRow) {
  EXPECT_EQ(TrustChooser(RowKind::kLimits).choose({0.5, 0.25}).time, 0.5);
}

}  // namespace
}  // namespace hypermile
