// SPDX-License-Identifier: Apache-2.0
#include "policy/observations.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kWindowsPerBlock = 8;
constexpr std::size_t kMostBlocks = 48;
// What the noise is taken for before anything is known, and how many differences that is worth.
constexpr Noise kPriorNoise = {0.01, 0.015};
constexpr double kPriorWeight = 4;
// How many differences the usual drift is worth against what is seen of this job's.
constexpr double kDriftWeight = 4;

void merge(Block& into, const Block& other) {
  const double n = into.windows + other.windows;
  const double share = other.windows / n;
  into.at += share * (other.at - into.at);
  into.log_time += share * (other.log_time - into.log_time);
  into.log_power += share * (other.log_power - into.log_power);
  into.windows = n;
}

}  // namespace

DriftModel estimate_drift(std::span<const Block> blocks, const Noise& noise) {
  DriftModel drift;
  double count = 0;
  double windows = 0;
  double sum = 0;
  for (const Block& block : blocks) {
    if (block.setting != 0) continue;
    count += 1;
    windows += block.windows;
    sum += block.windows * block.log_time;
  }
  if (count < 2) return drift;
  double squares = 0;
  for (const Block& block : blocks) {
    if (block.setting != 0) continue;
    const double off = block.log_time - sum / windows;
    squares += block.windows * off * off;
  }
  // Means of n windows scatter by noise^2 / n and by the drift between them.
  const double beyond = squares / (count - 1) - noise.time * noise.time;
  const double seen = std::max(0.0, beyond / (windows / count));
  drift.sd = std::sqrt((kDriftWeight * drift.sd * drift.sd + (count - 1) * seen) /
                       (kDriftWeight + count - 1));
  return drift;
}

void Observations::add(std::size_t setting, double at, double windows, double log_time,
                       double log_power) {
  const Block one{setting, at, windows, log_time, log_power};
  const bool continues = last_ && last_->setting == setting && blocks_.back().setting == setting;
  if (continues) {
    // The difference of two means of n1 and n2 windows has the variance sigma^2 (1/n1 + 1/n2).
    const double scale = 1 / (1 / windows + 1 / last_->windows);
    const double dt = log_time - last_->log_time;
    const double dp = log_power - last_->log_power;
    time_squares_ += dt * dt * scale;
    power_squares_ += dp * dp * scale;
    differences_ += 1;
  }
  last_ = Last{setting, windows, log_time, log_power};
  if (continues && blocks_.back().windows + windows <= kWindowsPerBlock) {
    merge(blocks_.back(), one);
  } else {
    blocks_.push_back(one);
    thin_out();
  }
}

void Observations::confirm(std::size_t setting, double at, double windows) {
  const auto known = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                  [&](const Block& block) { return block.setting == setting; });
  if (known == blocks_.rend()) return;
  blocks_.push_back({setting, at, windows, known->log_time, known->log_power});
  last_.reset();  // it says nothing of the noise
  thin_out();
}

Noise Observations::noise() const {
  const double weight = kPriorWeight + differences_;
  const auto estimate = [&](double prior, double squares) {
    return std::sqrt((kPriorWeight * prior * prior + squares) / weight);
  };
  return Noise{estimate(kPriorNoise.time, time_squares_),
               estimate(kPriorNoise.power, power_squares_)};
}

double Observations::windows_at(std::size_t setting) const {
  double sum = 0;
  for (const Block& block : blocks_) sum += block.setting == setting ? block.windows : 0;
  return sum;
}

// Merges the two blocks of one Setting that lie closest in time, older ones first.
void Observations::thin_out() {
  if (blocks_.size() <= kMostBlocks) return;
  std::size_t first = 0;
  std::size_t second = 0;
  double closest = INFINITY;
  const double now = blocks_.back().at;
  for (std::size_t i = 0; i + 1 < blocks_.size(); ++i) {
    const auto same = [&](const Block& b) { return b.setting == blocks_[i].setting; };
    const auto found =
        std::find_if(blocks_.begin() + static_cast<std::ptrdiff_t>(i) + 1, blocks_.end(), same);
    if (found == blocks_.end()) continue;
    const double gap = (found->at - blocks_[i].at) / (1 + now - found->at);
    if (gap >= closest) continue;
    closest = gap;
    first = i;
    second = static_cast<std::size_t>(found - blocks_.begin());
  }
  if (second == 0) {
    blocks_.erase(blocks_.begin());
    return;
  }
  merge(blocks_[first], blocks_[second]);
  blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(second));
}

}  // namespace hypermile
