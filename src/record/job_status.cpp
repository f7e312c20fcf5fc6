// SPDX-License-Identifier: Apache-2.0
#include "record/job_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "record/figures_text.h"

namespace hypermile {
namespace {

// The name of a state as people say it.
std::string spoken(std::string state) {
  std::ranges::replace(state, '_', ' ');
  return state;
}

std::string duration(double seconds) {
  return seconds < 1 ? fmt::format("{:.1f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

}  // namespace

bool JobStatus::take(const Event& event) {
  figures_.add(event);
  return std::visit([this](const auto& body) { return take_body(body); }, event.body);
}

bool JobStatus::take_body(const ProgressEvent& event) {
  if (controlled_) return false;
  std::string now = event.state == "locked"      ? "watching"
                    : event.state == "searching" ? "looking for iterations"
                                                 : event.state;
  reason_ =
      event.state == "locked" ? fmt::format("iterations are known from {}", event.source) : "";
  const bool changed = now != state_;
  state_ = std::move(now);
  return changed;
}

bool JobStatus::take_body(const StateChange& event) {
  const bool first = !std::exchange(controlled_, true);
  state_ = event.state;
  reason_ = event.reason;
  // A short measurement of the default during a search or a hold is not announced.
  const bool looking = announced_.starts_with("search") || announced_.starts_with("hold");
  if (state_ == "baseline" && looking) return false;
  // Where the job's time is shared, going from one setting to the other is no news.
  const std::string now = state_ == "hold" && !shared_ ? state_words() : state_;
  if (std::exchange(announced_, now) == now) return false;
  return !first;  // the state in which a controller begins is not a change
}

bool JobStatus::take_body(const Decision& event) {
  setting_ = event.setting;
  shared_ = event.numbers.contains("share");
  return false;
}

bool JobStatus::take_body(const SampleEvent& event) {
  const std::optional<Watts> power =
      event.sample.power_average ? event.sample.power_average : event.sample.power_instant;
  if (power) watts_[event.gpu] = power->value();
  return false;
}

std::string JobStatus::state_words() const {
  std::string words = state_.empty() ? "no iterations seen yet" : spoken(state_);
  if (setting_ && (state_ == "search" || state_ == "hold")) {
    words += " at " + (setting_->empty() ? "the default" : to_string(*setting_));
  }
  return words;
}

std::string JobStatus::change() const {
  return reason_.empty() ? state_words() : state_words() + ": " + reason_;
}

std::string JobStatus::line() const {
  std::vector<std::string> now;
  if (const auto& iteration_s = figures_.last_iteration_s()) now.push_back(duration(*iteration_s));
  double watts = 0;
  for (const auto& [gpu, each] : watts_) watts += each;
  if (!watts_.empty()) now.push_back(fmt::format("{:.0f} W", watts));
  std::string text = state_words();
  if (!now.empty()) text += fmt::format(": {}", fmt::join(now, ", "));
  const std::string job = job_short_text(figures_.job());
  if (!job.empty()) text += "; whole job " + job;
  if (bound_) text += fmt::format("{} {:g} % allowed", job.empty() ? ";" : " of", 100 * *bound_);
  return text;
}

}  // namespace hypermile
