// SPDX-License-Identifier: Apache-2.0
//
// What the events of a run have told so far, for the line that people see while it goes: the
// Controller's state and Setting, what an iteration takes and what the GPUs draw now, what was
// saved, and how much of the allowed slowdown is used. Whoever reads a log gets the same line from
// it. Constant memory per Setting tried.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "record/event.h"

namespace hypermile {

class JobStatus {
 public:
  // `bound`: the slowdown allowed, 0.05 is 5 %; nullopt where nothing is changed or none is set.
  explicit JobStatus(std::optional<double> bound) : bound_(bound) {}

  // Events in their order. True where the run's state is another than people know, so that a line
  // of its own is due.
  bool take(const Event& event);

  // "hold" and the like, "" before the first event of a Controller; "watching" without one.
  const std::string& state() const { return state_; }
  // "hold at sm=1815MHz: 348.7 ms, 294 W; saved 1886 J (11.1 %), 3.4 % slower of 5 % allowed": what
  // is not known is left out.
  std::string line() const;
  // "hold at sm=1815MHz: nothing better was found": the state with its reason.
  std::string change() const;

 private:
  // Usable Windows at one Setting.
  struct Cost {
    Setting setting;
    double iterations = 0;
    double joules = 0;
    double seconds = 0;
  };
  // Windows of one of these may be compared with one another: GPU, process, phase, level.
  using Alike = std::tuple<std::string, std::int64_t, std::uint32_t, std::uint32_t>;

  struct Balance {
    double saved_j = 0, default_j = 0;
    double lost_s = 0, default_s = 0;
  };

  bool take_body(const ProgressEvent& event);
  bool take_body(const StateChange& event);
  bool take_body(const WindowEvent& event);
  bool take_body(const SampleEvent& event);
  bool take_body(const Decision& event);
  template <class Other>
  bool take_body(const Other&) {
    return false;
  }

  // Off the default, against what the same iterations took and cost at it.
  std::optional<Balance> balance() const;
  std::string state_words() const;

  std::optional<double> bound_;
  bool controlled_ = false;  // a Controller has spoken
  std::string state_, reason_;
  std::string told_;                // what the last line of its own was about
  std::optional<Setting> setting_;  // last decided
  std::map<Alike, std::vector<Cost>> costs_;
  std::map<std::tuple<std::int64_t, std::uint32_t>, double> micro_batches_;
  std::optional<double> iteration_s_;
  std::map<std::string, double> watts_;  // by GPU, last seen
};

}  // namespace hypermile
