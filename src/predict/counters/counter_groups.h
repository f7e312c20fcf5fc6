// SPDX-License-Identifier: Apache-2.0
//
// Finds the features that a chip can sample, and puts their metrics into groups. A chip has room
// for a few counters at a time, so each group fits at once and the groups are sampled in turn.
// Needs CUPTI, but neither driver nor GPU. Called by CounterSampler, on one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "predict/counters/counter_library.h"
#include "predict/counters/counter_metrics.h"

namespace hypermile {

// CUPTI's description of one chip with a set of metrics. The library must outlive it.
class CounterHost {
 public:
  ~CounterHost();
  CounterHost(const CounterHost&) = delete;
  CounterHost& operator=(const CounterHost&) = delete;

  // With an empty `availability`, assumes that nobody else samples the chip.
  static Result<std::unique_ptr<CounterHost>> open(const CounterLibrary& library,
                                                   const std::string& chip,
                                                   const std::vector<std::uint8_t>& availability);

  // Call once. Returns kUnsupported where the chip lacks a metric or the metrics do not fit at
  // once.
  Result<void> take(std::vector<CounterForm> forms);

  const std::vector<CounterForm>& forms() const { return forms_; }
  const std::vector<const char*>& names() const { return names_; }  // names of the metrics
  const std::vector<std::uint8_t>& config() const { return config_; }
  pm::Host handle() const { return host_; }

 private:
  explicit CounterHost(const CounterLibrary& library) : library_(library) {}

  const CounterLibrary& library_;
  pm::Host host_ = nullptr;
  std::vector<CounterForm> forms_;
  std::vector<const char*> names_;
  std::vector<std::uint8_t> config_;
};

using CounterGroups = std::vector<std::unique_ptr<CounterHost>>;

// Every feature that the chip can sample, in its best form, packed greedily into groups. Returns
// kUnsupported where there is none.
Result<CounterGroups> group_counters(const CounterLibrary& library, const std::string& chip,
                                     const std::vector<std::uint8_t>& availability);

}  // namespace hypermile
