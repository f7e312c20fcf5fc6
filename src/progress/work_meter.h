// SPDX-License-Identifier: Apache-2.0
//
// Progress of a job without a period (boosted trees, solvers, learners that play): how much work
// its launches stand for. Each kernel is weighted by the GPU time that a launch of it takes at the
// setting at which the job was first seen, the default. The weights come from GPU events at one
// kernel, the mark: the time between two events is spread over the kernels launched in between, by
// non-negative least squares.
//
// Whether the weights tell the truth is measured before they are used, on a later stretch at the
// same setting: the time that they predict must agree with the GPU's. Afterwards the mixture of
// kernels must stay as it was, because at another clock a kernel that waits for memory slows down
// less than one that computes, and another mixture would look like another speed. Where either
// fails the meter refuses and says why.
//
// ProcessProgress feeds it launches and GPU times in order, on one thread, and asks for events at
// mark(). O(1) per launch, fixed memory; the fit of 64 weights takes a millisecond, once.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "inject/ring_reader.h"

namespace hypermile {

class WorkMeter {
 public:
  enum class State {
    kCounting,  // which kernels there are, and how often they come
    kLearning,  // GPU events at mark() are wanted
    kTrusted,
    kRefused,  // why() says why; begins again after a while
  };
  // One unit of work is so much GPU time at the default.
  static constexpr Seconds kUnit = milliseconds(50);

  // Begins anew, at launches from now on. What was learnt before is kept if it was trusted.
  void restart();
  // Work done since the last mark if this launch is a mark, in units; else nullopt. 0 at the first
  // mark. Only while trusted.
  std::optional<double> add(const NumberedLaunch& launch);
  void add(const GpuTime& time);

  State state() const { return state_; }
  const std::string& why() const { return why_; }
  // The kernel at which GPU events are wanted; set unless counting.
  std::optional<std::uint32_t> mark() const { return mark_; }
  // Launches that make up one unit of work, on average.
  double launches_per_unit() const { return launches_per_unit_; }
  // Relative scatter of predicted against measured time over blocks of kBlock.
  double scatter() const { return scatter_; }

 private:
  static constexpr std::size_t kColumns = 64;  // kernels with a weight; the rest share the last
  using Counts = std::array<float, kColumns>;

  struct Mark {
    std::uint64_t record = 0;
    Counts since{};  // launches since the mark before
  };

  std::size_t column_of(std::uint32_t kernel);
  void choose_mark(Instant now);
  void learn(const Counts& counts, Seconds took);
  void fit();
  void judge();
  void check_mixture(double work);
  void refuse(std::string why, Instant now);
  double work_of(const Counts& counts) const;

  State state_ = State::kCounting;
  std::string why_;
  std::map<std::uint32_t, std::size_t> columns_;
  Counts open_{};         // launches since the last mark
  double open_work_ = 0;  // of these, in seconds
  bool begun_ = false;
  std::optional<Instant> since_;  // when this state began
  Instant now_;
  Counts seen_{};  // launches while counting
  std::optional<std::uint32_t> mark_;

  // While learning.
  std::deque<Mark> marks_;  // whose GPU time may still come
  std::optional<GpuTime> timed_;
  std::array<std::array<double, kColumns>, kColumns> products_{};  // of counts
  Counts totals_{};
  std::array<double, kColumns> times_{};  // of counts and seconds
  Seconds learnt_, tested_;
  bool fitted_ = false;
  std::array<double, kColumns> weights_{};  // seconds per launch
  double block_predicted_ = 0;              // seconds
  Seconds block_;
  std::vector<double> blocks_;  // predicted / measured
  double launches_per_unit_ = 0;
  double scatter_ = 0;

  // The mixture as learnt, and as it is now; shares of the work by kernel.
  std::array<double, kColumns> usual_{};
  std::array<double, kColumns> recent_{};
  double recent_work_ = 0;  // seconds
  int odd_mixtures_ = 0;    // in a row
};

}  // namespace hypermile
