// SPDX-License-Identifier: Apache-2.0
//
// The data that predictors learn from and are checked on. Each Example is one job on one card: its
// features at the default setting, and the measurements at other settings as ratios to the default.
// `learn`, `predict --check` and predict_evidence read them from sweeps. Bad rows are left out and
// listed in `problems`; a file that cannot be read, or has nothing to learn from, is an error that
// names the file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "predict/predictor.h"
#include "sweep/sweep_file.h"

namespace hypermile {

struct MeasuredRatio {
  RelativeSetting at;
  double time = 1;
  double energy = 1;
};

struct Example {
  std::string set;  // the sweep's folder and file
  JobKey key;
  std::string group;  // the workload without its input; a group is never split by training
  Features features;
  std::vector<MeasuredRatio> points;
};

// Whether any of its rows has no power limit.
bool has_clocks(const Example& example);

// "mixbench_input007" and "mixbench#2" both give "mixbench".
std::string workload_group(std::string_view workload);

struct ExampleSource {
  std::string name;  // the sweep's folder and file
  std::string hash;  // FNV-1a of the file's bytes, 16 hexadecimal digits
  std::size_t rows = 0;
  std::size_t jobs = 0;
};

struct ExampleSet {
  std::vector<Example> examples;
  std::vector<ExampleSource> sources;
  std::vector<std::string> problems;  // one line each: file, line and what is wrong
};

// Appends one sweep. Returns kNotFound for a missing file, and kParse where the header lacks
// columns or no job has both a default row and a row at another setting.
Result<void> add_examples(const std::string& path, ExampleSet& set);
Result<ExampleSet> read_examples(const std::vector<std::string>& paths);

}  // namespace hypermile
