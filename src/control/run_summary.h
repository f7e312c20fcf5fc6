// SPDX-License-Identifier: Apache-2.0
//
// What a run has shown, for people and as JSON: iterations, time and joules of one with 95 %
// intervals, phases, how much of the time they were known, and what there is to note. Made once, at
// the end, from what Session holds.
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
#include "measure/window_book.h"
#include "progress/follow/job_progress.h"
#include "progress/work_rate.h"

namespace hypermile {

struct Estimate {
  double value = 0;
  std::optional<double> interval95;  // half its width
};

struct PhaseReport {
  std::uint32_t phase = 0;
  std::string name;                  // of ticks; "" otherwise
  double iterations = 0;             // whole ones: optimizer steps where micro-batches are known
  double estimated = 0;              // of them: while the job was not watched, by their time
  double micro_batches = 1;          // in one iteration
  std::vector<std::uint32_t> outer;  // every so many iterations something else happens, as logging
  double launches = 0;               // per iteration; 0 for ticks
  Seconds in_force;
  std::optional<Seconds> pace;         // in_force over iterations: with whatever pauses there were
  std::optional<Estimate> time;        // seconds per iteration
  std::optional<Estimate> energy;      // joules per iteration, of all GPUs of the process
  std::optional<double> disagreement;  // energy counter against integrated power, of the GPUs' mean
  std::optional<double> sm_clock;      // MHz, mean
  std::optional<double> power;         // watts, all GPUs
  int windows = 0;
  int windows_that_count = 0;
  int gpu_timed = 0;
  std::map<std::string, int> unusable;
};

struct ProcessReport {
  std::int64_t pid = 0;
  std::string name;
  std::string source;  // "launches", "nvtx", "ticks", "none"
  std::vector<std::uint32_t> devices;
  std::uint64_t launches = 0;
  std::uint64_t lost = 0;
  std::uint64_t gpu_times = 0;
  Seconds seen;                             // from its first launch or tick to its last
  double coverage = 0;                      // share of that in which iterations were known
  std::vector<PhaseReport> phases;          // the one longest in force first
  std::optional<RateEstimate> launch_rate;  // where no iteration was found
};

struct GpuReport {
  std::uint32_t device = 0;
  std::string uuid, name;
  std::optional<Joules> energy;
  std::string problem;
};

struct RunSummary {
  std::vector<std::string> command;
  std::string attached;  // what was watched, where the job is not ours: "process 42 (python)"
  JobEnd end;            // of a job of ours
  Seconds duration;
  std::vector<GpuReport> gpus;
  std::vector<ProcessReport> processes;  // the main one first
  bool clocks_moved = false;       // a Controller was at work: means are over all of its Settings
  std::vector<std::string> notes;  // one line each
};

RunSummary summarize(const JobProgress& progress, const WindowBook& book,
                     const std::vector<const GpuWatch*>& gpus);

nlohmann::json to_json(const RunSummary& summary);
std::string to_text(const RunSummary& summary);

}  // namespace hypermile
