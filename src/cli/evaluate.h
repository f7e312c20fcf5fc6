// SPDX-License-Identifier: Apache-2.0
//
// `hypermile evaluate`: replays measured sweeps as GPUs and scores policies against default and
// oracle. The command line fills EvaluateOptions; everything else is here.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sweep/curve.h"
#include "trial/judge/conditions.h"
#include "trial/judge/replay.h"
#include "trial/judge/summary.h"

namespace hypermile {

struct EvaluateOptions {
  std::vector<std::string> sweeps;  // "F.csv" or "F.csv@15MHz"
  std::vector<std::string> policies = {"hypermile"};
  Conditions conditions;
  std::size_t repeats = 1;
  std::vector<Knob> knobs;  // empty: every knob
  // A CSV file with the columns set, gpu, workload and, where needed, phase and variant: only these
  // curves are judged. `set` is the name of the folder that holds the sweep.
  std::optional<std::string> curve_list;
  // A model that policies may start from; it must not have been trained on these sweeps.
  std::optional<std::string> model;
  bool controller = false;  // the whole Controller in virtual time, not the policy alone
  unsigned threads = 0;     // 0: one per core
};

struct Evaluation {
  std::vector<RunResult> runs;
  std::vector<PolicySummary> summary;
  std::size_t curves = 0;
  std::size_t rows_without_time = 0;
  std::size_t rows_without_power = 0;
  CurveQuirks quirks;
};

// kUsage for impossible options, kNotFound and kParse for files, kNotFound where no curve is left.
Result<Evaluation> run_evaluate(const EvaluateOptions& options);

// The document of the contract: {"runs": […], "summary": […]}.
nlohmann::json to_json(const Evaluation& evaluation);

// For people: one line per policy, and what was left out of the sweeps.
std::string to_table(const Evaluation& evaluation);

}  // namespace hypermile
