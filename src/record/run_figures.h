// SPDX-License-Identifier: Apache-2.0
//
// Every figure that people are shown about a run, from its events alone: what each setting cost,
// what the whole job used and took against the default, and how sure that is. The terminal, the
// live line, `report`, the page, metrics, JSON and Python all read this class, so they agree to
// the last digit, and a log that was cut off gives what the live program had at that moment.
// Constant memory for each phase and setting, however long the run. Nothing in here fails.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/tariff.h"
#include "record/event.h"
#include "record/phase_figures.h"

namespace hypermile {

// On one GPU; further phases are neither counted nor drawn.
inline constexpr std::size_t kMostPhases = 32;

// One phase of the job over all of its GPUs: energies and powers add, time is the job's.
struct JobPhase {
  std::int64_t process = 0;  // the process that the time was measured in
  std::uint32_t phase = 0;
  std::vector<SettingCost> settings;  // measured on every GPU, in the order of first appearance
  std::optional<SettingCost> kept;    // each GPU at the setting that it kept
  std::vector<SettingShare> shares;   // of kept, where the job's time is shared; else empty
  std::vector<Setting> kept_each;     // in the order of the GPUs, where they differ; else empty

  const SettingCost* at(const Setting& setting) const;
};

// The whole job, its search included, against what the default would have taken.
struct JobTotals {
  double seconds = 0;
  std::optional<double> joules;  // of all GPUs
  double iterations = 0;
  // The same job left at the default: everything that is no iteration as it was, and every
  // iteration at the mean cost of the default. Absent where the clocks were not moved or the
  // default was not measured.
  std::optional<double> default_seconds, default_joules;
  std::optional<Estimate> saved_j;        // negative where the job used more
  std::optional<Estimate> lost_s;         // negative where the job was faster
  std::optional<Estimate> energy_change;  // -0.1: 10 % less energy than at the default
  std::optional<Estimate> time_change;    // 0.03: 3 % longer than at the default
  // The default's totals are those of a whole run at the default, as a simulator has them.
  bool against_default_run = false;
};

// What the whole job cost beyond joules, by the tariff that its run was given. Energy is that of
// the GPUs and, where the host's counters were read, of its processors and memory.
struct JobBill {
  double kwh = 0;
  std::optional<double> host_joules;  // part of kwh
  std::optional<double> saved_kwh;    // of the GPUs; negative where the job used more
  Tariff tariff;
  // Of an energy in kWh; nullopt where the tariff does not tell.
  std::optional<double> cost(const std::optional<double>& energy_kwh) const;
  std::optional<double> co2e_g(const std::optional<double>& energy_kwh) const;
};

// Time and energy of a whole run of the same job at the default.
struct DefaultRun {
  double seconds = 0;
  double joules = 0;
  double iterations = 0;  // 0 where it is not known
};

class RunFigures {
 public:
  // Events in their order.
  void add(const Event& event);
  // From now on a job that has ended, after as many iterations, is compared with this run instead
  // of with its own windows at the default.
  void compare_with(const DefaultRun& run) { default_run_ = run; }

  JobTotals job() const;
  // nullopt where no energy is known.
  std::optional<JobBill> bill() const;
  // The phases of the job, the one in which most of the time was spent first.
  std::vector<JobPhase> job_phases() const;

  // By GPU, process and phase, in the order of first appearance.
  const std::vector<PhaseFigures>& phases() const { return phases_; }
  const PhaseFigures* find(const GpuUuid& gpu, std::int64_t process, PatternId pattern) const;
  // The phase in which most of the GPU's time was spent; null where nothing was measured.
  const PhaseFigures* main_phase(const GpuUuid& gpu) const;
  // Since the run began, by the GPU's energy counter.
  std::optional<Joules> energy(const GpuUuid& gpu) const;
  // Micro-batches in one iteration of a phase; 1 where none are known.
  double micro_batches(std::int64_t process, std::uint32_t phase) const;
  // Of an iteration measured last, in seconds.
  const std::optional<double>& last_iteration_s() const { return last_iteration_s_; }

 private:
  struct Card {
    std::optional<Joules> first_energy, last_energy;  // of the counter
    int without_energy = 0;                           // samples in a row
    std::optional<Decision> held;  // the policy's last word, where it was to hold a setting
  };

  void take(const RunStart& event) { tariff_ = tariff_from(event.environment); }
  void take(const SampleEvent& event);
  void take(const WindowEvent& event);
  void take(const ProgressEvent& event);
  void take(const Decision& event);
  void take(const RunEnd& event) { end_ = event.totals; }
  template <class Other>
  void take(const Other&) {}

  PhaseFigures* phase_of(const WindowEvent& event);
  // For each GPU the phases of the process that used it most; the GPU that was used most first.
  std::vector<std::vector<const PhaseFigures*>> by_gpu() const;
  std::optional<double> total(const char* name) const;
  std::optional<double> joules() const;
  bool same_job(const DefaultRun& run) const;

  std::vector<PhaseFigures> phases_;
  std::map<GpuUuid, Card> cards_;
  std::map<std::pair<std::int64_t, std::uint32_t>, double> micro_batches_;  // process, phase
  std::optional<double> last_iteration_s_;
  std::optional<Instant> first_, last_;
  std::optional<std::map<std::string, double>> end_;  // the totals of run_end
  std::optional<DefaultRun> default_run_;
  Tariff tariff_;
};

}  // namespace hypermile
