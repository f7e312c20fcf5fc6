// SPDX-License-Identifier: Apache-2.0
//
// Reads a measured sweep: a CSV file in which each row is one GPU under one job at one Setting,
// with time and power per iteration (columns in docs/reference/sweep-file.md). This file turns text
// into rows and counts what it cannot use; curve.h turns rows into one curve per GPU and job.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "gpu/setting.h"

namespace hypermile {

// Which GPU under which job: rows that agree in all of this belong to one curve.
struct JobKey {
  std::string gpu;
  std::string workload;
  std::string phase;
  std::string
      variant;  // "batch_size=32 optimizer=adam": the further identity columns, where filled

  auto operator<=>(const JobKey&) const = default;
};

// "gpu/workload/phase [variant]".
std::string to_string(const JobKey& key);

struct SweepRow {
  JobKey key;
  Setting setting;             // as locked; a knob that the row leaves empty is absent
  std::optional<Mhz> sm_seen;  // the clock read during the measurement
  Seconds time;  // per iteration, epoch or run: only ratios inside a curve mean anything
  Watts power;
  bool is_default = false;
  std::size_t line = 0;
  // The cells of SweepReading::numbers, in that order; nullopt where absent, empty or no number.
  std::vector<std::optional<double>> numbers = {};
};

struct SweepReading {
  // A row that is broken is left out and told in SweepFile::problems; else it is an error.
  bool tolerant = false;
  // Further columns whose numbers are wanted; a file need not have them.
  std::vector<std::string> numbers = {};
};

struct SweepFile {
  std::string path;
  std::vector<SweepRow> rows;
  // Rows that could not be used, by reason; nothing is dropped without being counted.
  std::size_t rows_without_time = 0;
  std::size_t rows_without_power = 0;
  std::vector<std::string> problems = {};  // of a tolerant reading: file, line, what was expected
};

// kNotFound if it cannot be opened; kParse with file and line for a missing column or a cell that
// is not a number (time and power must be above zero).
Result<SweepFile> read_sweep(const std::string& path, const SweepReading& reading = {});
Result<SweepFile> read_sweep(std::istream& in, const std::string& name,
                             const SweepReading& reading = {});

}  // namespace hypermile
