// SPDX-License-Identifier: Apache-2.0
//
// `hypermile detect` as people and scripts see it: what it prints of good recordings, and one line
// for every kind of bad one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/random.h"
#include "progress/recording.h"
#include "testing/cli_fixture.h"

namespace hypermile {
namespace {

class Detect : public CliTest {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("hypermile_detect_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& text) {
    const std::string path = (folder_ / "recording.csv").string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  nlohmann::json detect(const std::string& option, const std::string& path) {
    EXPECT_EQ(run({"detect", option, path, "--json"}), 0) << err();
    return nlohmann::json::parse(out());
  }
  // Exit code 1 and exactly one line.
  std::string complaint(const std::string& option, const std::string& path) {
    EXPECT_EQ(run({"detect", option, path, "--json"}), 1);
    EXPECT_EQ(out(), "");
    const std::string text = err();
    EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
    return text;
  }

  std::filesystem::path folder_;
};

// Micro-batches of 40 kernels launched at once and waited for, 20 ms each; after every fourth an
// optimizer step of 12 kernels, 6 ms.
std::string accumulated_launches(int outer, double until_s = 1e9) {
  std::ostringstream out;
  out << "t_s,kernel\n";
  Random random(1);
  double t = 0;
  const auto burst = [&](int count, double lasting, const auto& kernel_of) {
    for (int k = 0; k < count; ++k) {
      const double at = t + k * 20e-6 + 5e-6 * random.uniform();
      if (at < until_s) out << std::fixed << at << "," << kernel_of(k) << "\n";
    }
    t += lasting;
  };
  for (int i = 0; i < outer; ++i) {
    for (int micro = 0; micro < 4; ++micro) {
      burst(40, 0.020, [](int k) { return k < 30 ? k % 7 : 10 + k; });
    }
    burst(12, 0.006, [](int k) { return 100 + k % 3; });
  }
  return out.str();
}

TEST_F(Detect, CountsIterationsOnEveryLevelOfALaunchRecording) {
  const auto found = detect("--launches", file(accumulated_launches(60)));

  EXPECT_EQ(found["resolved"], true);
  EXPECT_NEAR(found["iterations"].get<double>(), 60, 1);
  EXPECT_NEAR(found["period_s"].get<double>(), 0.086, 0.001);
  ASSERT_EQ(found["levels"].size(), 2U);
  EXPECT_NEAR(found["levels"][0]["iterations"].get<double>(), 240, 5);
  EXPECT_NEAR(found["levels"][1]["iterations"].get<double>(), 60, 1);
  EXPECT_EQ(found["changes_s"].size(), 0U);
  EXPECT_GT(found["confidence"].get<double>(), 0.8);
  EXPECT_FALSE(found.contains("reason"));
}

TEST_F(Detect, TellsWhenThePatternChanged) {
  std::ostringstream recording;
  recording << accumulated_launches(40, 3.0);
  for (int i = 0; i < 400; ++i) {
    for (int k = 0; k < 9; ++k) recording << 3.0 + i * 0.01 + k * 0.001 << "," << 200 + k << "\n";
  }

  const auto found = detect("--launches", file(recording.str()));

  ASSERT_EQ(found["changes_s"].size(), 1U) << found;
  EXPECT_NEAR(found["changes_s"][0].get<double>(), 3.0, 0.15);
}

TEST_F(Detect, DoesNotResolveLaunchesWithoutAPattern) {
  Random random(3);
  std::ostringstream recording;
  recording << "t_s,kernel\n";
  for (int i = 0; i < 4000; ++i) recording << i * 0.001 << "," << random.bits() % 40 << "\n";

  const auto found = detect("--launches", file(recording.str()));

  EXPECT_EQ(found["resolved"], false);
  EXPECT_TRUE(found["period_s"].is_null());
  EXPECT_EQ(found["iterations"], 0);
  EXPECT_EQ(found["levels"].size(), 0U);
  EXPECT_EQ(found["reason"], "no pattern of launches repeats");
}

TEST_F(Detect, FindsALongPeriodInSensorsAndRefusesNoise) {
  std::ostringstream good;
  good << "t_s,power_instant_mw,energy_mj,util_gpu,util_mem\n";
  double energy = 0;
  for (int i = 0; i < 600; ++i) {
    const bool busy = std::fmod(i * 0.1, 2.0) < 1.3;
    energy += (busy ? 300e3 : 120e3) * 0.1;
    good << i * 0.1 << "," << (busy ? 300000 : 120000) << "," << std::llround(energy) << ","
         << (busy ? 95 : 20) << "," << (busy ? 50 : 10) << "\n";
  }
  const auto found = detect("--nvml", file(good.str()));
  EXPECT_EQ(found["resolved"], true) << found;
  EXPECT_NEAR(found["period_s"].get<double>(), 2, 0.02);
  EXPECT_NEAR(found["iterations"].get<double>(), 30, 1);
  EXPECT_EQ(found["levels"].size(), 1U);

  Random random(1);
  std::ostringstream noise;
  noise << "t_s,power_instant_mw\n";
  for (int i = 0; i < 600; ++i) noise << i * 0.1 << "," << 2e5 + 1e4 * random.gaussian() << "\n";
  EXPECT_EQ(detect("--nvml", file(noise.str()))["resolved"], false);
}

TEST_F(Detect, PrintsTextForPeople) {
  ASSERT_EQ(run({"detect", "--launches", file(accumulated_launches(60))}), 0);
  EXPECT_NE(out().find("60 iterations of 86 ms"), std::string::npos) << out();
  EXPECT_NE(out().find("each has about 4 steps"), std::string::npos) << out();

  ASSERT_EQ(run({"detect", "--launches", file("t_s,kernel\n")}), 0);
  EXPECT_EQ(out(), "not resolved: the recording has no launches\n");
}

TEST_F(Detect, IsBadUsageWithoutOrWithTwoRecordings) {
  EXPECT_EQ(run({"detect"}), 2);
  EXPECT_EQ(
      err(),
      "hypermile: detect needs one recording; give either --launches F.csv or --nvml F.csv\n");
  EXPECT_EQ(run({"detect", "--launches", "a", "--nvml", "b"}), 2);
}

TEST_F(Detect, SaysInOneLineWhatIsWrongWithAFile) {
  for (const char* option : {"--launches", "--nvml"}) {
    EXPECT_NE(complaint(option, "/no/such/file.csv").find("/no/such/file.csv"), std::string::npos);
    complaint(option, folder_.string());
    complaint(option, file(""));
    complaint(option, file("a,b\n1,2\n"));
    complaint(option, file(std::string("\x1f\x8b\x08\x00\x01garbage", 12)));
    complaint(option, file(std::string("\0\0\0\0\xff\xfe", 6)));
  }
  EXPECT_NE(complaint("--launches", file("t_s,kernel\n0,1\nx,2\n")).find(":3"), std::string::npos);
  EXPECT_NE(complaint("--launches", file("t_s,kernel\n0,-1\n")).find(":2"), std::string::npos);
  EXPECT_NE(complaint("--nvml", file("t_s,power_instant_mw\n0,a\n")).find(":2"), std::string::npos);
  complaint("--nvml", file("t_s,power_instant_mw\n0\n"));
  complaint("--launches", file("t_s,kernel\n0,1,2\n"));
}

// The true number of iterations stands beside each recording.
// Kinds of jobs that the detector does not follow yet: it refuses bursts of graph launches and
// loops without a period, and it miscounts short epochs and evaluations between steps.
bool is_not_followed_yet(const std::filesystem::path& recording) {
  const std::string name = recording.filename().string();
  return name.starts_with("jax_transformer.") || name.starts_with("ppo_like.") ||
         name.starts_with("lightning_resnet.") || name.starts_with("hf_trainer.");
}

TEST_F(Detect, CountsWithinTwoPercentOnEveryRecordingOfAFollowedJobOnAnH200) {
  const char* set = std::getenv("HYPERMILE_H200_DATA");
  const char* tree = std::getenv("HYPERMILE_SOURCE_DIR");
  const std::filesystem::path data =
      set != nullptr ? set : std::string(tree != nullptr ? tree : ".") + "/../shared/data/h200";
  if (!std::filesystem::exists(data / "launches")) GTEST_SKIP() << "needs HYPERMILE_H200_DATA";
  for (const auto& entry : std::filesystem::directory_iterator(data / "launches")) {
    std::string path = entry.path().string();
    if (!path.ends_with(".csv.gz") || is_not_followed_yet(entry.path())) continue;
    const auto found = detect("--launches", path);
    path.replace(path.size() - 7, 7, ".iterations.csv");
    const auto truth = static_cast<double>(read_iterations(path)->size());

    EXPECT_NEAR(found["iterations"].get<double>(), truth, std::max(1.0, 0.02 * truth)) << path;
    EXPECT_EQ(found["changes_s"].size(), 0U) << path;
  }
}

}  // namespace
}  // namespace hypermile
