// SPDX-License-Identifier: Apache-2.0
//
// Samples a GPU's performance counters through CUPTI and averages them to features, whatever
// process the kernels come from. It creates no CUDA context, so it uses none of the job's GPU
// memory.
//
// It runs in the program `hypermile counters`, because CUPTI may crash or hang and must not take
// the job or the measurements with it. Every call may fail; samples taken before stay valid.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "measure/feature_means.h"
#include "predict/counters/counter_groups.h"

namespace hypermile {

class CounterSampler {
 public:
  // Opens the GPU at a PCI address ("00000000:3B:00.0"). `library` and `clock` must outlive it.
  static Result<std::unique_ptr<CounterSampler>> open(const CounterLibrary& library, Clock& clock,
                                                      const std::string& pci);

  // Samples the next group of counters for `length`, or until `stop`.
  Result<void> take_turn(Seconds length, std::stop_token stop);

  Features features() const { return means_.means(); }  // means over all turns so far
  std::size_t samples() const { return samples_; }
  std::size_t groups() const { return groups_.size(); }
  const std::string& chip() const { return chip_; }
  Seconds sampled() const { return sampled_; }
  bool overflowed() const { return overflowed_; }  // some samples were lost

 private:
  class Session;  // the sampling of one group

  CounterSampler(const CounterLibrary& library, Clock& clock) : library_(library), clock_(clock) {}
  Result<void> find_device(const std::string& pci);
  Result<std::vector<std::uint8_t>> read_availability() const;
  void add(const CounterHost& group, const std::vector<double>& values);

  const CounterLibrary& library_;
  Clock& clock_;
  std::size_t device_ = 0;
  std::string chip_;
  CounterGroups groups_;
  std::size_t next_ = 0;
  FeatureMeans means_;
  std::size_t samples_ = 0;
  Seconds sampled_;
  bool overflowed_ = false;
};

}  // namespace hypermile
