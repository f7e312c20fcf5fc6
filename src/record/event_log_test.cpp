// SPDX-License-Identifier: Apache-2.0
#include "record/event_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "record/machine_facts.h"
#include "testing/example_events.h"
#include "testing/logged_events.h"

namespace hypermile {
namespace {

class EventLogFile : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::path(::testing::TempDir()) /
             (std::string("hypermile_") +
              ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl"))
                .string();
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void write_all() {
    auto sink = open_log_file(path_);
    ASSERT_TRUE(sink.ok()) << sink.error().line();
    EventLog log(std::move(sink).value(), clock_);
    for (const Event& event : example_events()) ASSERT_TRUE(log.append(event.body).ok());
  }

  std::string path_;
  VirtualClock clock_;
};

TEST_F(EventLogFile, IsReadBackWhole) {
  write_all();

  const LoggedEvents content = events_in_file(path_);

  EXPECT_EQ(content.events.size(), example_events().size());
  EXPECT_EQ(content.unreadable_lines, 0U);
}

TEST_F(EventLogFile, IsReadableToTheLastWholeLineWhereverItIsCut) {
  write_all();
  const auto whole = static_cast<std::size_t>(std::filesystem::file_size(path_));
  std::string text(whole, '\0');
  std::ifstream(path_, std::ios::binary).read(text.data(), static_cast<std::streamsize>(whole));

  for (std::size_t size = 0; size < whole; size += 7) {
    std::filesystem::resize_file(path_, size);
    const auto cut = text.begin() + static_cast<std::ptrdiff_t>(size);
    auto lines = static_cast<std::size_t>(std::count(text.begin(), cut, '\n'));
    // A line that lacks nothing but its line break is whole.
    if (*cut == '\n') ++lines;

    const LoggedEvents content = events_in_file(path_);

    EXPECT_EQ(content.events.size(), lines) << "cut at " << size;
    std::ofstream(path_, std::ios::binary) << text;
  }
}

TEST_F(EventLogFile, AppendsARunAfterOneThatWasCutInTheMiddleOfALine) {
  write_all();
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 5);

  write_all();

  const LoggedEvents content = events_in_file(path_);
  EXPECT_EQ(content.events.size(), 2 * example_events().size() - 1);
  EXPECT_EQ(content.unreadable_lines, 1U);
}

TEST_F(EventLogFile, SaysWhenItCannotBeOpened) {
  EXPECT_EQ(open_log_file("/nonexistent/dir/x.jsonl").error().code, ErrorCode::kIo);
}

// Fails at its nth write.
class FailingSink final : public LineSink {
 public:
  explicit FailingSink(int good_writes) : left_(good_writes) {}
  Result<void> write(std::string_view) override {
    if (left_-- > 0) return {};
    return Error{ErrorCode::kIo, "disk full"};
  }
  Result<void> sync() override { return {}; }

 private:
  int left_;
};

TEST(EventLog, ReportsAFullDiskOnceAndThenCountsWhatIsLost) {
  VirtualClock clock;
  for (int good = 0; good < 3; ++good) {
    EventLog log(std::make_unique<FailingSink>(good), clock);
    int failures = 0;
    for (int i = 0; i < 5; ++i) {
      if (!log.append(Drift{}).ok()) ++failures;
    }

    EXPECT_EQ(failures, 1);
    EXPECT_EQ(log.lost(), static_cast<std::size_t>(5 - good));
  }
}

TEST(EventLog, CountsEveryInstantFromTheFirstEventHoweverLongTheMachineHasRun) {
  VirtualClock clock;
  clock.sleep_until(Instant() + Seconds(86400));
  std::vector<Event> seen;
  EventLog log(nullptr, clock);
  log.listen([&](const Event& event) { seen.push_back(event); });

  ASSERT_TRUE(log.append(RunStart{}).ok());
  Window window;
  window.begin = clock.now() + Seconds(1);
  clock.sleep_until(clock.now() + Seconds(3));
  ASSERT_TRUE(log.append(WindowEvent{GpuUuid("GPU-1"), window}).ok());

  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].time, Instant());
  EXPECT_EQ(seen[1].time, Instant() + Seconds(3));
  EXPECT_EQ(std::get<WindowEvent>(seen[1].body).window.begin, Instant() + Seconds(1));
}

TEST(DescribeRun, NamesProgramCommandAndGpus) {
  VirtualClock clock(1000);

  const RunStart start = describe_run(clock, {"python", "train.py"}, {GpuIdentity{}});

  EXPECT_EQ(start.program.substr(0, 9), "hypermile");
  EXPECT_EQ(start.command.size(), 2U);
  EXPECT_EQ(start.gpus.size(), 1U);
  EXPECT_FALSE(start.run.empty());
  EXPECT_TRUE(start.environment.contains("kernel"));
  ::unsetenv("USER");
  EXPECT_EQ(describe_run(clock, {}, {}).environment.at("user"), std::to_string(::getuid()));
}

}  // namespace
}  // namespace hypermile
