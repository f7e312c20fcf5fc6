// SPDX-License-Identifier: Apache-2.0
//
// `hypermile evaluate`: replays measured sweeps as GPUs and scores policies against default and
// oracle. evaluate_command.cpp fills EvaluateOptions from the command line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sweep/curve.h"
#include "trial/judge/conditions.h"
#include "trial/judge/replay.h"
#include "trial/judge/summary.h"
#include "trial/judge/tournament.h"

namespace hypermile {

struct EvaluateOptions {
  std::vector<std::string> sweeps;  // "F.csv" or "F.csv@15MHz"
  std::vector<std::string> policies = {"hypermile"};
  Conditions conditions;
  std::size_t repeats = 1;
  std::vector<Knob> knobs;  // empty: every knob
  // A CSV file with the columns set, gpu, workload and, where needed, phase and variant. Only the
  // curves in it are judged. `set` is the name of the folder that holds the sweep.
  std::optional<std::string> curve_list;
  // A file with a model that policies start from. The model must not be trained on these sweeps.
  std::optional<std::string> model;
  bool controller = false;  // plays the whole Controller in virtual time, not the policy alone
  // Plays each run in the place of all these, with `policies` as names of what it plays.
  ReplayJob play = {};
  unsigned threads = 0;  // 0: one per core
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

// {"runs": […], "summary": […], …}; other people's scripts read it.
nlohmann::json to_json(const Evaluation& evaluation);

// For people: one line for each policy, and how much of the sweeps was left out.
std::string to_table(const Evaluation& evaluation);

}  // namespace hypermile
