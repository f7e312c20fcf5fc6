// SPDX-License-Identifier: Apache-2.0
//
// For tests: runs fake_training with the injected library, as the launcher would, and reads the
// rings of its processes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "inject/ring_folder.h"

namespace hypermile {

struct ReadRing {
  RingReader* reader = nullptr;
  RingInfo info;
  RingBatch batch;

  std::vector<std::string> kernels() const {
    std::vector<std::string> names;
    for (const NumberedLaunch& each : batch.launches)
      names.push_back(reader->name(each.launch.kernel).value_or("?"));
    return names;
  }
  std::vector<RingNotice> notices(RecordKind kind) const {
    std::vector<RingNotice> found;
    for (const RingNotice& each : batch.notices)
      if (each.kind == kind) found.push_back(each);
    return found;
  }
  std::map<std::string, int> counts() const {
    std::map<std::string, int> counts;
    for (const std::string& name : kernels()) ++counts[name];
    return counts;
  }
};

class TrainingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = RingFolder::make();
    ASSERT_TRUE(made.ok()) << made.error().line();
    folder_ = std::make_unique<RingFolder>(std::move(*made));
    set("HYPERMILE_RING_DIR", folder_->path());
    set("CUDA_INJECTION64_PATH", INJECT_LIBRARY);
    set("NVTX_INJECTION64_PATH", INJECT_LIBRARY);
  }

  void set(const std::string& variable, const std::string& value) {
    environment_[variable] = value;
  }

  // Runs to the end; output_ then holds what was printed.
  void train(const std::string& words) {
    start(words);
    finish();
  }

  // Starts the program; the word "await" stops it until go_on().
  void start(const std::string& words) {
    std::string command = before_ + " ";
    for (const auto& [variable, value] : environment_) command += variable + "='" + value + "' ";
    command += std::string(FAKE_TRAINING) + " " + words + " > " + folder_->path() + "/output";
    process_ = ::popen(command.c_str(), "w");
    ASSERT_NE(process_, nullptr);
  }
  void go_on() {
    std::fputc('\n', process_);
    std::fflush(process_);
  }
  void finish() {
    EXPECT_EQ(::pclose(process_), 0);
    std::stringstream all;
    all << std::ifstream(folder_->path() + "/output").rdbuf();
    output_ = all.str();
  }

  // All rings, oldest first.
  std::vector<ReadRing> rings() {
    folder_->discover();
    std::vector<ReadRing> all;
    for (const auto& ring : folder_->rings()) {
      ReadRing read;
      read.reader = ring.get();
      auto info = ring->info();
      EXPECT_TRUE(info.ok());
      if (info) read.info = *info;
      EXPECT_TRUE(ring->drain(now(), read.batch).ok());
      all.push_back(std::move(read));
    }
    std::sort(all.begin(), all.end(),
              [](const ReadRing& a, const ReadRing& b) { return a.info.started < b.info.started; });
    return all;
  }
  ReadRing only_ring() {
    auto all = rings();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? ReadRing{} : std::move(all.front());
  }
  // Waits until the first process has made its ring and more than `launches` launches. A ring of
  // ticks may appear before it.
  ReadRing wait_for_launches(std::size_t launches) {
    ReadRing all;
    while (!all.reader) {
      folder_->discover();
      all.reader = ring_of(RingSource::kLaunches);
    }
    while (all.batch.launches.size() <= launches)
      EXPECT_TRUE(all.reader->drain(now(), all.batch).ok());
    return all;
  }
  // The first ring of this kind, or null if there is none yet.
  RingReader* ring_of(RingSource source) const {
    for (const auto& ring : folder_->rings()) {
      const auto info = ring->info();
      if (info && info->source == source) return ring.get();
    }
    return nullptr;
  }

  static Instant now() { return make_real_clock()->now(); }

  std::unique_ptr<RingFolder> folder_;
  std::map<std::string, std::string> environment_;
  std::string before_;  // shell commands to run first, for instance limits
  std::FILE* process_ = nullptr;
  std::string output_;
};

}  // namespace hypermile
