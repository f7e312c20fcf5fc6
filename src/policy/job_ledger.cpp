// SPDX-License-Identifier: Apache-2.0
#include "policy/job_ledger.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

// What a window's noise is taken to be before two windows of one Setting can be compared, and how
// many comparisons that is worth. A window's own standard error takes its place where it has one.
constexpr double kUsualNoise = 0.01;
constexpr double kUsualFreedom = 3;
constexpr double kLeastNoise = 0.0002;  // no sensor and no job is steadier
constexpr double kWorstClaim = 0.05;    // a relative error beyond this says nothing of the noise
constexpr double kMostWindows = 1e6;    // in one
constexpr double kAbsurd = 7;           // in ln
constexpr double kJump = 3;             // standard deviations
constexpr std::size_t kMostStays = 128;

}  // namespace

JobLedger::JobLedger(std::size_t settings, double window_iterations)
    : settings_(settings),
      window_iterations_(window_iterations >= 1 ? window_iterations : 1),
      stretches_(1) {}

void JobLedger::pass(bool off_default, double iterations, Seconds took) {
  if (!(iterations >= 0) || !(took >= Seconds(0))) return;
  if (!std::isfinite(iterations + took.value())) return;
  done_ += iterations;
  Stretch& stretch = stretches_.back();
  stretch.end = done_ / window_iterations_;
  if (!off_default) return;
  at_default_ = false;
  off_ += iterations;
  stretch.off_iterations += iterations;
  stretch.off_seconds += took.value();
}

void JobLedger::set_job(double iterations, double sure) {
  job_ = std::isfinite(iterations) ? iterations : 0;
  sure_job_ = std::isfinite(sure) ? std::min(sure, job_) : 0;
}

void JobLedger::add(std::size_t setting, const Window& window) {
  const bool counts = window.usable() || window.held_back();
  if (!counts || !window.time_per_iteration || !window.power || setting >= settings_) return;
  const double time = std::log(window.time_per_iteration->value());
  const double power = std::log(window.power->value());
  double windows = window.iterations / window_iterations_;
  // A window that is far less sure than others of its length counts for less.
  const double claim = window.time_error.value_or(0);
  if (claim > kWorstClaim) {
    windows = std::min(windows, noise_[0] * noise_[0] / (claim * claim));
  }
  if (!std::isfinite(time) || !std::isfinite(power) || !(windows > 0 && windows < kMostWindows)) {
    return;
  }
  // No Setting and no job is a thousand times slower: such a window is a fault of the measurement.
  if (knows_default() && std::abs(time - time_.now()) > kAbsurd) return;
  const double at = (done_ - window.iterations / 2) / window_iterations_;
  if (setting == 0) {
    const bool fresh = !at_default_;
    time_.add(at, windows, time, fresh);
    power_.add(at, windows, power, fresh);
    if (fresh) {
      const double here = done_ / window_iterations_;
      stretches_.push_back({0, 0, here, here});
    }
    at_default_ = true;
    default_until_ = done_;
    if (time_.stays() > kMostStays) thin_out();
  } else {
    add_entry(setting, at, windows, time, power);
  }
  estimate_noise(window, windows);
  time_.solve(noise_[0]);
  power_.solve(noise_[1]);
}

void JobLedger::add_entry(std::size_t setting, double at, double windows, double time,
                          double power) {
  const std::size_t stretch = stretches_.size() - 1;
  const auto entry = std::ranges::find_if(
      entries_, [&](const Entry& one) { return one.setting == setting && one.stretch == stretch; });
  if (entry == entries_.end()) {
    entries_.push_back({setting, stretch, at, windows, time, power, {windows, time, power}});
    return;
  }
  const double all = entry->windows + windows;
  const double share = windows / all;
  // Neighbours are compared, since the job's own level moves, and a jump of it is no noise.
  const Last& last = entry->last;
  const double weight = last.windows * windows / (last.windows + windows);
  const double off[2] = {time - last.log_time, power - last.log_power};
  for (int i = 0; i < 2; ++i) {
    squares_[i] += std::min(weight * off[i] * off[i], kJump * kJump * noise_[i] * noise_[i]);
  }
  freedom_ += 1;
  entry->last = {windows, time, power};
  entry->at += share * (at - entry->at);
  entry->log_time += share * (time - entry->log_time);
  entry->log_power += share * (power - entry->log_power);
  entry->windows = all;
}

void JobLedger::estimate_noise(const Window& window, double windows) {
  const std::optional<double> errors[2] = {window.time_error, window.power_error};
  const LevelTrack* tracks[2] = {&time_, &power_};
  for (int i = 0; i < 2; ++i) {
    if (errors[i] && *errors[i] >= 0 && *errors[i] < kWorstClaim) {
      claimed_[i] += windows * *errors[i] * *errors[i];
      claims_[i] += 1;
    }
    const double before = claims_[i] > 0 ? claimed_[i] / claims_[i] : kUsualNoise * kUsualNoise;
    const double squares = squares_[i] + tracks[i]->squares();
    const double freedom = freedom_ + tracks[i]->freedom();
    noise_[i] = std::sqrt((kUsualFreedom * before + squares) / (kUsualFreedom + freedom));
    noise_[i] = std::max(noise_[i], kLeastNoise);
  }
}

void JobLedger::thin_out() {
  time_.thin_out();
  power_.thin_out();
  // Stays 2k and 2k+1 are one now. The stretch between them joins the one before.
  std::vector<Stretch> kept;
  for (std::size_t k = 0; k < stretches_.size(); ++k) {
    if (k % 2 == 0) {
      kept.push_back(stretches_[k]);
      continue;
    }
    if (k + 1 == stretches_.size()) {
      kept.push_back(stretches_[k]);
      break;
    }
    Stretch& into = kept.back();
    into.off_iterations += stretches_[k].off_iterations;
    into.off_seconds += stretches_[k].off_seconds;
    into.end = stretches_[k].end;
  }
  stretches_ = std::move(kept);
  std::vector<Entry> entries;
  for (const Entry& one : entries_) {
    const std::size_t stretch = std::min(one.stretch / 2, stretches_.size() - 1);
    const auto same = std::ranges::find_if(entries, [&](const Entry& other) {
      return other.setting == one.setting && other.stretch == stretch;
    });
    if (same == entries.end()) {
      entries.push_back(one);
      entries.back().stretch = stretch;
      continue;
    }
    const double share = one.windows / (same->windows + one.windows);
    same->at += share * (one.at - same->at);
    same->log_time += share * (one.log_time - same->log_time);
    same->log_power += share * (one.log_power - same->log_power);
    same->windows += one.windows;
  }
  entries_ = std::move(entries);
}

void JobLedger::begin_anew() {
  lost_before_ = lost();
  at_default_ = false;
  time_ = power_ = LevelTrack();
  entries_.clear();
  const double here = done_ / window_iterations_;
  stretches_ = {{0, 0, here, here}};
}

void JobLedger::forget(std::size_t setting) {
  std::erase_if(entries_, [&](const Entry& one) { return one.setting == setting; });
  for (Entry& one : entries_) one.setting -= one.setting > setting;
  if (settings_ > 0) --settings_;
}

Seconds JobLedger::default_time() const {
  return Seconds(std::exp(time_.now()));
}

Watts JobLedger::default_power() const {
  return Watts(std::exp(power_.now()));
}

double JobLedger::since_default() const {
  return (done_ - default_until_) / window_iterations_;
}

double JobLedger::windows_at(std::size_t setting) const {
  if (setting == 0) return time_.windows();
  double all = 0;
  for (const Entry& entry : entries_) all += entry.setting == setting ? entry.windows : 0;
  return all;
}

double JobLedger::lost() const {
  double lost = lost_before_;
  if (time_.empty()) return lost;
  for (const Stretch& stretch : stretches_) {
    if (stretch.off_iterations <= 0) continue;
    const double pace = std::exp(time_.at((stretch.begin + stretch.end) / 2));
    lost += stretch.off_seconds / pace - stretch.off_iterations;
  }
  return lost;
}

double JobLedger::pace_error(double more) const {
  std::vector<double> weights;
  for (const Stretch& stretch : stretches_) weights.push_back(stretch.off_iterations);
  return std::sqrt(time_.variance_of_mean(weights, more, done_ / window_iterations_, !at_default_));
}

std::optional<double> JobLedger::log_time_of(std::size_t setting) const {
  for (const SeenSetting& one : seen()) {
    if (one.setting == setting) return one.log_time;
  }
  return std::nullopt;
}

std::optional<std::pair<Seconds, Watts>> JobLedger::expected(std::size_t setting) const {
  if (!knows_default()) return std::nullopt;
  if (setting == 0) return std::pair(default_time(), default_power());
  for (const SeenSetting& one : seen()) {
    if (one.setting != setting) continue;
    return std::pair(default_time() * std::exp(one.log_time),
                     default_power() * std::exp(one.log_power));
  }
  return std::nullopt;
}

std::vector<SeenSetting> JobLedger::seen() const {
  std::vector<SeenSetting> seen(settings_);
  for (const Entry& entry : entries_) {
    SeenSetting& one = seen[entry.setting];
    one.setting = entry.setting;
    one.windows += entry.windows;
    const double share = entry.windows / one.windows;
    one.log_time += share * (entry.log_time - time_.at(entry.at) - one.log_time);
    one.log_power += share * (entry.log_power - power_.at(entry.at) - one.log_power);
  }
  std::erase_if(seen, [](const SeenSetting& one) { return one.windows <= 0; });
  return seen;
}

}  // namespace hypermile
