// SPDX-License-Identifier: Apache-2.0
//
// For tests: a Session on the virtual rig, over a folder of its own, with fake GPUs. The test is
// the job: it writes rings into the folder.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "testing/fake_gpu.h"
#include "testing/ring_job.h"
#include "trial/virtual_rig.h"

namespace hypermile {

// Keeps lines for a test to read.
class MemorySink final : public LineSink {
 public:
  explicit MemorySink(std::vector<std::string>& lines) : lines_(lines) {}
  Result<void> write(std::string_view text) override {
    lines_.emplace_back(text);
    return {};
  }
  Result<void> sync() override { return {}; }

 private:
  std::vector<std::string>& lines_;
};

using OpenedFake = Result<std::shared_ptr<Gpu>>;

class SessionTest : public ::testing::Test, private VirtualJob {
 protected:
  SessionTest() {
    // The writer stamps some records with the real clock's time, so the virtual clock starts there.
    clock_.sleep_until(Instant::from_nanoseconds(static_cast<std::int64_t>(monotonic_ns())));
    begin_ = clock_.now();
    ::setenv(kRingDirVariable, folder_.path().c_str(), 1);
    open_gpu_ = [this]() -> OpenedFake { return std::shared_ptr<Gpu>(new FakeGpu(clock_)); };
  }
  ~SessionTest() override { ::unsetenv(kRingDirVariable); }

  Instant at(double seconds) const { return begin_ + Seconds(seconds); }

  void start(RigTerms terms = {}) {
    rig_.reset();
    terms.sink = std::make_unique<MemorySink>(lines_);
    terms.listener = [this](const Event&) {
      logged_since_ = std::min(logged_since_, clock_.now());
    };
    terms.warn = [this](const std::string& line) { warnings_.push_back(line); };
    terms.open_gpu = [this](const DeviceName&) {
      std::promise<OpenedFake> opened;
      opened.set_value(open_gpu_());
      return opened.get_future();
    };
    VirtualJob& job = *this;
    rig_ = std::make_unique<VirtualRig>(clock_, job, std::move(terms));
    session_ = &rig_->session();
  }
  // `play` brings the job up to the instant that it is given.
  void run_until(double seconds, const std::function<void(Instant)>& play) {
    if (!rig_) start();
    play_ = play;
    while (clock_.now() < at(seconds)) rig_->step();
  }
  RunSummary finish() {
    session_->finish();
    return session_->summary();
  }
  // Logged events of one type, with the times of the test's clock.
  std::vector<Event> events(std::string_view type) const {
    const Instant log_zero = Instant() - logged_since_.since_origin();
    std::vector<Event> found;
    for (const std::string& line : lines_) {
      if (line.find("\"type\":\"" + std::string(type) + "\"") == std::string::npos) continue;
      found.push_back(counted_from(log_zero, parse_event(line).value()));
    }
    return found;
  }

  VirtualClock clock_;
  Instant begin_;
  RingFolder folder_ = RingFolder::make().value();
  std::function<OpenedFake()> open_gpu_;
  std::vector<std::string> lines_, warnings_;
  std::unique_ptr<VirtualRig> rig_;
  Session* session_ = nullptr;  // the rig's

 private:
  std::vector<Gpu*> cards() override { return {}; }
  RingFolder& folder() override { return folder_; }
  void play(Instant now) override { play_(now); }

  std::function<void(Instant)> play_;
  Instant logged_since_ = Instant::from_nanoseconds(INT64_MAX);  // the log's first event
};

}  // namespace hypermile
