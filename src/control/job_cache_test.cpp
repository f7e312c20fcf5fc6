// SPDX-License-Identifier: Apache-2.0
#include "control/job_cache.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/faulty_files.h"

namespace hypermile {
namespace {

JobFingerprint print_of(int kernels, double extra = 0) {
  std::vector<NamedCount> named;
  for (int i = 0; i < kernels; ++i) named.push_back({"kernel" + std::to_string(i), 2});
  if (extra > 0) named.push_back({"another", extra});
  return fingerprint_of(named);
}

CachedJob job_of(const char* gpu = "NVIDIA H200", double used = 1000) {
  CachedJob job;
  job.terms.gpus = {gpu};
  job.terms.driver = "580.95.05";
  job.terms.knobs = {Knob::kSmClock, Knob::kMemoryClock};
  job.fingerprint = print_of(40);
  job.default_time = Seconds(0.1);
  job.default_power = Watts(512.25);
  job.kept = {Mhz(1410)};
  job.time_ratio = 1.034;
  job.power_ratio = 0.81;
  job.probes = 14;
  job.used = used;
  return job;
}

class JobCacheTest : public testing::Test {
 protected:
  FaultyFiles files(FaultyFiles::Disk disk = {}) { return {std::move(disk), fate_}; }
  // What the next process finds.
  FaultyFiles next(const FaultyFiles& files) { return {files.after_kill(), fate_}; }
  static void put(Files& files, const std::string& text) {
    auto file = files.create("/cache/jobs.json");
    ASSERT_TRUE((*file)->append(text).ok());
  }

  Fate fate_;
};

TEST_F(JobCacheTest, TheNextRunFindsWhatOneStored) {
  FaultyFiles first = files();
  ASSERT_TRUE(JobCache(first, "/cache/jobs.json").store(job_of()).ok());
  FaultyFiles second = next(first);

  const JobCache cache(second, "/cache/jobs.json");

  EXPECT_EQ(cache.note(), "");
  const CachedJob* found = cache.find(job_of().terms, print_of(40), Seconds(0.102));
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->kept, Setting{Mhz(1410)});
  EXPECT_DOUBLE_EQ(found->time_ratio, 1.034);
  EXPECT_EQ(found->fingerprint, print_of(40));
}

TEST_F(JobCacheTest, OtherTermsAreAnotherJob) {
  FaultyFiles disk = files();
  JobCache cache(disk, "/cache/jobs.json");
  ASSERT_TRUE(cache.store(job_of()).ok());
  const auto found = [&](auto change) {
    JobTerms terms = job_of().terms;
    change(terms);
    return cache.find(terms, print_of(40), Seconds(0.1)) != nullptr;
  };

  EXPECT_TRUE(found([](JobTerms&) {}));
  EXPECT_FALSE(found([](JobTerms& terms) { terms.gpus = {"NVIDIA A100"}; }));
  EXPECT_FALSE(found([](JobTerms& terms) { terms.gpus.push_back(terms.gpus.front()); }));
  EXPECT_FALSE(found([](JobTerms& terms) { terms.driver = "570"; }));
  EXPECT_FALSE(found([](JobTerms& terms) { terms.knobs = {Knob::kSmClock}; }));
  EXPECT_FALSE(found([](JobTerms& terms) { terms.objective.max_slowdown = 0.02; }));
  EXPECT_FALSE(found([](JobTerms& terms) { terms.objective.goal = Goal::kEdp; }));
  EXPECT_FALSE(found([](JobTerms& terms) { terms.objective.host_power = Watts(100); }));
}

TEST_F(JobCacheTest, AJobIsKnownByItsKernelsAndItsPace) {
  FaultyFiles disk = files();
  JobCache cache(disk, "/cache/jobs.json");
  ASSERT_TRUE(cache.store(job_of()).ok());
  const JobTerms terms = job_of().terms;

  EXPECT_NE(cache.find(terms, print_of(40, 2), Seconds(0.1)), nullptr);  // a logging kernel more
  EXPECT_EQ(cache.find(terms, print_of(30), Seconds(0.1)), nullptr);
  EXPECT_EQ(cache.find(terms, {}, Seconds(0.1)), nullptr);
  EXPECT_EQ(cache.find(terms, print_of(40), Seconds(0.2)), nullptr);  // twice the batch
}

TEST_F(JobCacheTest, AResultReplacesTheOldOneOfItsJob) {
  FaultyFiles disk = files();
  JobCache cache(disk, "/cache/jobs.json");
  ASSERT_TRUE(cache.store(job_of()).ok());
  CachedJob newer = job_of("NVIDIA H200", 2000);
  newer.kept = {Mhz(1200)};

  ASSERT_TRUE(cache.store(newer).ok());

  ASSERT_EQ(cache.jobs().size(), 1U);
  EXPECT_EQ(cache.jobs().front().kept, Setting{Mhz(1200)});
}

TEST_F(JobCacheTest, WhatNoLongerHoldsIsForgotten) {
  FaultyFiles disk = files();
  JobCache cache(disk, "/cache/jobs.json");
  ASSERT_TRUE(cache.store(job_of()).ok());

  ASSERT_TRUE(cache.forget(job_of().terms, print_of(40), Seconds(0.1)).ok());

  FaultyFiles later = next(disk);
  EXPECT_TRUE(JobCache(later, "/cache/jobs.json").jobs().empty());
}

TEST_F(JobCacheTest, TheOneNotUsedForLongestGivesWay) {
  FaultyFiles disk = files();
  JobCache cache(disk, "/cache/jobs.json");
  for (std::size_t i = 0; i < kMostCachedJobs + 1; ++i) {
    const std::string gpu = "GPU " + std::to_string(i);
    ASSERT_TRUE(cache.store(job_of(gpu.c_str(), 1000 + static_cast<double>(i))).ok());
  }

  EXPECT_EQ(cache.jobs().size(), kMostCachedJobs);
  EXPECT_EQ(cache.find(job_of("GPU 0").terms, print_of(40), Seconds(0.1)), nullptr);
  EXPECT_NE(cache.find(job_of("GPU 1").terms, print_of(40), Seconds(0.1)), nullptr);
}

TEST_F(JobCacheTest, ABrokenFileIsSetAsideWithOneLine) {
  const std::string good = write_cache({job_of()});
  std::string half_time = good;
  half_time.replace(half_time.find("\"time_s\":0.1"), 12, "\"time_s\":-1 ");
  std::string newer = good;
  newer.replace(newer.find("\"hypermile_jobs\":1"), 18, "\"hypermile_jobs\":2");
  for (const std::string& text : {std::string("{"), good.substr(0, good.size() / 2),
                                  std::string("[]"), half_time, newer, std::string()}) {
    FaultyFiles disk = files();
    put(disk, text);

    JobCache cache(disk, "/cache/jobs.json");

    EXPECT_NE(cache.note().find("set aside"), std::string::npos) << text;
    EXPECT_EQ(cache.note().find('\n'), std::string::npos);
    EXPECT_TRUE(cache.jobs().empty());
    EXPECT_EQ(disk.read("/cache/jobs.json.broken", 1 << 20).value(), text);
    EXPECT_TRUE(cache.store(job_of()).ok());
  }
}

TEST_F(JobCacheTest, ARunThatWroteMeanwhileLosesNothing) {
  FaultyFiles disk = files();
  JobCache one(disk, "/cache/jobs.json");
  JobCache other(disk, "/cache/jobs.json");
  ASSERT_TRUE(other.store(job_of("NVIDIA A100")).ok());

  ASSERT_TRUE(one.store(job_of("NVIDIA H200")).ok());

  EXPECT_EQ(one.jobs().size(), 2U);
}

// Killed or out of space at any step: the old file or the new one, never half of one.
TEST_F(JobCacheTest, AFailureAtAnyStepLeavesAWholeFile) {
  FaultyFiles before = files();
  ASSERT_TRUE(JobCache(before, "/cache/jobs.json").store(job_of()).ok());
  for (int step = 0; step < 12; ++step) {
    for (const bool dies : {false, true}) {
      Fate fate;
      FaultyFiles disk(before.after_kill(), fate);
      if (dies) {
        fate.dies_at = step;
        fate.torn_after = 10;
      } else {
        disk.fail({step, 1, "No space left on device", 10});
      }
      JobCache cache(disk, "/cache/jobs.json");
      (void)cache.store(job_of("NVIDIA A100"));
      FaultyFiles later = next(disk);

      const JobCache found(later, "/cache/jobs.json");

      EXPECT_EQ(found.note(), "") << step;
      EXPECT_GE(found.jobs().size(), 1U) << step;
    }
  }
}

TEST(JobFingerprint, LikenessIsTheShareOfLaunchesInCommon) {
  const std::vector<NamedCount> a = {{"gemm", 90}, {"relu", 10}};
  const std::vector<NamedCount> b = {{"relu", 10}, {"gemm", 80}, {"copy", 10}};

  EXPECT_DOUBLE_EQ(likeness(fingerprint_of(a), fingerprint_of(a)), 1);
  EXPECT_DOUBLE_EQ(likeness(fingerprint_of(a), fingerprint_of(b)), 0.9);
  EXPECT_DOUBLE_EQ(likeness(fingerprint_of(b), fingerprint_of(a)), 0.9);
  EXPECT_DOUBLE_EQ(likeness({}, {}), 0);
}

TEST(JobFingerprint, KeepsTheKernelsLaunchedMost) {
  std::vector<NamedCount> many;
  for (int i = 0; i < 1000; ++i) many.push_back({"k" + std::to_string(i), i < 10 ? 50.0 : 1.0});

  const JobFingerprint print = fingerprint_of(many);

  EXPECT_EQ(print.kernels.size(), kMostKernels);
  EXPECT_EQ(std::ranges::count(print.kernels, 50.0, &KernelOfJob::count), 10);
}

TEST(JobCacheFile, WhatIsWrittenIsRead) {
  CachedJob job = job_of();
  job.terms.objective.max_slowdown.reset();
  job.terms.objective.power_budget = Watts(300);
  job.terms.gpus = {"a \"quoted\" name", "b\xff"};
  job.kept = {Mhz(1410), Mhz(1593), Watts(300)};

  const auto read = read_cache(write_cache({job, job_of()}));

  ASSERT_TRUE(read.ok()) << read.error().line();
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(read->front().kept, job.kept);
  EXPECT_EQ(read->front().terms.objective.power_budget, Watts(300));
  EXPECT_FALSE(read->front().terms.objective.max_slowdown);
  EXPECT_TRUE(same_terms(read->back().terms, job_of().terms));
}

}  // namespace
}  // namespace hypermile
