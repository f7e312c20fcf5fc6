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
constexpr double kLeastNoise = 0.0002;   // no sensor and no job is steadier
constexpr double kWorstClaim = 0.05;     // a relative error beyond this says nothing of the noise
constexpr double kMostWindows = 1e6;     // in one
constexpr double kAbsurd = 7;            // in ln
constexpr double kJump = 3;              // standard deviations
constexpr double kMiddleSquare = 0.455;  // median of the square of a standard normal
constexpr std::size_t kMostCompared = 200;  // neighbouring windows; older ones tell of older times

}  // namespace

JobLedger::JobLedger(std::size_t settings, double window_iterations, bool wanders)
    : settings_(settings),
      window_iterations_(window_iterations >= 1 ? window_iterations : 1),
      wanders_(wanders),
      windows_(settings) {}

void JobLedger::pass(bool off_default, double iterations, Seconds took) {
  if (!(iterations >= 0) || !(took >= Seconds(0))) return;
  if (!std::isfinite(iterations + took.value())) return;
  done_ += iterations;
  if (!off_default) return;
  off_ += iterations;
  off_time_ += took;
  open_iterations_ += iterations;
  open_seconds_ += took.value();
}

// What a window measured is counted by the ratio of its Setting, which later windows make surer.
// Time that passed beside windows, while a clock settled for instance, is taken as it was.
void JobLedger::count_loss(std::size_t setting, const Window& window) {
  const double measured = setting == 0 ? 0 : std::min(window.iterations, open_iterations_);
  const double took = measured * window.time_per_iteration->value();
  const double pace = std::exp(time_.level());
  lost_unmeasured_ += std::max(open_seconds_ - took, 0.0) / pace - (open_iterations_ - measured);
  open_iterations_ = open_seconds_ = 0;
  if (measured > 0) time_.ran(setting, measured);
}

void JobLedger::set_job(double iterations, double sure) {
  job_ = std::isfinite(iterations) ? iterations : 0;
  sure_job_ = std::isfinite(sure) ? std::min(sure, job_) : 0;
}

void JobLedger::add(std::size_t setting, const Window& window,
                    const std::optional<ExpectedLook>& expected) {
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
  if (knows_default() && std::abs(time - time_.level()) > kAbsurd) return;
  const double at = (done_ - window.iterations / 2) / window_iterations_;
  const Last now = {windows, time, power};
  if (neighbour_ && neighbour_->setting == setting) compare(neighbour_->window, now);
  neighbour_ = {setting, now};
  estimate_noise(window, windows);
  if (setting == 0) default_until_ = done_;
  time_.add(setting, at, windows, time, noise_[0], expected);
  power_.add(setting, at, windows, power, noise_[1]);
  if (!knows_default()) return;
  if (setting == 0) {
    default_then_[0] = time_.level();
    default_then_[1] = power_.level();
  }
  windows_[setting] += windows;
  count_loss(setting, window);
}

// Neighbours are compared, since the job's own level moves.
void JobLedger::compare(const Last& last, const Last& now) {
  const double weight = last.windows * now.windows / (last.windows + now.windows);
  const double off[2] = {now.log_time - last.log_time, now.log_power - last.log_power};
  for (int i = 0; i < 2; ++i) {
    squares_[i].push_back(weight * off[i] * off[i]);
    if (squares_[i].size() > kMostCompared) squares_[i].pop_front();
  }
}

// A jump of the job's own pace is no noise: squares far above the middle one count as the largest
// that noise is likely to give.
void JobLedger::estimate_noise(const Window& window, double windows) {
  const std::optional<double> errors[2] = {window.time_error, window.power_error};
  for (int i = 0; i < 2; ++i) {
    if (errors[i] && *errors[i] >= 0 && *errors[i] < kWorstClaim) {
      claimed_[i] += windows * *errors[i] * *errors[i];
      claims_[i] += 1;
    }
    const double before = claims_[i] > 0 ? claimed_[i] / claims_[i] : kUsualNoise * kUsualNoise;
    std::vector<double> squares(squares_[i].begin(), squares_[i].end());
    const auto n = static_cast<double>(squares.size());
    double sum = 0;
    if (!squares.empty()) {
      const auto middle = squares.begin() + static_cast<std::ptrdiff_t>(squares.size() / 2);
      std::ranges::nth_element(squares, middle);
      const double usual =
          (kUsualFreedom * before + n * *middle / kMiddleSquare) / (kUsualFreedom + n);
      for (const double square : squares) sum += std::min(square, kJump * kJump * usual);
    }
    noise_[i] = std::sqrt((kUsualFreedom * before + sum) / (kUsualFreedom + n));
    noise_[i] = std::max(noise_[i], kLeastNoise);
  }
}

void JobLedger::begin_anew() {
  lost_before_ = lost();
  doubt_before_ += time_.variance();
  lost_unmeasured_ = open_iterations_ = open_seconds_ = 0;
  neighbour_.reset();
  time_ = power_ = PaceTrack(wanders_);
  std::ranges::fill(windows_, 0);
}

void JobLedger::forget(std::size_t setting) {
  if (setting >= settings_) return;
  time_.forget(setting);
  power_.forget(setting);
  neighbour_.reset();
  windows_.erase(windows_.begin() + static_cast<std::ptrdiff_t>(setting));
  --settings_;
}

Seconds JobLedger::default_time() const {
  return Seconds(std::exp(time_.level()));
}

Watts JobLedger::default_power() const {
  return Watts(std::exp(power_.level()));
}

double JobLedger::since_default() const {
  return (done_ - default_until_) / window_iterations_;
}

double JobLedger::lost() const {
  double lost = lost_before_ + lost_unmeasured_ + time_.lost();
  if (knows_default()) lost += open_seconds_ / std::exp(time_.level()) - open_iterations_;
  return lost;
}

double JobLedger::lost_error() const {
  return std::sqrt(doubt_before_ + time_.variance());
}

double JobLedger::pace_error(double more) const {
  const double future = std::max(sure_job() - done_, window_iterations_);
  return std::sqrt(doubt_before_ + time_.variance_after(more, noise_[0], future)) / (off_ + future);
}

std::optional<double> JobLedger::log_time_of(std::size_t setting) const {
  return time_.offset(setting);
}

std::optional<std::pair<Seconds, Watts>> JobLedger::expected(std::size_t setting) const {
  if (!knows_default()) return std::nullopt;
  const auto time = setting == 0 ? std::optional(0.0) : time_.offset(setting);
  const auto power = setting == 0 ? std::optional(0.0) : power_.offset(setting);
  if (!time || !power) return std::nullopt;
  return std::pair(Seconds(std::exp(default_then_[0] + *time)),
                   Watts(std::exp(default_then_[1] + *power)));
}

std::vector<SeenSetting> JobLedger::seen() const {
  std::vector<SeenSetting> seen;
  for (std::size_t setting = 1; setting < settings_; ++setting) {
    const auto time = time_.offset(setting);
    const auto power = power_.offset(setting);
    if (time && power) seen.push_back({setting, windows_at(setting), *time, *power});
  }
  return seen;
}

}  // namespace hypermile
