// SPDX-License-Identifier: Apache-2.0
#include "control/session.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "testing/faulty_gpu.h"
#include "testing/session_fixture.h"

namespace hypermile {
namespace {

constexpr double kWatts = 300;  // of a FakeGpu

TEST_F(SessionTest, TellsWhatAnIterationTakesAndCosts) {
  RingJob job(at(0.1));
  const std::vector<Iteration> cycle = {iteration_of("train_", 40, milliseconds(12))};

  run_until(20, [&](Instant now) { job.train_until(now, cycle); });
  const RunSummary summary = finish();

  ASSERT_EQ(summary.processes.size(), 1U);
  const ProcessReport& process = summary.processes.front();
  ASSERT_EQ(process.phases.size(), 1U);
  const PhaseReport& phase = process.phases.front();
  EXPECT_EQ(process.source, "launches");
  EXPECT_NEAR(phase.iterations, static_cast<double>(job.iterations()), 2);
  EXPECT_GT(process.coverage, 0.98);
  ASSERT_TRUE(phase.cost && phase.cost->energy_j);
  EXPECT_NEAR(phase.cost->time_s->value, 12e-3, 12e-3 * 1e-4)
      << "the GPU's own time, not the host's";
  EXPECT_NEAR(phase.cost->energy_j->value, kWatts * 12e-3, kWatts * 12e-3 * 0.005);
  EXPECT_GT(phase.cost->gpu_timed, 5U);
  EXPECT_TRUE(summary.notes.empty());
  EXPECT_TRUE(warnings_.empty());
}

// Notes when its energy counter was read.
class CounterNotingGpu final : public FakeGpu {
 public:
  CounterNotingGpu(const Clock& clock, std::vector<Instant>& reads)
      : FakeGpu(clock), now_(clock), reads_(reads) {}
  Result<Sample> read(SensorSet wanted) override {
    if (wanted.has(Sensor::kEnergy)) reads_.push_back(now_.now());
    return FakeGpu::read(wanted);
  }

 private:
  const Clock& now_;
  std::vector<Instant>& reads_;
};

TEST_F(SessionTest, ReadsTheEnergyCounterWhereEveryOtherWindowEndsAndRarelyElse) {
  std::vector<Instant> reads;
  open_gpu_ = [&]() -> OpenedFake {
    return std::shared_ptr<Gpu>(new CounterNotingGpu(clock_, reads));
  };
  RingJob job(at(0.1));
  const std::vector<Iteration> cycle = {iteration_of("train_", 40, milliseconds(12))};

  run_until(40, [&](Instant now) { job.train_until(now, cycle); });
  const auto late = std::ranges::count_if(reads, [&](Instant time) { return time > at(10); });
  finish();

  int windows = 0;
  int read = 0;
  for (const Event& event : events("window")) {
    const Window& window = std::get<WindowEvent>(event.body).window;
    const Instant end = window.begin + window.duration;
    if (window.begin < at(10) || end > at(38)) continue;
    ++windows;
    read += std::ranges::any_of(
        reads, [&](Instant time) { return time > end && time - end < Seconds(0.4); });
  }
  EXPECT_GE(windows, 12);
  EXPECT_GE(read, windows / 2);
  EXPECT_LE(late, 17);
}

TEST_F(SessionTest, CountsOptimizerStepsOverMicroBatches) {
  RingJob job(at(0.1));
  std::vector<Iteration> cycle(8, iteration_of("micro_", 30, milliseconds(10)));
  for (int i = 0; i < 4; ++i) cycle.back().kernels.emplace_back("multi_tensor_apply_adam");

  run_until(12, [&](Instant now) { job.train_until(now, cycle); });
  const RunSummary summary = finish();

  ASSERT_EQ(summary.processes.at(0).phases.size(), 1U);
  const PhaseReport& phase = summary.processes[0].phases[0];
  EXPECT_EQ(phase.micro_batches, 8);
  EXPECT_NEAR(phase.iterations, static_cast<double>(job.iterations()) / 8, 1);
  ASSERT_TRUE(phase.cost);
  EXPECT_NEAR(phase.cost->time_s->value, 80e-3, 80e-3 * 1e-3);
}

TEST_F(SessionTest, CutsWindowsAtOptimizerSteps) {
  RingJob job(at(0.1));
  std::vector<Iteration> cycle(8, iteration_of("micro_", 30, milliseconds(10)));
  for (int i = 0; i < 4; ++i) cycle.back().kernels.emplace_back("multi_tensor_apply_adam");
  cycle.back().length = milliseconds(50);

  run_until(20, [&](Instant now) { job.train_until(now, cycle); });
  finish();

  std::vector<Event> windows = events("window");
  ASSERT_GT(windows.size(), 6U);
  for (std::size_t i = 2; i + 1 < windows.size(); ++i) {
    const auto& window = std::get<WindowEvent>(windows[i].body).window;
    EXPECT_EQ(std::fmod(window.iterations, 8), 0) << i;
    EXPECT_NEAR(window.time_per_iteration->value(), 15e-3, 15e-3 * 2e-3) << i;
  }
}

// The first micro-batch stores its gradients, the others add theirs: that shows the step as well as
// the optimizer does, and may be seen first.
TEST_F(SessionTest, KnowsAnOptimizerStepThatAnotherKernelShows) {
  RingJob job(at(0.1));
  std::vector<Iteration> cycle(8, iteration_of("micro_", 30, milliseconds(10)));
  for (int i = 0; i < 3; ++i) cycle.front().kernels.emplace_back("copy_gradient");
  for (int i = 0; i < 4; ++i) cycle.back().kernels.emplace_back("multi_tensor_apply_adam");

  run_until(12, [&](Instant now) { job.train_until(now, cycle); });
  const RunSummary summary = finish();

  ASSERT_EQ(summary.processes.at(0).phases.size(), 1U);
  EXPECT_EQ(summary.processes[0].phases[0].micro_batches, 8);
}

TEST_F(SessionTest, KeepsPhasesApartAndKnowsThemAgain) {
  RingJob job(at(0.1));
  const std::vector<Iteration> train = {iteration_of("train_", 60, milliseconds(20))};
  const std::vector<Iteration> eval = {iteration_of("eval_", 25, milliseconds(6))};
  const auto alternate = [&](Instant now) {
    const double into = std::fmod((now - begin_).value(), 8.0);
    job.train_until(now, into < 5 ? train : eval);
  };

  run_until(24, alternate);
  const RunSummary summary = finish();

  ASSERT_EQ(summary.processes.at(0).phases.size(), 2U);
  const PhaseReport& longer = summary.processes[0].phases[0];
  const PhaseReport& shorter = summary.processes[0].phases[1];
  ASSERT_TRUE(longer.cost && shorter.cost);
  EXPECT_NEAR(longer.cost->time_s->value, 20e-3, 20e-3 * 0.002);
  EXPECT_NEAR(shorter.cost->time_s->value, 6e-3, 6e-3 * 0.002);
  EXPECT_GT(summary.processes[0].coverage, 0.9);
  const std::vector<Event> progress = events("progress");
  EXPECT_TRUE(std::ranges::any_of(progress, [](const Event& event) {
    return std::get<ProgressEvent>(event.body).known_phase;
  }));
}

TEST_F(SessionTest, BelievesTicksBeforeLaunches) {
  RingJob job(at(0.1));
  // What ticks twice is to the launches one iteration.
  const std::vector<Iteration> cycle(2, iteration_of("train_", 40, milliseconds(10)));
  job.tell_steps(RecordKind::kTick, "epoch");

  run_until(8, [&](Instant now) { job.train_until(now, cycle); });
  const RunSummary summary = finish();

  ASSERT_EQ(summary.processes.size(), 1U) << "both rings are one process's";
  EXPECT_EQ(summary.processes[0].source, "ticks");
  ASSERT_EQ(summary.processes[0].phases.size(), 1U);
  const PhaseReport& phase = summary.processes[0].phases[0];
  EXPECT_EQ(phase.name, "epoch");
  EXPECT_NEAR(phase.iterations, static_cast<double>(job.iterations()), 1);
}

class ToldSteps : public SessionTest, public ::testing::WithParamInterface<RecordKind> {};

TEST_P(ToldSteps, AreTimedOnTheGpu) {
  RingJob job(at(0.1));
  const std::vector<Iteration> cycle = {iteration_of("train_", 40, milliseconds(12))};
  job.tell_steps(GetParam(), "step");

  run_until(12, [&](Instant now) { job.train_until(now, cycle); });
  const RunSummary summary = finish();

  ASSERT_EQ(summary.processes.at(0).phases.size(), 1U);
  const PhaseReport& phase = summary.processes[0].phases[0];
  EXPECT_EQ(summary.processes[0].source, GetParam() == RecordKind::kTick ? "ticks" : "nvtx");
  EXPECT_NEAR(phase.iterations, static_cast<double>(job.iterations()), 1);
  EXPECT_GE(phase.cost->gpu_timed, 3U);
  ASSERT_TRUE(phase.cost);
  EXPECT_NEAR(phase.cost->time_s->value, 12e-3, 12e-3 * 1e-4)
      << "the host is up to ten steps ahead";
}

INSTANTIATE_TEST_SUITE_P(TicksAndRanges, ToldSteps,
                         ::testing::Values(RecordKind::kTick, RecordKind::kStep));

TEST_F(SessionTest, FollowsSeveralProcesses) {
  RingJob one(at(0.1));
  RingJob other(at(0.1));
  other.writer().header().pid = static_cast<std::uint32_t>(::getppid());  // one that lives
  const std::vector<Iteration> fast = {iteration_of("fast_", 30, milliseconds(8))};
  const std::vector<Iteration> slow = {iteration_of("slow_", 30, milliseconds(16))};

  run_until(8, [&](Instant now) {
    one.train_until(now, fast);
    other.train_until(now, slow);
  });
  const RunSummary summary = finish();

  ASSERT_EQ(summary.processes.size(), 2U);
  ASSERT_TRUE(summary.processes[0].phases.at(0).cost && summary.processes[1].phases.at(0).cost);
  EXPECT_NEAR(summary.processes[0].phases[0].cost->time_s->value, 8e-3, 1e-5)
      << "the one with most launches";
  EXPECT_NEAR(summary.processes[1].phases[0].cost->time_s->value, 16e-3, 1e-5);
}

TEST_F(SessionTest, MeasuresTimeWithoutAGpuAndSaysOnceWhyThereIsNone) {
  open_gpu_ = []() -> OpenedFake {
    return Error{ErrorCode::kNoDriver, "there is no driver", "install one"};
  };
  RingJob job(at(0.1));
  const std::vector<Iteration> cycle = {iteration_of("train_", 40, milliseconds(12))};

  run_until(8, [&](Instant now) { job.train_until(now, cycle); });
  const RunSummary summary = finish();

  const PhaseReport& phase = summary.processes.at(0).phases.at(0);
  ASSERT_TRUE(phase.cost);
  EXPECT_NEAR(phase.cost->time_s->value, 12e-3, 12e-3 * 1e-4);
  EXPECT_FALSE(phase.cost->energy_j);
  EXPECT_EQ(warnings_, std::vector<std::string>{"GPU 0: there is no driver; install one"});
}

TEST_F(SessionTest, GoesOnWhenAGpuFailsAndTakesItUpAgain) {
  // Read 50 times a second: lost from the sixth second on, and two tries come to nothing.
  const Error lost{ErrorCode::kGpuLost, "the GPU is lost", "reboot"};
  open_gpu_ = [&]() -> OpenedFake {
    std::vector<ScriptedFault> script = {{GpuCall::kRead, fault::Fails{lost}, 300, 2}};
    return std::shared_ptr<Gpu>(new FaultyGpu(std::make_unique<FakeGpu>(clock_), clock_, script));
  };
  RingJob job(at(0.1));
  const std::vector<Iteration> cycle = {iteration_of("train_", 40, milliseconds(12))};
  const auto play = [&](Instant now) { job.train_until(now, cycle); };

  run_until(20, play);
  const RunSummary summary = finish();

  const PhaseReport& phase = summary.processes.at(0).phases.at(0);
  EXPECT_NEAR(phase.iterations, static_cast<double>(job.iterations()), 2);
  ASSERT_TRUE(phase.cost && phase.cost->energy_j);
  EXPECT_NEAR(phase.cost->energy_j->value, kWatts * 12e-3, kWatts * 12e-3 * 0.01);
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(SessionTest, TellsEveryTenSecondsAndAtTheEndHowLongTheDriverTook) {
  class TimedGpu final : public FakeGpu {
   public:
    using FakeGpu::FakeGpu;
    CallTimes call_times() const override { return {{"read", {{0.1}, {7, 1}, 0.5}}}; }
  };
  open_gpu_ = [this]() -> OpenedFake { return std::shared_ptr<Gpu>(new TimedGpu(clock_)); };
  RingJob job(at(0.1));
  const std::vector<Iteration> cycle = {iteration_of("train_", 40, milliseconds(12))};

  run_until(25, [&](Instant now) { job.train_until(now, cycle); });
  finish();

  const std::vector<Event> told = events("driver_calls");
  ASSERT_EQ(told.size(), 4U) << "at once, after 10 and 20 seconds, and at the end";
  EXPECT_EQ(std::get<DriverCalls>(told.back().body).calls.at("read").counts,
            (std::vector<std::uint64_t>{7, 1}));
}

TEST_F(SessionTest, RefusesWindowsWithStrangersOnTheGpu) {
  class SharedGpu final : public FakeGpu {
   public:
    using FakeGpu::FakeGpu;
    Result<std::vector<GpuProcess>> processes() override {
      return std::vector<GpuProcess>{{::getpid(), {}}, {42, {}}};
    }
  };
  open_gpu_ = [this]() -> OpenedFake { return std::shared_ptr<Gpu>(new SharedGpu(clock_)); };
  RingJob job(at(0.1));
  const std::vector<Iteration> cycle = {iteration_of("train_", 40, milliseconds(12))};

  run_until(15, [&](Instant now) { job.train_until(now, cycle); });
  const RunSummary summary = finish();

  const auto& unusable = summary.processes.at(0).phases.at(0).unusable;
  ASSERT_EQ(unusable.size(), 1U);
  EXPECT_EQ(unusable.begin()->first, "another process");
}

TEST_F(SessionTest, NotesLaunchesThatWereLost) {
  RingJob job(at(0.1));
  const std::vector<Iteration> cycle = {iteration_of("train_", 400, milliseconds(4))};
  start();
  session_->step();
  job.train_until(at(1), cycle);
  clock_.sleep_until(at(1));
  run_until(2, [&](Instant now) { job.train_until(now, cycle); });

  const RunSummary summary = finish();

  ASSERT_EQ(summary.notes.size(), 1U);
  EXPECT_NE(summary.notes[0].find("launches were lost; counts may be too low"), std::string::npos);
}

TEST_F(SessionTest, NotesThatAProfilerTookOver) {
  RingJob job(at(0.1));
  const std::vector<Iteration> cycle = {iteration_of("train_", 40, milliseconds(12))};
  run_until(4, [&](Instant now) { job.train_until(now, cycle); });

  job.writer().set_status(RingStatus::kHandedOver, "a profiler started in the job");
  run_until(6, [](Instant) {});
  const RunSummary summary = finish();

  ASSERT_EQ(summary.notes.size(), 1U);
  EXPECT_NE(summary.notes[0].find("a profiler started and took over"), std::string::npos);
  const std::vector<Event> told = events("process");
  EXPECT_EQ(std::get<ProcessEvent>(told.back().body).status, "handed_over");
  EXPECT_NEAR(summary.processes.at(0).phases.at(0).iterations,
              static_cast<double>(job.iterations()), 2);
}

TEST_F(SessionTest, SaysThatNothingWasSeen) {
  run_until(1, [](Instant) {});

  const RunSummary summary = finish();

  EXPECT_TRUE(summary.processes.empty());
  EXPECT_EQ(summary.notes,
            std::vector<std::string>{"no process of the job was seen to use CUDA or ticks"});
}

TEST_F(SessionTest, LogsTheGpuTheProcessTheLockAndEveryWindow) {
  RingJob job(at(0.1));
  const std::vector<Iteration> cycle = {iteration_of("train_", 40, milliseconds(12))};

  run_until(12, [&](Instant now) { job.train_until(now, cycle); });
  const RunSummary summary = finish();

  EXPECT_EQ(events("gpu").size(), 1U);
  EXPECT_EQ(std::get<ProcessEvent>(events("process").front().body).status, "watching");
  EXPECT_EQ(std::get<ProgressEvent>(events("progress").front().body).state, "locked");
  EXPECT_EQ(events("window").size(),
            static_cast<std::size_t>(summary.processes.at(0).phases.at(0).windows));
  EXPECT_GE(events("window").size(), 4U);
  EXPECT_NEAR(static_cast<double>(events("sample").size()), 12, 2);
}

}  // namespace
}  // namespace hypermile
