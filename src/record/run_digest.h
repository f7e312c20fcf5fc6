// SPDX-License-Identifier: Apache-2.0
//
// What one run's events come to, in bounded space however long it lasts: series that are thinned,
// means by phase and Setting, the states, the decisions in words, counts. Reports, the live page
// and metrics are made from it. Events are added as they come; nothing is looked up elsewhere.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/event.h"
#include "record/head_and_tail.h"
#include "record/thinned_series.h"
#include "record/weighted_mean.h"

namespace hypermile {

// The usable Windows of one phase at one Setting.
struct SettingDigest {
  Setting setting;
  std::size_t windows = 0;
  std::size_t unusable = 0;
  double iterations = 0;
  WeightedMean time_s;    // per iteration
  WeightedMean energy_j;  // per iteration
  WeightedMean power_w;
  WeightedMean sm_mhz;  // as seen
};

// Of one Setting against the default, with standard errors where they are known.
struct ComparedSetting {
  double slowdown = 0;  // 0.03: 3 % slower
  std::optional<double> slowdown_error;
  double saved = 0;  // 0.1: 10 % less energy an iteration
  std::optional<double> saved_error;
};

// Windows that may be compared with each other: one process, phase and level on one GPU.
struct MeasuredPhase {
  MeasuredPhase(std::int64_t of, PatternId as, std::size_t points)
      : process(of), pattern(as), time_s(points), energy_j(points) {}

  std::int64_t process = 0;
  PatternId pattern;
  double seconds = 0;  // spent in its Windows
  std::vector<SettingDigest> settings;
  std::optional<Setting> kept;     // the last one held
  ThinnedSeries time_s, energy_j;  // per iteration, Window by Window
  std::vector<ForecastPoint> first_forecast, last_forecast;

  const SettingDigest* find(const Setting& setting) const;
  // nullopt where it or the default was not measured.
  std::optional<ComparedSetting> compare(const Setting& setting) const;
  // Against the default, in the Windows measured at other Settings; nullopt where that was not.
  std::optional<double> saved_j() const;
};

struct AskedSetting {
  double time_s = 0;
  Setting setting;
};

struct WatchedGpu {
  WatchedGpu(GpuUuid uuid, std::size_t points);

  GpuIdentity identity;
  ThinnedSeries power_w, sm_mhz, mem_mhz, temperature_c, limit_w;
  Sample last;                                 // newest known of each sensor
  std::optional<Joules> first_energy;          // of the counter
  std::optional<Joules> energy() const;        // since the run began
  HeadAndTail<AskedSetting> asked{500, 3000};  // that were accepted
  Setting requested;                           // the last of those
  std::optional<Decision> decided;             // last
  std::optional<Decision> truth;               // the best Setting, where a simulator knows it
  bool throttled = false;
  CallTimes calls;  // of the driver, since the GPU was opened
  std::vector<MeasuredPhase> phases;
  std::size_t phases_left_out = 0;
  // Counts for metrics.
  std::uint64_t accepted = 0, refused = 0, usable_windows = 0, unusable_windows = 0, drifts = 0;
  std::map<std::string, std::uint64_t> decisions;  // by outcome: "probe", "keep", "default"
  double iterations = 0;                           // measured
  double window_seconds = 0;

  // The one that most of the job was spent in; null where nothing was measured.
  const MeasuredPhase* main_phase() const;
};

struct StateEntry {
  double time_s = 0;
  std::string state;
};

struct ToldEvent {
  double time_s = 0;
  std::string kind;
  std::string gpu;  // UUID, or empty
  std::string text;
};

class RunDigest {
 public:
  // `points` in each series, `lines` in words.
  RunDigest(std::size_t points, std::size_t lines)
      : points_(points), states_(1000, 3000), told_(lines / 3, lines - lines / 3) {}

  void add(const Event& event);

  const RunStart& start() const { return start_; }
  const std::optional<RunEnd>& end() const { return end_; }
  const std::vector<std::unique_ptr<WatchedGpu>>& gpus() const { return gpus_; }
  const HeadAndTail<StateEntry>& states() const { return states_; }
  const std::string& state_reason() const { return state_reason_; }
  const HeadAndTail<ToldEvent>& told() const { return told_; }
  const std::map<std::string, std::uint64_t>& errors() const { return errors_; }  // by code
  double now_s() const { return now_s_; }                                // time of the last event
  double lasted_s() const { return first_s_ ? now_s_ - *first_s_ : 0; }  // so far
  std::uint64_t events() const { return events_; }
  // As a fraction; nullopt where there is none or the log does not say.
  std::optional<double> bound() const;
  // What run_start's environment says; "" where it does not.
  std::string told_by_start(const std::string& key) const;

 private:
  WatchedGpu& gpu(const GpuUuid& uuid);
  MeasuredPhase* phase(WatchedGpu& gpu, std::int64_t process, PatternId pattern);
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
  RunStart start_;
  std::optional<RunEnd> end_;
  std::vector<std::unique_ptr<WatchedGpu>> gpus_;
  HeadAndTail<StateEntry> states_;
  std::string state_reason_;
  HeadAndTail<ToldEvent> told_;
  std::map<std::string, std::uint64_t> errors_;
  std::optional<double> first_s_;
  double now_s_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace hypermile
