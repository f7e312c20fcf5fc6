// SPDX-License-Identifier: Apache-2.0
//
// The inside of a Controller, by file: what comes in (control_events.cpp), what follows from it
// once a round (control_loop.cpp), what a policy is told and asks for (control_policy.cpp), how the
// Step in hand is run (control_step.cpp) and what its Windows say (control_judge.cpp).
// docs/design/policies.md has the states and every transition.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/applied_settings.h"
#include "control/controller.h"
#include "control/feature_collector.h"
#include "control/joint_window.h"
#include "control/phase_book.h"
#include "control/rank_meter.h"
#include "measure/window_maker.h"

namespace hypermile {

class Controller::Core {
 public:
  Core(ControllerParts parts, ControllerOptions options);

  void start(FollowerDesk& desk);
  void gpu_opened(GpuWatch& gpu);
  void boundary(const ProcessProgress& process, const Boundary& boundary, bool fresh,
                std::span<GpuWatch* const> gpus);
  void progress_changed(const ProcessProgress& process, const ProgressChange& change);
  void reading(GpuWatch& gpu, const SamplerReading& reading);
  void seen_on(GpuWatch& gpu, std::span<const GpuProcess> seen, std::span<const std::int64_t> ours);
  Instant step(Instant now);
  void finish(Instant now);

  ControlState state() const { return state_; }
  const std::string& reason() const { return reason_; }
  ControlSummary summary() const;

 private:
  using Numbers = std::map<std::string, double>;

  // A rank and what is kept of it between Windows.
  struct RankState {
    Rank rank;
    PauseWatch pauses;
    std::optional<CountedBoundary> carried;  // where its last Window ended
    std::vector<std::int64_t> job_processes;
    std::unique_ptr<WindowMaker> maker;  // of Windows that nobody asked for
  };

  // control_events.cpp
  RankState& rank_state(const ProcessProgress& process, GpuWatch& gpu);
  void meet(Phase& phase, Instant now);
  void enter(Phase& phase, Instant now);
  void leave(Instant now);
  void lose_progress(Instant since);

  // control_loop.cpp
  void drive(Instant now);
  bool look_at_port(Instant now);
  std::optional<std::string> trouble(Instant now) const;
  void be_unsure(const std::string& why, Instant now);
  void claim();
  bool everybody_is_here(Instant now) const;
  void attend();
  void drive_phase(Phase& phase, Instant now);
  void leave_alone(Phase& phase, const std::string& why, Instant now, Numbers numbers = {});
  void go_default(Instant now);
  void set_state(ControlState state, const std::string& reason, Numbers numbers = {});
  void stop_measuring();
  std::vector<Setting> everywhere(const Setting& setting) const;

  // control_policy.cpp
  Result<void> make_policy(Phase& phase);
  PolicyContext context_of(const Phase& phase) const;
  std::vector<Setting> settings_for(const Setting& default_values) const;
  std::optional<double> iterations_left(const Phase& phase) const;
  bool take_next_step(Phase& phase);
  bool watches_default(const Phase& phase) const { return spoiled_ || phase.earning_back; }
  void count_decision(Phase& phase, const Step& step);
  void write_decision(Phase& phase, const Step& step);
  void write_forecast(Phase& phase, const Step& step);

  // control_step.cpp
  void run_step(Phase& phase, Instant now);
  bool prepare_step(Phase& phase, Instant now);
  void open_meters(Phase& phase, Instant now);
  void close_meters(Phase& phase, Instant now);
  std::vector<Setting> settings_of_step(Phase& phase);
  static PatternId pattern_of(const Rank& rank, const Phase& phase);
  void drop_clamped(Phase& phase, Instant now);

  // control_judge.cpp
  void judge(Phase& phase, const Window& joint, std::span<const RankWindow> ranks, Instant now);
  void look_for_change(Phase& phase, const Window& joint, Instant now);
  void start_over(Phase& phase, const std::string& why, Instant now, Numbers numbers);

  // control_guard.cpp
  void note_setting(Instant now);
  bool off_default_at(Instant time) const;
  void keep_account(Phase& phase, const Boundary& boundary, Pause pause);
  Seconds whole_job(const Phase& phase, Seconds usual) const;
  Seconds sure_job(const Phase& phase, Seconds usual) const;
  void tell_account(Phase& phase);
  void guard_bound(Phase& phase);

  // control_features.cpp
  void open_collector(const Phase& phase);
  void collect_features(Phase& phase, Window& joint);

  ControllerParts parts_;
  ControllerOptions options_;
  FollowerDesk* desk_ = nullptr;
  std::optional<AppliedSettings> applied_;

  std::vector<GpuWatch*> opened_;
  std::vector<std::unique_ptr<RankState>> ranks_;
  std::map<std::pair<const ProcessProgress*, std::uint32_t>, double> counted_;  // by phase
  const ProcessProgress* lead_ = nullptr;  // whose phases count
  PhaseBook book_;
  Phase* active_ = nullptr;
  const Phase* decided_for_ = nullptr;                // the last decision in the log
  Phase* visited_ = nullptr;                          // another one, perhaps only for a moment
  std::deque<std::pair<Instant, Instant>> dark_;      // the lead was not watched; the oldest first
  std::deque<std::pair<Instant, bool>> off_default_;  // since when; the oldest first
  std::vector<RankMeter> meters_;              // of the Step in hand, where it is being measured
  std::optional<FeatureCollector> collector_;  // of the first baseline of a phase
  bool continued_ = false;                     // nothing has changed since the last Window

  ControlState state_ = ControlState::kWarmUp, before_release_ = ControlState::kWarmUp;
  std::string reason_;
  Instant now_, state_since_;
  bool begun_ = false;
  std::map<ControlState, Seconds> time_in_;
  std::optional<Instant> first_boundary_, last_boundary_;  // of the lead; when it was told
  std::optional<Instant> lost_since_, idle_since_;
  std::optional<Instant> try_again_;  // after trouble
  int failures_ = 0;                  // in a row
  int claims_ = 0;
  std::optional<Attention> attention_;  // last asked for
  bool spoiled_ = false;                // circumstances spoil every Window: the default is watched
  std::size_t windows_ = 0, unusable_ = 0, drifts_ = 0;
  bool restored_ = true;
};

}  // namespace hypermile
