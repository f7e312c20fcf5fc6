// SPDX-License-Identifier: Apache-2.0
//
// One run as reports, the live page and metrics show it: its figures (run_figures.h), series that
// are thinned, states, decisions in words, and counts. Events are added as they come, and nothing
// is read from elsewhere. The space is bounded however long the run lasts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/event.h"
#include "record/head_and_tail.h"
#include "record/run_figures.h"
#include "record/thinned_series.h"

namespace hypermile {

// What is drawn of one process, phase and level on one GPU.
struct PhaseSeries {
  PhaseSeries(std::int64_t of, PatternId as, std::size_t points)
      : process(of), pattern(as), time_s(points), energy_j(points) {}

  std::int64_t process = 0;
  PatternId pattern;
  ThinnedSeries time_s, energy_j;  // per iteration, window by window
  std::vector<ForecastPoint> first_forecast, last_forecast;
};

struct AskedSetting {
  double time_s = 0;
  Setting setting;
};

struct WatchedGpu {
  WatchedGpu(GpuUuid uuid, std::size_t points);

  GpuIdentity identity;
  ThinnedSeries power_w, sm_mhz, mem_mhz, temperature_c, limit_w;
  Sample last;                                 // the newest value of each sensor
  HeadAndTail<AskedSetting> asked{500, 3000};  // requests that were accepted
  Setting requested;                           // the last of them
  std::optional<Decision> truth;               // the best setting, where a simulator knows it
  bool throttled = false;
  CallTimes calls;  // how long the driver took since the GPU was opened
  std::vector<PhaseSeries> phases;
  // Counts for metrics.
  std::uint64_t accepted = 0, refused = 0, usable_windows = 0, unusable_windows = 0, drifts = 0;
  std::map<std::string, std::uint64_t> decisions;  // by outcome: "probe", "keep", "default"
  double iterations = 0;                           // in windows
};

struct StateEntry {
  double time_s = 0;
  std::string state;
};

// A run is of one machine, which has fewer; what a log says of further GPUs is left out.
inline constexpr std::size_t kMostWatchedGpus = 128;

struct ToldEvent {
  double time_s = 0;
  std::string kind;
  std::string gpu;  // UUID, or empty
  std::string text;
};

class RunDigest {
 public:
  // At most `points` in each series and `lines` of decisions in words.
  RunDigest(std::size_t points, std::size_t lines)
      : points_(points), states_(1000, 3000), told_(lines / 3, lines - lines / 3) {}

  void add(const Event& event);
  // The same job at the default, where a simulator has played it.
  void compare_with(const DefaultRun& run) { figures_.compare_with(run); }

  const RunFigures& figures() const { return figures_; }
  const RunStart& start() const { return start_; }
  const std::optional<RunEnd>& end() const { return end_; }
  const std::vector<std::unique_ptr<WatchedGpu>>& gpus() const { return gpus_; }
  const HeadAndTail<StateEntry>& states() const { return states_; }
  const std::string& state_reason() const { return state_reason_; }
  const HeadAndTail<ToldEvent>& told() const { return told_; }
  const std::map<std::string, std::uint64_t>& errors() const { return errors_; }  // by code
  double now_s() const { return now_s_; }  // time of the last event since the run began
  std::uint64_t events() const { return events_; }
  // Told so by its start, or on a GPU that is not silicon.
  bool simulated() const;
  // The slowdown allowed, 0.05 is 5 %; nullopt where there is none or the log does not tell.
  std::optional<double> bound() const;
  // A value of run_start's environment; "" where it is not there.
  std::string told_by_start(const std::string& key) const;

 private:
  // False for an event of a GPU beyond kMostWatchedGpus.
  bool admits(const EventBody& body) const;
  bool admits(const GpuUuid& uuid) const;
  WatchedGpu& gpu(const GpuUuid& uuid);
  PhaseSeries* series(WatchedGpu& gpu, std::int64_t process, PatternId pattern);
  void introduce(const GpuIdentity& identity);
  void take(const RunStart& e);
  void take(const SampleEvent& e);
  void take(const WindowEvent& e);
  void take(const Decision& e);
  void take(const Forecast& e);
  void take(const SettingChange& e);
  void take(const StateChange& e);
  void take(const GpuEvent& e) { introduce(e.gpu); }
  void take(const Drift& e) { ++gpu(e.gpu).drifts; }
  void take(const Throttle& e) { gpu(e.gpu).throttled = e.reasons.bits != 0; }
  void take(const DriverCalls& e) { gpu(e.gpu).calls = e.calls; }
  void take(const ErrorEvent& e) { ++errors_[std::string(to_string(e.error.code))]; }
  void take(const RunEnd& e) { end_ = e; }
  void take(const ProcessEvent&) {}
  void take(const ProgressEvent&) {}
  void take(const FeaturesEvent&) {}

  std::size_t points_;
  RunFigures figures_;
  RunStart start_;
  std::optional<RunEnd> end_;
  std::vector<std::unique_ptr<WatchedGpu>> gpus_;
  HeadAndTail<StateEntry> states_;
  std::string state_reason_;
  HeadAndTail<ToldEvent> told_;
  std::string decided_;  // the reason of the last decision
  std::map<std::string, std::uint64_t> errors_;
  double now_s_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace hypermile
