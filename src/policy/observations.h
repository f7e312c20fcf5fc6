// SPDX-License-Identifier: Apache-2.0
//
// What a search has measured so far: windows merged into blocks, so that their number stays small
// however long the job, and the noise of one window, estimated from differences between neighbours
// at one Setting, which the job's drift hardly touches.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace hypermile {

// Windows at one Setting close together in time.
struct Block {
  std::size_t setting = 0;
  double at = 0;       // iteration in its middle
  double windows = 0;  // full windows it amounts to
  double log_time = 0;
  double log_power = 0;
};

struct Noise {
  double time = 0.01;  // standard deviation of ln of one full window
  double power = 0.015;
};

// Slow change of the job's own speed, at every Setting alike.
struct DriftModel {
  double sd = 0.005;         // of ln time
  double iterations = 1000;  // after which it is forgotten
};

// How much the job wanders, from what its windows at the default show beyond their noise.
DriftModel estimate_drift(std::span<const Block> blocks, const Noise& noise);

class Observations {
 public:
  // `windows` is the measured length in full windows (0.27 for 8 of 30 iterations).
  void add(std::size_t setting, double at, double windows, double log_time, double log_power);
  // Nothing new: the Setting is taken to be as it was last. Does nothing where it is unknown.
  void confirm(std::size_t setting, double at, double windows);

  std::span<const Block> blocks() const { return blocks_; }
  Noise noise() const;
  // Full windows seen at a Setting.
  double windows_at(std::size_t setting) const;

 private:
  void thin_out();

  struct Last {
    std::size_t setting = 0;
    double windows = 0;
    double log_time = 0;
    double log_power = 0;
  };

  std::vector<Block> blocks_;
  std::optional<Last> last_;
  double differences_ = 0;
  double time_squares_ = 0;
  double power_squares_ = 0;
};

}  // namespace hypermile
