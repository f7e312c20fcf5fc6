// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/nvml_trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/csv.h"
#include "base/parse.h"

namespace hypermile {
namespace {

using Row = std::vector<std::string>;

// nullopt for an empty cell or "nan", which occur in recordings.
Result<std::optional<double>> number_in(const CsvReader& csv, const std::string& cell,
                                        std::string_view column) {
  if (cell.empty() || cell == "nan" || cell == "NaN" || cell == "-nan") {
    return std::optional<double>();
  }
  const Result<double> value = parse_number(cell);
  if (!value || !std::isfinite(*value)) {
    return csv.error(fmt::format("{} is '{}', which is no number", column, cell));
  }
  return std::optional(*value);
}

// One column of numbers and the series that it fills.
struct Column {
  std::string_view name;
  double scale = 1;
  std::vector<TimedValue>* series = nullptr;
  std::optional<std::size_t> index = {};
};

class TraceReader {
 public:
  explicit TraceReader(CsvReader& csv) : csv_(csv) {}

  Result<NvmlTrace> read() {
    const auto time = csv_.column("t_s");
    if (!time) return headless();
    time_ = *time;
    const auto kind = csv_.column("kind");
    const auto value = csv_.column("value");
    if (kind && value) {
      RETURN_IF_ERROR(each_row(
          [&](const Row& row, double t) { return take_sample(row[*kind], row[*value], t); }));
    } else {
      RETURN_IF_ERROR(read_polls());
    }
    // The buffers were drained one after the other, so rows may go back in time.
    for (auto* series : {&trace_.power_w, &trace_.energy_j, &trace_.gpu_percent,
                         &trace_.memory_percent, &trace_.history_w}) {
      std::ranges::stable_sort(*series, {}, &TimedValue::time_s);
    }
    if (trace_.power_w.empty() && trace_.history_w.empty()) {
      Error error = csv_.error("there is no row with a power");
      error.remedy = "record at least a few seconds";
      return error;
    }
    return std::move(trace_);
  }

 private:
  Error headless() const {
    Error error =
        csv_.error("expected the columns t_s and power_instant_mw, or kind, t_s and value");
    error.remedy = "give a recording of NVML's sensors, with a header line";
    return error;
  }

  template <class Take>
  Result<void> each_row(const Take& take) {
    for (;;) {
      ASSIGN_OR_RETURN(const std::optional<Row> row, csv_.next());
      if (!row) return {};
      ASSIGN_OR_RETURN(const std::optional<double> t, number_in(csv_, (*row)[time_], "t_s"));
      if (!t) return csv_.error("t_s is missing");
      RETURN_IF_ERROR(take(*row, *t));
    }
  }

  Result<void> read_polls() {
    const bool instant = csv_.column("power_instant_mw").has_value();
    std::vector<Column> columns = {
        {instant ? "power_instant_mw" : "power_usage_mw", 1e-3, &trace_.power_w},
        {"energy_mj", 1e-3, &trace_.energy_j},
        {"util_gpu", 1, &trace_.gpu_percent},
        {"util_mem", 1, &trace_.memory_percent}};
    for (Column& column : columns) column.index = csv_.column(column.name);
    if (!columns.front().index) return headless();
    return each_row([&](const Row& row, double t) -> Result<void> {
      for (const Column& column : columns) {
        if (!column.index) continue;
        ASSIGN_OR_RETURN(const auto value, number_in(csv_, row[*column.index], column.name));
        if (value) column.series->push_back({t, *value * column.scale});
      }
      return {};
    });
  }

  Result<void> take_sample(const std::string& kind, const std::string& cell, double t) {
    ASSIGN_OR_RETURN(const auto value, number_in(csv_, cell, "value"));
    if (!value) return {};
    if (kind == "power_mw") trace_.history_w.push_back({t, *value * 1e-3});
    if (kind == "util_gpu") trace_.gpu_percent.push_back({t, *value});
    if (kind == "util_mem") trace_.memory_percent.push_back({t, *value});
    return {};
  }

  CsvReader& csv_;
  std::size_t time_ = 0;
  NvmlTrace trace_;
};

}  // namespace

Result<NvmlTrace> read_nvml_trace(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return Error{ErrorCode::kNotFound, fmt::format("{}: cannot be read", path),
                 "give the path of a recording"};
  }
  ASSIGN_OR_RETURN(CsvReader csv, CsvReader::open(file, path));
  return TraceReader(csv).read();
}

}  // namespace hypermile
