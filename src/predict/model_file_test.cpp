// SPDX-License-Identifier: Apache-2.0
#include "predict/model_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "predict/model_predictor.h"
#include "predict/train.h"
#include "testing/predicted_jobs.h"
#include "testing/scratch_folder.h"

namespace hypermile {
namespace {

Model small_model(ModelKind kind = ModelKind::kJoined) {
  TrainingOptions options;
  options.kind = kind;
  options.members = 2;
  options.boosting.rounds = 3;
  auto model = train(jobs_for_test(6), options);
  EXPECT_TRUE(model);
  model->sources = {{"set/data.csv", "0123456789abcdef", 36, 6}};
  return std::move(*model);
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

TEST(ModelFile, ReadsBackToTheSamePredictions) {
  const Model model = small_model();
  const ScratchFolder folder;
  const std::string path = folder.file("model.json");
  const std::vector<RelativeSetting> settings = {{0.9, 1, {}}, {0.63, 1, {}}};
  const Features features = job_for_test("x", 0.4, 0.2).features;

  ASSERT_TRUE(write_model(model, path));
  const auto read = read_model(path);

  ASSERT_TRUE(read) << read.error().line();
  const auto before = raw_estimates(model, features, settings);
  const auto after = raw_estimates(*read, features, settings);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    EXPECT_NEAR(before[i].time, after[i].time, 1e-9);
    EXPECT_NEAR(before[i].energy, after[i].energy, 1e-9);
  }
  EXPECT_EQ(read->sources[0].hash, "0123456789abcdef");
  EXPECT_EQ(read->calibration.clocks.time, model.calibration.clocks.time);
  EXPECT_EQ(read->new_card.limits.energy, model.new_card.limits.energy);
  EXPECT_TRUE(read->calibration.clocks_trust);
  EXPECT_FALSE(read->new_card.clocks_trust);  // one card: by distance
  EXPECT_EQ(card_distances(read->cards, features), card_distances(model.cards, features));
}

TEST(ModelFile, KeepsWhatAnswersOnOtherCards) {
  const Model model = small_model(ModelKind::kBoosted);
  const Features features = job_for_test("x", 0.4, 0.2).features;
  const std::vector<RelativeSetting> settings = {{0.63, 1, {}}};
  ASSERT_FALSE(model.elsewhere.empty());

  const auto read = parse_model(model_text(model), "m.json");

  ASSERT_TRUE(read) << read.error().line();
  const auto energy = [&](const Model& of) {
    return ModelPredictor(of).predict(features, "another", settings)[0].energy;
  };
  EXPECT_NEAR(energy(*read).value, energy(model).value, 1e-9);
  EXPECT_NEAR(energy(*read).high, energy(model).high, 1e-9);
}

TEST(ModelFile, RefusesATruncatedModelWhereverItEnds) {
  const std::string text = model_text(small_model());

  for (std::size_t length = 0; length + 2 < text.size(); length += 97) {
    const auto model = parse_model(text.substr(0, length), "m.json");

    ASSERT_FALSE(model) << length;
    EXPECT_NE(model.error().line().find("m.json is truncated"), std::string::npos);
  }
}

TEST(ModelFile, RefusesAnotherVersionByName) {
  std::string text = model_text(small_model());
  replace(text, "\"version\":4", "\"version\":2");

  const auto model = parse_model(text, "m.json");

  ASSERT_FALSE(model);
  EXPECT_NE(model.error().line().find("m.json is a model of version 2"), std::string::npos);
}

TEST(ModelFile, RefusesOtherFeaturesByName) {
  std::string text = model_text(small_model());
  replace(text, "\"dram_active\"", "\"dram_busy\"");

  const auto model = parse_model(text, "m.json");

  ASSERT_FALSE(model);
  EXPECT_NE(model.error().line().find("'dram_busy'"), std::string::npos);
  EXPECT_NE(model.error().line().find("'dram_active'"), std::string::npos);
}

TEST(ModelFile, RefusesTextThatIsNotAModelOrIsDamaged) {
  std::string damaged = model_text(small_model());
  replace(damaged, "\"knob\":\"sm\"", "\"knob\":\"xx\"");
  std::string no_scores = model_text(small_model());
  replace(no_scores, "\"scores\"", "\"scrs\"");

  EXPECT_FALSE(parse_model("[1,2]", "m.json"));
  EXPECT_FALSE(parse_model("{}", "m.json"));
  EXPECT_FALSE(parse_model(damaged, "m.json"));
  EXPECT_FALSE(parse_model(no_scores, "m.json"));
  EXPECT_FALSE(read_model("/no/such/model.json"));
  EXPECT_FALSE(read_model("/"));
}

TEST(ModelFile, ThatComesWithTheProgramIsReadableAndSmall) {
  const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "HYPERMILE_SOURCE_DIR is not set";
  const std::string path = std::string(source) + "/models/predictor.json";

  const Result<Model> model = read_model(path);

  ASSERT_TRUE(model) << model.error().line();
  EXPECT_GE(model->cards.size(), 5U);
  for (const ExampleSource& source_set : model->sources) {
    EXPECT_EQ(source_set.name.find("simulated"), std::string::npos) << source_set.name;
  }
  EXPECT_LT(std::filesystem::file_size(path), 2U << 20U);
}

TEST(ModelFile, ReportsAFolderThatDoesNotExist) {
  EXPECT_FALSE(write_model(small_model(), "/no/such/folder/model.json"));
}

}  // namespace
}  // namespace hypermile
