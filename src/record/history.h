// SPDX-License-Identifier: Apache-2.0
//
// Runs that are remembered, one JSON object a line in a file of the user: what ran, on which GPUs,
// what it used, saved and lost, and the setting kept. run/job_report.h appends; `hypermile history`
// and `hypermile compare` read. Figures are those of the run (figures_json.h), never made again.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/run_digest.h"

namespace hypermile {

struct RememberedRun {
  std::string run;       // RunId
  double unix_time = 0;  // when it began
  std::string host;
  std::string command;            // the job's words, or what was watched
  std::string job;                // fingerprint: the same command in the same folder
  std::vector<std::string> gpus;  // names
  std::string policy;             // "" where the run only observed
  std::string kept;               // "default", "sm=1410MHz", a mix
  std::string log;                // event log; "" where none was kept
  bool simulated = false;
  std::optional<int> exit_code;                       // absent where the log was cut off
  nlohmann::json figures = nlohmann::json::object();  // as job_json() has them

  std::optional<double> figure(const char* name) const;
};

// What is known of a run. `folder` is where the job was started, for its fingerprint; `log` where
// the events are.
struct EndedRun {
  const RunStart& start;
  const std::optional<RunEnd>& end;
  const RunFigures& figures;
  std::vector<GpuIdentity> gpus = {};
  std::string folder = {};
  std::string log = {};
};
RememberedRun remembered(const EndedRun& run);
// The same of a run in a log.
RememberedRun remembered(const RunDigest& run, const std::string& folder, const std::string& log);

// $XDG_STATE_HOME/hypermile/history.jsonl, else below ~/.local/state; nullopt without a home.
std::optional<std::string> default_history_path();

// Appends one line, readable by its owner alone. kIo where that fails.
Result<void> remember(const std::string& path, const RememberedRun& run);

// The oldest first; a file that is not there is an empty history. Lines that cannot be read are
// counted and passed over.
struct History {
  std::vector<RememberedRun> runs;
  std::size_t unreadable = 0;
};
Result<History> read_history(const std::string& path);

nlohmann::json to_json(const RememberedRun& run);

}  // namespace hypermile
