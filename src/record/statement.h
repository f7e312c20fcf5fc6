// SPDX-License-Identifier: Apache-2.0
//
// What training a model has used, over any number of event logs: for a model card, a reader of
// benchmarks or an auditor. Restarts and nodes add up; a GPU that several logs tell of at the same
// time, as the ranks of one machine do, counts once. `hypermile statement` makes one.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/tariff.h"
#include "record/log_tail.h"

namespace hypermile {

// An energy over an interval of unix time, of one GPU or of one host's processors.
struct MeteredInterval {
  double begin = 0, end = 0;  // unix seconds
  double joules = 0;
  bool estimated = false;  // not from a counter
};

struct MeteredEnergy {
  double joules = 0;
  double estimated_j = 0;  // part of joules that was not read from a counter
  double seconds = 0;      // covered by the intervals, each moment once
  std::size_t twice = 0;   // intervals that others cover in part or whole
};

// Each moment counts once: an interval that overlaps earlier ones counts by the share of its time
// that is new, and that share is an estimate.
MeteredEnergy sum_once(std::vector<MeteredInterval> intervals);

struct EnergyStatement {
  struct Hardware {
    std::string name, driver;
    std::size_t gpus = 0;
    auto operator<=>(const Hardware&) const = default;
  };

  std::vector<std::string> logs;
  std::vector<Hardware> hardware;
  std::set<std::string> hosts;
  std::set<std::string> jobs;  // commands
  std::size_t runs = 0;
  std::size_t copies = 0;     // runs that were given twice
  std::size_t cut_off = 0;    // runs whose log ends before they did
  std::size_t simulated = 0;  // runs on GPUs that are not silicon
  std::size_t left_out = 0;   // older runs that a log holds and that were not read
  std::uint64_t unreadable_lines = 0;
  double first_unix = 0, last_unix = 0;
  double gpu_seconds = 0;
  MeteredEnergy gpus;  // of all boards
  MeteredEnergy host;  // of processors and memory, where their counters were read
  std::size_t hosts_metered = 0;
  double iterations = 0;
  std::optional<Estimate> saved_j;
  // Largest mean difference between energy counter and integrated power of any setting measured.
  std::optional<double> disagreement;
  Tariff tariff;

  double kwh() const { return (gpus.joules + host.joules) / kJoulesPerKwh; }
};

// `tariff` holds what the command line gave; the rest comes from the newest run that has it.
EnergyStatement make_statement(const std::vector<LogTail>& logs, const Tariff& tariff);

std::string to_markdown(const EnergyStatement& statement);
nlohmann::json to_json(const EnergyStatement& statement);

}  // namespace hypermile
