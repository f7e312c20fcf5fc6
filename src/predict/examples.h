// SPDX-License-Identifier: Apache-2.0
//
// What predictors learn from and are checked on: each Example is one job on one card, with its
// features at the default Setting and what was measured at others, as ratios to the default. Made
// from sweeps by `learn`, `predict --check` and the evidence. Bad rows are left out and told; a
// file that cannot be read at all, or holds nothing to learn from, is an error that names it.
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
  std::string group;  // the workload without its input: never split between training and test
  Features features;
  std::vector<MeasuredRatio> points;
};

// "mixbench_input007" and "mixbench#2" are "mixbench".
std::string workload_group(std::string_view workload);

struct ExampleSource {
  std::string name;  // the sweep's folder and file
  std::string hash;  // of its bytes, 16 hexadecimal digits (FNV-1a)
  std::size_t rows = 0;
  std::size_t jobs = 0;
};

struct ExampleSet {
  std::vector<Example> examples;
  std::vector<ExampleSource> sources;
  std::vector<std::string> problems;  // file, line, what is wrong: one line each
};

// Appends one sweep. kNotFound, kParse for a header that lacks columns, kParse where no job has
// both a default row and another Setting.
Result<void> add_examples(const std::string& path, ExampleSet& set);
Result<ExampleSet> read_examples(const std::vector<std::string>& paths);

}  // namespace hypermile
