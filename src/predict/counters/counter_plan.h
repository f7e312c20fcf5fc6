// SPDX-License-Identifier: Apache-2.0
//
// Which features a chip can sample, and which of them at once: a chip has room for a few counters
// at a time, so metrics are put into groups that each fit, and the groups are sampled in turn.
// Needs CUPTI but neither driver nor GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "predict/counters/counter_library.h"
#include "predict/counters/counter_metrics.h"

namespace hypermile {

// CUPTI's knowledge of one chip with a set of metrics. Its library must outlive it.
class CounterHost {
 public:
  ~CounterHost();
  CounterHost(const CounterHost&) = delete;
  CounterHost& operator=(const CounterHost&) = delete;

  // `availability` may be empty: then what the chip has when nobody else samples it.
  static Result<std::unique_ptr<CounterHost>> open(const CounterLibrary& library,
                                                   const std::string& chip,
                                                   const std::vector<std::uint8_t>& availability);

  // Once. kUnsupported where the chip lacks one of them or they do not fit at once.
  Result<void> take(std::vector<CounterForm> forms);

  const std::vector<CounterForm>& forms() const { return forms_; }
  const std::vector<const char*>& names() const { return names_; }  // of the metrics
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

// Every feature that the chip can sample, in its best form, in as few groups as come out.
// kUnsupported where there is none.
Result<CounterGroups> plan_counters(const CounterLibrary& library, const std::string& chip,
                                    const std::vector<std::uint8_t>& availability);

}  // namespace hypermile
