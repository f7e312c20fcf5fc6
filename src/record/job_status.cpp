// SPDX-License-Identifier: Apache-2.0
#include "record/job_status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

// The Controller's names for its states, as people say them.
std::string spoken(std::string state) {
  std::ranges::replace(state, '_', ' ');
  return state;
}

std::string duration(double seconds) {
  return seconds < 1 ? fmt::format("{:.1f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

std::optional<double> joules_of(const Window& window) {
  if (window.energy_per_iteration) return window.energy_per_iteration->value();
  if (!window.power || !window.time_per_iteration) return std::nullopt;
  return (*window.power * *window.time_per_iteration).value();
}

}  // namespace

bool JobStatus::take(const Event& event) {
  return std::visit([this](const auto& body) { return take_body(body); }, event.body);
}

bool JobStatus::take_body(const ProgressEvent& event) {
  if (event.phase) {
    micro_batches_[{event.process, *event.phase}] = event.micro_batches.value_or(1);
  }
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
  // A look at the default during a search or a hold, and the way back from it, are no news.
  const bool looking = told_.starts_with("search") || told_.starts_with("hold");
  if (state_ == "baseline" && looking) return false;
  const std::string now = state_ == "hold" ? state_words() : state_;
  if (std::exchange(told_, now) == now) return false;
  return !first;  // how a Controller begins is no change
}

bool JobStatus::take_body(const Decision& event) {
  setting_ = event.setting;
  return false;
}

bool JobStatus::take_body(const SampleEvent& event) {
  const std::optional<Watts> power =
      event.sample.power_average ? event.sample.power_average : event.sample.power_instant;
  if (power) watts_[event.gpu.text()] = power->value();
  return false;
}

bool JobStatus::take_body(const WindowEvent& event) {
  const Window& window = event.window;
  const std::optional<double> joules = joules_of(window);
  if (!window.usable() || !joules || !(window.iterations > 0)) return false;
  const std::int64_t process = event.process.value_or(0);
  const auto batches = micro_batches_.find({process, window.pattern.phase});
  iteration_s_ =
      window.time_per_iteration->value() * (batches != micro_batches_.end() ? batches->second : 1);
  std::vector<Cost>& costs =
      costs_[{event.gpu.text(), process, window.pattern.phase, window.pattern.level}];
  auto cost = std::ranges::find(costs, window.setting, &Cost::setting);
  if (cost == costs.end()) cost = costs.insert(costs.end(), Cost{window.setting});
  cost->iterations += window.iterations;
  cost->joules += window.iterations * *joules;
  cost->seconds += window.iterations * window.time_per_iteration->value();
  return false;
}

std::optional<JobStatus::Balance> JobStatus::balance() const {
  Balance sum;
  bool any = false;
  for (const auto& [alike, costs] : costs_) {
    const auto usual = std::ranges::find(costs, Setting{}, &Cost::setting);
    if (usual == costs.end()) continue;
    for (const Cost& cost : costs) {
      const double iterations = cost.iterations / usual->iterations;
      sum.default_j += iterations * usual->joules;
      sum.default_s += iterations * usual->seconds;
      sum.saved_j += iterations * usual->joules - cost.joules;
      sum.lost_s += cost.seconds - iterations * usual->seconds;
      any = any || !cost.setting.empty();
    }
  }
  return any && sum.default_j > 0 && sum.default_s > 0 ? std::optional(sum) : std::nullopt;
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
  if (iteration_s_) now.push_back(duration(*iteration_s_));
  double watts = 0;
  for (const auto& [gpu, each] : watts_) watts += each;
  if (!watts_.empty()) now.push_back(fmt::format("{:.0f} W", watts));
  std::string text = state_words();
  if (!now.empty()) text += fmt::format(": {}", fmt::join(now, ", "));
  const std::optional<Balance> sum = balance();
  if (sum) {
    text += fmt::format("; saved {:.0f} J ({:.1f} %), {:.1f} % slower", sum->saved_j,
                        100 * sum->saved_j / sum->default_j, 100 * sum->lost_s / sum->default_s);
  }
  if (bound_) text += fmt::format("{} {:g} % allowed", sum ? " of" : ";", 100 * *bound_);
  return text;
}

}  // namespace hypermile
