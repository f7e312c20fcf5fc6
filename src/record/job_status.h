// SPDX-License-Identifier: Apache-2.0
//
// The line that people see while a run goes on, from its events: the controller's state and
// setting, what an iteration takes and what the GPUs draw now, what the whole job has saved, and
// how much of the allowed slowdown it has used. Constant memory per setting tried.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "record/event.h"
#include "record/run_figures.h"

namespace hypermile {

class JobStatus {
 public:
  // `bound` is the slowdown allowed, 0.05 is 5 %; nullopt where there is none.
  explicit JobStatus(std::optional<double> bound) : bound_(bound) {}

  // Takes events in their order. Returns true where the state has changed, so that people should
  // read a line about it.
  bool take(const Event& event);

  // The controller's state, "hold" for instance; without a controller "watching" or another state
  // of progress; "" before the first event.
  const std::string& state() const { return state_; }
  // "hold at sm=1815MHz: 348.7 ms, 294 W; whole job saved 1886 J (11.1 %), 3.4 % slower of 5 %
  // allowed". What is not known is left out.
  std::string line() const;
  // The state with its reason: "hold at sm=1815MHz: nothing better was found".
  std::string change() const;

 private:
  bool take_body(const ProgressEvent& event);
  bool take_body(const StateChange& event);
  bool take_body(const SampleEvent& event);
  bool take_body(const Decision& event);
  template <class Other>
  bool take_body(const Other&) {
    return false;
  }

  std::string state_words() const;

  std::optional<double> bound_;
  RunFigures figures_;
  bool controlled_ = false;  // a controller has reported a state
  std::string state_, reason_;
  std::string announced_;            // the state that people were last told
  std::optional<Setting> setting_;   // last decided
  bool shared_ = false;              // the job's time is, between that setting and others
  std::map<GpuUuid, double> watts_;  // last seen
};

}  // namespace hypermile
