// SPDX-License-Identifier: Apache-2.0
#include "sweep/sweep_file.h"

#include <fmt/format.h>

#include <fstream>

#include "base/csv.h"
#include "base/parse.h"

namespace hypermile {
namespace {

constexpr std::string_view kVariantColumns[] = {"batch_size", "optimizer", "n_gpus", "suite"};

// Position of each column in this file; optional ones may be absent.
struct Columns {
  std::size_t gpu, workload, time, power, is_default;
  std::optional<std::size_t> phase, sm, sm_locked, memory, limit;
  std::vector<std::pair<std::string_view, std::size_t>> variants;
};

Result<Columns> find_columns(const CsvReader& reader) {
  std::string missing;
  const auto required = [&](std::string_view name) {
    const auto at = reader.column(name);
    if (!at) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
    return at.value_or(0);
  };
  Columns columns{required("gpu"),
                  required("workload"),
                  required("time_s"),
                  required("power_w"),
                  required("is_default"),
                  reader.column("phase_or_kernel"),
                  reader.column("sm_mhz"),
                  reader.column("sm_mhz_locked"),
                  reader.column("mem_mhz"),
                  reader.column("power_limit_w"),
                  {}};
  if (!missing.empty()) {
    Error error = reader.error("the header lacks the column(s) " + missing);
    error.remedy = "a sweep has one row per GPU, job and setting; see docs/reference/sweep-file.md";
    return error;
  }
  for (const std::string_view name : kVariantColumns) {
    if (const auto at = reader.column(name)) columns.variants.emplace_back(name, *at);
  }
  return columns;
}

class RowReader {
 public:
  RowReader(const CsvReader& reader, const Columns& columns, const std::vector<std::string>& cells)
      : reader_(reader), columns_(columns), cells_(cells) {}

  JobKey key() const {
    JobKey key{cells_[columns_.gpu], cells_[columns_.workload],
               columns_.phase ? cells_[*columns_.phase] : "", ""};
    for (const auto& [name, at] : columns_.variants) {
      if (cells_[at].empty()) continue;
      key.variant += fmt::format("{}{}={}", key.variant.empty() ? "" : " ", name, cells_[at]);
    }
    return key;
  }

  // A larger clock or limit is a typing error, and would make an endless grid.
  static constexpr double kLargestKnob = 1e5;

  Result<std::optional<double>> knob(std::optional<std::size_t> at) const {
    ASSIGN_OR_RETURN(const auto value, positive(at, true));
    if (value && *value > kLargestKnob) {
      return reader_.error(fmt::format("{}: expected at most {:g}, found '{}'",
                                       reader_.header()[*at], kLargestKnob, cells_[*at]));
    }
    return value;
  }

  // A number above zero; nullopt where the column is absent or the cell empty. Some sets write -1
  // for "not locked".
  Result<std::optional<double>> positive(std::optional<std::size_t> at,
                                         bool minus_one_is_unset) const {
    if (!at || cells_[*at].empty()) return std::optional<double>();
    const Result<double> value = parse_number(cells_[*at]);
    if (value && minus_one_is_unset && *value == -1) return std::optional<double>();
    if (!value || *value <= 0) {
      return reader_.error(fmt::format("{}: expected a number above zero, found '{}'",
                                       reader_.header()[*at], cells_[*at]));
    }
    return std::optional(*value);
  }

  Result<SweepRow> row() const {
    SweepRow row;
    row.key = key();
    ASSIGN_OR_RETURN(const auto seen, knob(columns_.sm));
    ASSIGN_OR_RETURN(const auto locked, knob(columns_.sm_locked));
    ASSIGN_OR_RETURN(const auto memory, knob(columns_.memory));
    ASSIGN_OR_RETURN(const auto limit, knob(columns_.limit));
    if (seen) row.sm_seen = Mhz(*seen);
    const auto& sm = columns_.sm_locked ? locked : seen;
    if (sm) row.setting.sm_clock = Mhz(*sm);
    if (memory) row.setting.memory_clock = Mhz(*memory);
    if (limit) row.setting.power_limit = Watts(*limit);
    const std::string& flag = cells_[columns_.is_default];
    if (flag != "0" && flag != "1" && !flag.empty()) {
      return reader_.error(fmt::format("is_default: expected 0 or 1, found '{}'", flag));
    }
    row.is_default = flag == "1";
    row.line = reader_.line();
    return row;
  }

  // A row with time and power; nullopt, and counted, where either is empty.
  Result<std::optional<SweepRow>> measured_row(SweepFile& file) const {
    ASSIGN_OR_RETURN(SweepRow measured, row());
    ASSIGN_OR_RETURN(const auto time, positive(columns_.time, false));
    ASSIGN_OR_RETURN(const auto power, positive(columns_.power, false));
    if (!time || !power) {
      ++(time ? file.rows_without_power : file.rows_without_time);
      return std::optional<SweepRow>();
    }
    measured.time = Seconds(*time);
    measured.power = Watts(*power);
    return std::optional(std::move(measured));
  }

  // A cell that is not a number is reported and left out; the row stays usable.
  std::optional<double> number(std::optional<std::size_t> at,
                               std::vector<std::string>& problems) const {
    if (!at || cells_[*at].empty()) return std::nullopt;
    const Result<double> value = parse_number(cells_[*at]);
    if (value) return *value;
    problems.push_back(reader_
                           .error(fmt::format("{}: expected a number, found '{}'; the row is used "
                                              "without it",
                                              reader_.header()[*at], cells_[*at]))
                           .line());
    return std::nullopt;
  }

 private:
  const CsvReader& reader_;
  const Columns& columns_;
  const std::vector<std::string>& cells_;
};

}  // namespace

std::string to_string(const JobKey& key) {
  std::string out = key.gpu + "/" + key.workload;
  if (!key.phase.empty()) out += "/" + key.phase;
  if (!key.variant.empty()) out += " [" + key.variant + "]";
  return out;
}

Result<SweepFile> read_sweep(std::istream& in, const std::string& name,
                             const SweepReading& reading) {
  ASSIGN_OR_RETURN(CsvReader reader, CsvReader::open(in, name));
  ASSIGN_OR_RETURN(const Columns columns, find_columns(reader));
  std::vector<std::optional<std::size_t>> wanted;
  for (const std::string& column : reading.numbers) wanted.push_back(reader.column(column));
  SweepFile file;
  file.path = name;
  while (true) {
    const auto cells = reader.next();
    if (!cells && !reading.tolerant) return cells.error();
    if (!cells) {
      file.problems.push_back(cells.error().line() + "; the row is left out");
      continue;
    }
    if (!*cells) return file;
    const RowReader from(reader, columns, **cells);
    Result<std::optional<SweepRow>> row = from.measured_row(file);
    if (!row && !reading.tolerant) return row.error();
    if (!row) file.problems.push_back(row.error().line() + "; the row is left out");
    if (!row || !*row) continue;
    for (const auto& at : wanted) (*row)->numbers.push_back(from.number(at, file.problems));
    file.rows.push_back(std::move(**row));
  }
}

Result<SweepFile> read_sweep(const std::string& path, const SweepReading& reading) {
  std::ifstream in(path);
  if (!in) {
    return Error{ErrorCode::kNotFound, path + ": cannot be read", "check the path of the sweep"};
  }
  return read_sweep(in, path, reading);
}

}  // namespace hypermile
