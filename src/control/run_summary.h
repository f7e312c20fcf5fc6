// SPDX-License-Identifier: Apache-2.0
//
// A watched job at its end: its processes and phases, how many iterations were counted and how, the
// GPUs, and notes. All figures of time and energy are those of RunFigures. Session makes it; the
// terminal's last text and the JSON summary are made from it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/job_end.h"
#include "base/units.h"
#include "measure/gpu_watch.h"
#include "progress/follow/job_progress.h"
#include "progress/work_rate.h"
#include "record/run_figures.h"

namespace hypermile {

struct PhaseReport {
  std::uint32_t phase = 0;
  std::string name;                  // of ticks; "" otherwise
  double iterations = 0;             // optimizer steps where micro-batches are known
  double estimated = 0;              // of them: while the job was not watched, by their time
  double micro_batches = 1;          // in one iteration
  std::vector<std::uint32_t> outer;  // something else happens every so many iterations
  double launches = 0;               // per iteration; 0 for ticks
  Seconds in_force;
  std::optional<Seconds> pace;  // time in force per iteration, pauses included
  // At the driver's default; where it was not measured, at the setting measured first.
  std::optional<SettingCost> cost;
  std::size_t windows = 0;                      // on all GPUs
  std::map<std::string, std::size_t> unusable;  // windows by the reason why they are
};

struct ProcessReport {
  std::int64_t pid = 0;
  std::string name;
  std::string source;  // "launches", "nvtx", "ticks", "none"
  std::vector<std::uint32_t> devices;
  std::uint64_t launches = 0;
  std::uint64_t lost = 0;
  std::uint64_t gpu_times = 0;
  Seconds seen;                             // from the first launch or tick to the last
  double coverage = 0;                      // share of `seen` in which iterations were known
  std::vector<PhaseReport> phases;          // the phase that was longest in force first
  std::optional<RateEstimate> launch_rate;  // where no iterations were found
};

struct GpuReport {
  std::uint32_t device = 0;
  std::string uuid, name;
  std::optional<Joules> energy;
  std::string problem;
};

struct RunSummary {
  std::vector<std::string> command;
  std::string attached;  // "process 42 (python)", where we did not start the job
  JobEnd end;            // how a job that we started ended
  Seconds duration;
  std::vector<GpuReport> gpus;
  std::vector<ProcessReport> processes;  // the main process first
  RunFigures figures;
  std::optional<Joules> host_energy;  // of the host's processors, while the job was watched
  bool clocks_moved = false;          // the controller tells what each setting cost
  std::vector<std::string> notes;     // one line each
};

RunSummary summarize(const JobProgress& progress, const RunFigures& figures,
                     const std::vector<const GpuWatch*>& gpus);

nlohmann::json to_json(const RunSummary& summary);
std::string to_text(const RunSummary& summary);

}  // namespace hypermile
