// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "evidence/progress/detector_trial.h"
#include "evidence/progress/tables.h"
#include "progress/period.h"
#include "progress/recording_summary.h"

namespace hypermile {
namespace {

struct Summary {
  std::vector<double> after;  // seconds
  double worst_ratio = 0;     // count error at the instant of lock
  double worst_count = 0;
  unsigned wrong = 0, never = 0, breaks = 0, levels_right = 0;
  double latest_level = 0;  // outer iterations
};

Summary summarise(const std::vector<DetectorTrial>& trials) {
  Summary sum;
  for (const DetectorTrial& trial : trials) {
    sum.never += trial.lock_after ? 0 : 1;
    if (trial.lock_after) sum.after.push_back(trial.lock_after->value());
    sum.wrong += trial.wrong ? 1 : 0;
    sum.breaks += trial.breaks;
    sum.levels_right += trial.level_right ? 1 : 0;
    sum.worst_ratio = std::max(sum.worst_ratio, std::abs(trial.ratio_at_lock - 1));
    sum.worst_count = std::max(sum.worst_count, std::abs(trial.worst_count));
    sum.latest_level = std::max(sum.latest_level, trial.level_after.value_or(0));
  }
  return sum;
}

std::vector<Boundary> gpu_boundaries(const LabelledStream& stream) {
  std::vector<Boundary> boundaries;
  for (const Instant begin : stream.gpu_begins) {
    Boundary boundary;
    boundary.time = begin;
    boundary.gpu_time = begin - Instant();
    boundary.iterations = stream.inner;
    boundaries.push_back(boundary);
  }
  return boundaries;
}

std::span<const Boundary> between(const std::vector<Boundary>& all, Instant from, Instant to) {
  const auto first = std::ranges::lower_bound(all, from, {}, &Boundary::time);
  const auto last = std::ranges::lower_bound(all, to, {}, &Boundary::time);
  return {first, last};
}

// Errors of host-side periods over windows of one length, one window every 0.1 s.
std::string window_cell(const std::vector<Boundary>& host, const std::vector<Boundary>& gpu,
                        Seconds window) {
  std::vector<double> errors;
  std::size_t refused = 0;
  for (Instant from = host.front().time; from + window <= host.back().time;
       from = from + milliseconds(100)) {
    const auto truth = estimate_period(between(gpu, from, from + window));
    if (!truth) continue;
    const auto period = estimate_period(between(host, from, from + window));
    if (!period) {
      ++refused;
    } else {
      errors.push_back(period->per_iteration / truth->per_iteration - 1);
    }
  }
  const double windows = static_cast<double>(refused + errors.size());
  if (windows == 0) return "-";
  const double share = 100 * static_cast<double>(refused) / windows;
  if (errors.empty()) return fmt::format("all {:.0f} refused", windows);
  double sum = 0;
  double squares = 0;
  for (const double error : errors) {
    sum += error;
    squares += error * error;
  }
  const double mean = sum / static_cast<double>(errors.size());
  const double sd =
      std::sqrt(std::max(0.0, squares / static_cast<double>(errors.size()) - mean * mean));
  return fmt::format("{:+.2f} ± {:.2f} ({:.0f} %)", 100 * mean, 100 * sd, share);
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
}

std::string lock_table(const std::vector<LabelledStream>& recordings, std::size_t starts) {
  std::string text =
      "| recording | T ms | launches | lock p50 / p90 / max s | iterations at p90 | bar s | off at "
      "lock "
      "| count off | wrong | never | false breaks | outer level |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n";
  for (const LabelledStream& stream : recordings) {
    Random random(derive_seed(1, stream.name.c_str()));
    const Summary sum = summarise(try_starts(stream, starts, random));
    const double period = stream.mean_period().value();
    const double p90 = quantile(sum.after, 0.9);
    std::string level = sum.levels_right == starts ? "none, none told" : "**told, none is**";
    if (stream.inner > 1) {
      level = fmt::format("m = {} in {} of {}, after {:.1f} at most", stream.inner,
                          sum.levels_right, starts, sum.latest_level);
    }
    text += fmt::format(
        "| {} | {:.2f} | {:.1f} | {:.2f} / {:.2f} / {:.2f} | {:.1f} | {:.2f} | {:.1f} % | {:.1f} | "
        "{} | "
        "{} | {} | {} |\n",
        stream.name, 1e3 * period, stream.launches_per_iteration(), quantile(sum.after, 0.5), p90,
        quantile(sum.after, 1), p90 / period, std::max(0.65, 10 * period), 100 * sum.worst_ratio,
        sum.worst_count, sum.wrong, sum.never, sum.breaks, level);
  }
  return text;
}

std::string period_table(const std::vector<LabelledStream>& recordings) {
  std::string text =
      "| recording | whole recording | 0.5 s | 1 s | 2 s | 4 s |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: |\n";
  for (const LabelledStream& stream : recordings) {
    const std::vector<Boundary> host = trace(stream, 0).boundaries;
    const std::vector<Boundary> gpu = gpu_boundaries(stream);
    const auto whole = estimate_period(host);
    const auto truth = estimate_period(gpu);
    text += fmt::format(
        "| {} | {} |", stream.name,
        whole && truth
            ? fmt::format("{:+.2f} %", 100 * (whole->per_iteration / truth->per_iteration - 1))
            : "refused");
    for (const double window : {0.5, 1.0, 2.0, 4.0}) {
      text += fmt::format(" {} |", window_cell(host, gpu, Seconds(window)));
    }
    text += "\n";
  }
  return text;
}

std::string count_table(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
    const std::string file = entry.path().filename();
    if (file.ends_with(".csv.gz")) names.push_back(file.substr(0, file.size() - 7));
  }
  std::ranges::sort(names);
  std::string table =
      "| recording | true iterations | counted | lock s | known | breaks |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: |\n";
  for (const std::string& name : names) {
    const auto stream = load_recording(folder, name);
    if (!stream) continue;
    const RecordingSummary found = summarize_recording(stream->launches);
    const DetectorTrace told = trace(*stream, 0);
    table += fmt::format("| {} | {} | ", name, stream->gpu_begins.size());
    if (told.locks.empty()) {
      table += fmt::format("refused: {} | - | - | - |\n", found.reason);
      continue;
    }
    const Instant first = told.locks.front().lock.time;
    Seconds unknown;
    for (std::size_t i = 0; i < told.breaks.size(); ++i) {
      const auto next = std::ranges::find_if(
          told.locks, [&](const auto& lock) { return lock.lock.time > told.breaks[i].time; });
      const Instant until =
          next != told.locks.end() ? next->lock.time : stream->launches.back().time;
      unknown += until - told.breaks[i].time;
    }
    const Seconds all = stream->launches.back().time - first;
    table += fmt::format("{:.0f} | {:.2f} | {:.0f} % | {} |\n", found.iterations,
                         (first - stream->gpu_begins.front()).value(), 100 * (1 - unknown / all),
                         told.breaks.size());
  }
  return table;
}

}  // namespace hypermile
