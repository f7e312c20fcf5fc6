// SPDX-License-Identifier: Apache-2.0
//
// The loop on a living job: watches it at the default, lets a policy search the Setting of least
// energy within the user's bound, holds it, keeps measuring, and gives everything back. A Session
// feeds it; it owns no thread, knows no GPU but through sensors and a SettingPort, and runs a day
// of simulated training in virtual time by the same code as a real job.
//
//   Controller controller({.port = port}, options);
//   Session session({…, .controller = &controller}, …);
//   session.run(ended);  // at the end every GPU is back at what it had
//
// All GPUs of a job are told the same and judged together: the slowest sets the pace, their power
// adds up (joint_window.h). Every phase of the job (training, evaluation) has a policy and
// knowledge of its own. Whatever goes wrong leads to the driver's default; the job itself cannot be
// reached from here.
//
// By file: what comes in (control_events.cpp), what follows from it once a round, with the table of
// transitions (control_loop.cpp), what goes wrong (control_trouble.cpp), which Settings there are
// (control_settings.cpp), what a policy is told and asks for (control_policy.cpp), how the Step in
// hand is run (control_step.cpp), what its Windows say (control_judge.cpp) and the bound of the
// whole job (control_guard.cpp). docs/design/policies.md has the states in words.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/applied_settings.h"
#include "control/control_desk.h"
#include "control/control_summary.h"
#include "control/controller_options.h"
#include "control/feature_collector.h"
#include "control/joint_window.h"
#include "control/phase_book.h"
#include "control/rank_meter.h"
#include "control/trace_collector.h"
#include "measure/window_maker.h"

namespace hypermile {

class Controller {
 public:
  // What `parts` refers to must outlive it. The policy's name must be a known one.
  Controller(ControllerParts parts, ControllerOptions options);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // The Session calls these, in order, on its own thread.

  // Comes first. `desk` is used until finish() has returned.
  void start(ControlDesk desk);
  // A GPU that the job uses can be read. It lives as long as the Session.
  void gpu_opened(GpuWatch& gpu);
  // An iteration ended; reported up to ProgressDelays late. `fresh`: no window may reach over it
  // from before. `gpus` are the open GPUs of the process; the others come through gpu_opened().
  void boundary(const ProcessProgress& process, const Boundary& boundary, bool fresh,
                std::span<GpuWatch* const> gpus);
  // Reported at once, so before the boundaries that the change concerns.
  void progress_changed(const ProcessProgress& process, const ProgressChange& change);
  // See ProgressSink.
  void process_settled(const ProcessProgress& process);
  void process_forgotten(const ProcessProgress& process);
  void reading(GpuWatch& gpu, const SamplerReading& reading);
  // Who is on a GPU, every other second. `ours` are the job's processes; empty where none of them
  // was recognised (in a container), and then nobody can be called a stranger.
  void seen_on(GpuWatch& gpu, std::span<const GpuProcess> seen, std::span<const std::int64_t> ours);
  // Once a round, after all of the above; returns when it wants the next round at the latest.
  Instant step(Instant now);
  // Everything that the job left has been passed on: closes windows, gives GPUs back. `why` it is
  // over stands in the log and the summary.
  void finish(Instant now, const std::string& why = "the job has ended");

  ControlState state() const { return state_; }
  const std::string& reason() const { return reason_; }  // of the state, in words
  ControlSummary summary() const;

 private:
  using Numbers = std::map<std::string, double>;
  // No Boundary is reported sooner after it happened.
  static constexpr Seconds kLeastLate = ProgressDelays().least;
  // Shorter evaluations and checkpoints are ignored.
  static constexpr Seconds kBriefLoss = Seconds(2);

  // A rank and what is kept of it between Windows.
  struct RankState {
    Rank rank;
    PauseWatch pauses;
    std::optional<CountedBoundary> carried;  // where its last Window ended
    std::vector<std::int64_t> job_processes;
    // Of Windows that nobody asked for; null once the end of the process is settled.
    std::unique_ptr<WindowMaker> maker;
  };

  // control_events.cpp
  Boundary weighed(const ProcessProgress& process, const Boundary& told);
  RankState& rank_state(const ProcessProgress& process, GpuWatch& gpu);
  void meet(Phase& phase, Instant now);
  void enter(Phase& phase, Instant now);
  void leave(Instant now);
  void lose_progress(Instant since);

  // control_loop.cpp: the rules, in their order, and what they do
  void drive(Instant now);
  bool stays_away(Instant now);
  bool drops_setting(Instant now);
  bool waits_for_job(Instant now);
  bool waits_for_pattern(Instant now);
  bool watches_phase(Instant now);
  bool passes_over_phase(Instant now);
  bool lacks_policy(Instant now);
  bool runs_phase(Instant now);
  void attend();
  void leave_alone(Phase& phase, const std::string& why, Instant now, Numbers numbers = {});
  void go_default(Instant now);
  void set_state(ControlState state, const std::string& reason, Numbers numbers = {});
  void stop_measuring();
  std::vector<Setting> everywhere(const Setting& setting) const;

  // control_trouble.cpp
  bool waits_for_port(Instant now);
  bool meets_trouble(Instant now);
  std::optional<std::string> trouble(Instant now) const;
  void be_unsure(const std::string& why, Instant now);
  void claim();
  bool everybody_is_here(Instant now) const;

  // control_policy.cpp
  Result<void> make_policy(Phase& phase);
  PolicyContext context_of(const Phase& phase) const;
  std::optional<double> iterations_left(const Phase& phase) const;
  bool take_next_step(Phase& phase);
  bool watches_default(const Phase& phase) const { return spoiled_ || phase.earning_back; }
  void count_decision(Phase& phase, const Step& step);
  void write_decision(Phase& phase, const Step& step);
  void write_forecast(Phase& phase, const Step& step);

  // control_step.cpp
  void run_step(Phase& phase, Instant now);
  bool held_too_long(const Phase& phase) const;
  bool prepare_step(Phase& phase, Instant now);
  void open_meters(Phase& phase, Instant now);
  void close_meters(Phase& phase, Instant now);
  void give_up_look(Phase& phase, Instant now);
  std::vector<Setting> settings_of_step(Phase& phase);
  static PatternId pattern_of(const Rank& rank, const Phase& phase);

  // control_settings.cpp
  std::vector<Setting> settings_for(const Setting& default_values);
  void leave_out(Phase& phase, std::size_t setting);
  void choose_anew(Phase& phase, Instant now);
  void drop_clamped(Phase& phase, Instant now);
  bool drop_refused(Phase& phase, Instant now);

  // control_judge.cpp
  void judge(Phase& phase, const Window& joint, std::span<const RankWindow> ranks, Instant now);
  bool has_jumped(Phase& phase, const Window& joint, Instant now);
  void report_change(Phase& phase, const char* quantity, double before, double after, Instant now);
  bool look_for_change(Phase& phase, std::size_t setting, const Window& joint, Instant now);
  void start_over(Phase& phase, const std::string& why, Instant now, Numbers numbers);

  // control_guard.cpp
  void note_setting(Instant now);
  std::size_t setting_at(Instant time) const;
  void keep_account(Phase& phase, const Boundary& boundary, Pause pause);
  void tell_account(Phase& phase);
  void guard_bound(Phase& phase);

  // control_features.cpp
  void open_collector(const Phase& phase);
  void collect_features(Phase& phase, Window& joint);

  ControllerParts parts_;
  ControllerOptions options_;
  ControlDesk desk_;
  std::optional<AppliedSettings> applied_;

  std::vector<GpuWatch*> opened_;
  std::vector<std::unique_ptr<RankState>> ranks_;
  std::map<std::pair<const ProcessProgress*, std::uint32_t>, double> counted_;  // by phase
  const ProcessProgress* lead_ = nullptr;  // whose phases count
  PhaseBook book_;
  Phase* active_ = nullptr;
  const Phase* decided_for_ = nullptr;            // the last decision in the log
  Phase* visited_ = nullptr;                      // another one, perhaps only for a moment
  std::deque<std::pair<Instant, Instant>> dark_;  // the lead was not watched; the oldest first
  std::deque<std::pair<Instant, std::size_t>> in_force_;  // Settings, since when; the oldest first
  std::vector<RankMeter> meters_;              // of the Step in hand, where it is being measured
  std::optional<FeatureCollector> collector_;  // of the first baseline of a phase
  std::optional<TraceCollector> tracer_;       // where the Steps ask for traces
  bool continued_ = false;                     // nothing has changed since the last Window

  ControlState state_ = ControlState::kWarmUp, before_release_ = ControlState::kWarmUp;
  std::string reason_;
  Instant now_, state_since_;
  bool begun_ = false;
  std::map<ControlState, Seconds> time_in_;
  std::optional<Instant> first_boundary_, last_boundary_;  // of the lead; when it was told
  Seconds told_late_ = kLeastLate;  // how late Boundaries of the lead are reported
  std::optional<Instant> lost_since_, idle_since_;
  std::optional<Instant> try_again_;  // after trouble
  int failures_ = 0;                  // in a row
  int claims_ = 0;
  std::optional<Attention> attention_;  // last asked for
  bool spoiled_ = false;                // circumstances spoil every Window: the default is watched
  std::string why_spoiled_;             // in words, as they were when that began
  std::size_t windows_ = 0, unusable_ = 0, drifts_ = 0;
  bool restored_ = true;
};

}  // namespace hypermile
