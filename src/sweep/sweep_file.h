// SPDX-License-Identifier: Apache-2.0
//
// Reads a measured sweep: a CSV file in which each row is one GPU under one job at one Setting,
// with time and power per iteration (columns in docs/reference/sweep-file.md). This file turns text
// into rows and counts unusable ones; curve.h makes one curve per GPU and job.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "gpu/setting.h"

namespace hypermile {

// Identifies a GPU and its job: rows with an equal key form one curve.
struct JobKey {
  std::string gpu;
  std::string workload;
  std::string phase;
  // "batch_size=32 optimizer=adam": the other identity columns that are not empty.
  std::string variant;

  auto operator<=>(const JobKey&) const = default;
};

// "gpu/workload/phase [variant]".
std::string to_string(const JobKey& key);

struct SweepRow {
  JobKey key;
  Setting setting;             // as locked; a knob that the row leaves empty is absent
  std::optional<Mhz> sm_seen;  // clock read during the measurement
  Seconds time;  // per iteration, epoch or run: only ratios within a curve are meaningful
  Watts power;
  bool is_default = false;
  std::size_t line = 0;
  // Cells of the columns SweepReading::numbers, in that order; nullopt where absent, empty or not a
  // number.
  std::vector<std::optional<double>> numbers = {};
};

struct SweepReading {
  // True: a broken row is left out and listed in SweepFile::problems. False: it is an error.
  bool tolerant = false;
  // Additional numeric columns to read, where the file has them.
  std::vector<std::string> numbers = {};
};

struct SweepFile {
  std::string path;
  std::vector<SweepRow> rows;
  // Rows that could not be used, by reason; every dropped row is counted.
  std::size_t rows_without_time = 0;
  std::size_t rows_without_power = 0;
  // With SweepReading::tolerant: file, line and what was expected.
  std::vector<std::string> problems = {};
};

// kNotFound if the file cannot be opened; kParse with file and line for a missing column or a cell
// that is not a number (time and power must be above zero).
Result<SweepFile> read_sweep(const std::string& path, const SweepReading& reading = {});
Result<SweepFile> read_sweep(std::istream& in, const std::string& name,
                             const SweepReading& reading = {});

}  // namespace hypermile
