// SPDX-License-Identifier: Apache-2.0
//
// For tests: a Session in virtual time over a folder of its own, with fake GPUs.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "control/session.h"
#include "testing/fake_gpu.h"
#include "testing/ring_job.h"

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

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    // Records carry the real clock's time where the writer takes it itself; the virtual one starts
    // there.
    clock_.sleep_until(Instant::from_nanoseconds(static_cast<std::int64_t>(monotonic_ns())));
    begin_ = clock_.now();
    ::setenv(kRingDirVariable, folder_.path().c_str(), 1);
    open_gpu_ = [this]() -> OpenedFake { return std::shared_ptr<Gpu>(new FakeGpu(clock_)); };
  }
  ~SessionTest() override { ::unsetenv(kRingDirVariable); }

  Instant at(double seconds) const { return begin_ + Seconds(seconds); }

  void start() {
    log_ = std::make_unique<EventLog>(std::make_unique<MemorySink>(lines_), clock_);
    session_ = std::make_unique<Session>(
        SessionParts{.clock = clock_,
                     .folder = folder_,
                     .open_gpu =
                         [this](const DeviceName&) {
                           std::promise<OpenedFake> opened;
                           opened.set_value(open_gpu_());
                           return opened.get_future();
                         },
                     .visible_devices = {},
                     .log = log_.get(),
                     .warn = [this](const std::string& line) { warnings_.push_back(line); },
                     .controller = session_controller_});
  }
  // `play` brings the job up to the instant it is given.
  void run_until(double seconds, const std::function<void(Instant)>& play) {
    if (!session_) start();
    while (clock_.now() < at(seconds)) {
      play(clock_.now());
      clock_.sleep_until(session_->step());
    }
  }
  RunSummary finish() {
    session_->finish();
    return session_->summary();
  }
  std::vector<Event> events(std::string_view type) const {
    std::vector<Event> found;
    for (const std::string& line : lines_) {
      if (line.find("\"type\":\"" + std::string(type) + "\"") == std::string::npos) continue;
      found.push_back(parse_event(line).value());
    }
    return found;
  }

  VirtualClock clock_;
  Instant begin_;
  RingFolder folder_ = RingFolder::make().value();
  std::function<OpenedFake()> open_gpu_;
  std::vector<std::string> lines_, warnings_;
  std::unique_ptr<EventLog> log_;
  Controller* session_controller_ = nullptr;
  std::unique_ptr<Session> session_;
};

}  // namespace hypermile
