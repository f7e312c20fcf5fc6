// SPDX-License-Identifier: Apache-2.0
#include "trial/sweeping/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "measure/features.h"

namespace hypermile {
namespace {

// The default's time and power at one place in the sweep.
struct LocalDefault {
  double time = 0;
  double power = 0;
  double time_variance = 0;  // of the relative error
  double power_variance = 0;
};

double square(const std::optional<double>& error) {
  return error ? *error * *error : 0;
}

LocalDefault local(const SweepEntry& entry) {
  return {*entry.time_s, *entry.power_w, square(entry.time_error), square(entry.power_error)};
}

// Interpolates from `a` to `b` by `share`.
LocalDefault between(const LocalDefault& a, const LocalDefault& b, double share) {
  const double rest = 1 - share;
  const auto mix = [&](double x, double y) { return rest * x + share * y; };
  const auto spread = [&](double x, double y) { return rest * rest * x + share * share * y; };
  return {mix(a.time, b.time), mix(a.power, b.power), spread(a.time_variance, b.time_variance),
          spread(a.power_variance, b.power_variance)};
}

class Defaults {
 public:
  explicit Defaults(std::span<const SweepEntry> entries) {
    for (const SweepEntry& entry : entries) {
      if (entry.setting.empty() && entry.measured()) all_.push_back(&entry);
    }
  }
  bool empty() const { return all_.empty(); }
  const std::vector<const SweepEntry*>& all() const { return all_; }

  // The default around this entry. Another run of the job counts only where this run has no
  // default.
  LocalDefault at(const SweepEntry& entry) const {
    const SweepEntry* before = nullptr;
    const SweepEntry* after = nullptr;
    for (const bool same_run : {true, false}) {
      for (const SweepEntry* each : all_) {
        if (same_run && each->run != entry.run) continue;
        if (each->step <= entry.step) before = each;
        if (each->step > entry.step && after == nullptr) after = each;
      }
      if (before != nullptr || after != nullptr) break;
    }
    if (before == nullptr && after == nullptr) return {};  // no default at all: empty() is true
    if (before == nullptr) return local(*after);
    if (after == nullptr) return local(*before);
    const auto span = static_cast<double>(after->step - before->step);
    return between(local(*before), local(*after),
                   static_cast<double>(entry.step - before->step) / span);
  }

  // The mean of all defaults with equal weights, and the error of the mean.
  LocalDefault mean() const {
    LocalDefault sum;
    const auto count = static_cast<double>(all_.size());
    for (const SweepEntry* entry : all_) {
      const LocalDefault one = local(*entry);
      sum.time += one.time / count;
      sum.power += one.power / count;
      sum.time_variance += one.time_variance / (count * count);
      sum.power_variance += one.power_variance / (count * count);
    }
    return sum;
  }

 private:
  std::vector<const SweepEntry*> all_;
};

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.9g}", *value) : "";
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

// The cells of one row, without those that describe the job.
struct Row {
  Setting setting;
  std::optional<double> sm_seen, mem_mhz, time_s, power_w, time_error, power_error;
  double iterations = 0;
  bool is_default = false;
  std::optional<double> default_time_s, default_power_w;  // around this window, with drift
  std::string refused;
  const std::map<std::string, double>* features = nullptr;
};

std::string header_line() {
  std::string line =
      "gpu,workload,phase_or_kernel,sm_mhz_locked,sm_mhz,mem_mhz,power_limit_w,time_s,power_w,"
      "energy_j,is_default,time_error,power_error,iterations,default_time_s,default_power_w,"
      "refused";
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    line += fmt::format(",{}", name_of(static_cast<Feature>(i)));
  }
  return line + "\n";
}

std::string text_of(const SweepHeader& header, const Row& row) {
  std::optional<double> energy;
  if (row.time_s && row.power_w) energy = *row.time_s * *row.power_w;
  std::string line = fmt::format(
      "{},{},,{},{},{},{},{},{},{},{:d},{},{},{},{},{},{}", quoted(header.gpu),
      quoted(header.workload), number(row.setting.value(Knob::kSmClock)), number(row.sm_seen),
      number(row.mem_mhz), number(row.setting.value(Knob::kPowerLimit)), number(row.time_s),
      number(row.power_w), number(energy), row.is_default, number(row.time_error),
      number(row.power_error), number(row.iterations), number(row.default_time_s),
      number(row.default_power_w), quoted(row.refused));
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    line += ',';
    if (row.features == nullptr) continue;
    const auto found = row.features->find(std::string(name_of(static_cast<Feature>(i))));
    if (found != row.features->end()) line += number(found->second);
  }
  return line + "\n";
}

Row default_row(const Defaults& defaults) {
  const LocalDefault mean = defaults.mean();
  Row row;
  row.is_default = true;
  row.time_s = row.default_time_s = mean.time;
  row.power_w = row.default_power_w = mean.power;
  row.time_error = std::sqrt(mean.time_variance);
  row.power_error = std::sqrt(mean.power_variance);
  double sm = 0;
  double counted = 0;
  for (const SweepEntry* entry : defaults.all()) {
    row.iterations += entry->iterations;
    if (entry->mem_mhz) row.mem_mhz = entry->mem_mhz;
    if (!entry->features.empty() && row.features == nullptr) row.features = &entry->features;
    if (!entry->sm_mhz) continue;
    sm += *entry->sm_mhz;
    ++counted;
  }
  if (counted > 0) row.sm_seen = sm / counted;
  return row;
}

Row setting_row(const SweepEntry& entry, const Defaults& defaults, const LocalDefault& mean) {
  Row row;
  row.setting = entry.setting;
  row.sm_seen = entry.sm_mhz;
  row.mem_mhz = entry.setting.value(Knob::kMemoryClock);
  row.iterations = entry.iterations;
  row.refused = entry.refused;
  if (!entry.measured()) return row;
  const LocalDefault around = defaults.at(entry);
  row.default_time_s = around.time;
  row.default_power_w = around.power;
  row.time_s = *entry.time_s * mean.time / around.time;
  row.power_w = *entry.power_w * mean.power / around.power;
  row.time_error = std::sqrt(square(entry.time_error) + around.time_variance);
  row.power_error = std::sqrt(square(entry.power_error) + around.power_variance);
  return row;
}

// Descending by memory clock, SM clock and limit, with those left to the driver first.
bool above(const Row& a, const Row& b) {
  for (const Knob knob : {Knob::kMemoryClock, Knob::kSmClock, Knob::kPowerLimit}) {
    const double x = a.setting.value(knob).value_or(INFINITY);
    const double y = b.setting.value(knob).value_or(INFINITY);
    if (x != y) return x > y;
  }
  return false;
}

}  // namespace

std::string sweep_csv(const SweepHeader& header, std::span<const SweepEntry> entries) {
  const Defaults defaults(entries);
  if (defaults.empty()) return "";
  const LocalDefault mean = defaults.mean();
  std::vector<Row> rows;
  for (const SweepEntry& entry : entries) {
    if (!entry.setting.empty()) rows.push_back(setting_row(entry, defaults, mean));
  }
  if (std::ranges::none_of(rows, [](const Row& row) { return row.time_s.has_value(); })) return "";
  std::ranges::stable_sort(rows, above);
  std::string text = header_line() + text_of(header, default_row(defaults));
  for (const Row& row : rows) text += text_of(header, row);
  return text;
}

}  // namespace hypermile
