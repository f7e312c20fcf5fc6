// SPDX-License-Identifier: Apache-2.0
//
// Finds GPUs of a job that wait for the others, and how much lower they may be told to go at no
// cost in time. Ranks meet in every iteration, so a GPU with less work, or a better card at a power
// limit, only waits; at a lower clock it does the same work in the time it had anyway.
//
// What shows slack? Not utilisation: a collective that waits spins in a kernel. Not power alone:
// cards of one model differ by as much. A clock below the ceiling does (that card is at its limit,
// and the others need not be faster), and trying does: lower some GPUs, see whether the joint time
// moves. Halves are tried rather than single GPUs, since as a rule one GPU sets the pace and all
// others have slack: what passes goes lower together, in steps that double; what fails is tried
// with as much as the move of the time says there is, and then split.
//
// A step must be large enough to be seen if there were no slack (`sensitivity` times the step
// against the Windows' errors), so that passing means something. Every Window is compared with its
// neighbour, because jobs drift. At the end what was found is measured against the joint Setting
// once more, for small moves that hid in the noise may have added up; it is kept only if all of
// them together stay within `room`. So the bound is never spent on this. Same terms, same Windows:
// same answers; nothing here fails.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "measure/window.h"

namespace hypermile {

// A rung of the ladder for each GPU; all 0 is the joint Setting.
using Rungs = std::vector<std::size_t>;

struct SlackTerms {
  std::size_t gpus = 0;
  // Values of the knob that moves, the joint Setting's first, falling. A GPU is told one of them.
  std::vector<double> ladder;
  // What each GPU reached at the joint Setting (a clock), where known: below the ladder's first
  // where the card is at a limit of its own.
  std::vector<std::optional<double>> reached;
  // Relative time lost per relative lowering where there is no slack; measured by the search for
  // the joint Setting.
  double sensitivity = 1;
  double room = 0.005;  // relative: how much the joint time may move, all steps together
  // What was right elsewhere, to be tried first; empty: nothing is known.
  Rungs guess = {};
};

class SlackSearch {
 public:
  explicit SlackSearch(SlackTerms terms);

  // What each GPU shall be told for the next Window. Once done(), what is kept.
  const Rungs& next() const { return asked_; }
  // The joint Window at next(). False: it shows what failed, and does not speak for what is kept.
  bool observe(const Window& joint);
  // The next Window is compared with the last one: nothing should be measured between them.
  bool comparing() const { return comparing_; }
  // Other Settings were measured since the last Window: comparisons begin anew.
  void interrupted();

  bool done() const { return stage_ == Stage::kDone; }
  const Rungs& kept() const { return kept_; }
  // Energy of an iteration at kept() against the joint Setting, as measured.
  double energy_ratio() const { return kept_ratio_; }
  std::size_t windows() const { return windows_; }       // spent
  const std::string& reason() const { return reason_; }  // of what next() asks, in words

 private:
  // GPUs that are tried together.
  struct Group {
    std::vector<std::size_t> gpus;
    double step = 0;          // relative
    bool exact = false;       // the step is as much slack as there seems to be
    bool first_half = false;  // the other half comes next
    bool guessed = false;     // as terms_.guess says, whatever the step
    std::vector<std::size_t> failed_half = {};
  };
  // Pooled Windows at one assignment.
  struct Pool {
    double time = 0, energy = 0;
    double time_variance = 0, energy_variance = 0;  // relative, of the mean
    int windows = 0;
    void add(const Window& window);
  };
  enum class Stage { kReference, kTest, kConfirmJoint, kConfirmKept, kDone };
  enum class Verdict { kPassed, kFailed, kUnclear, kReferenceStale };

  void start();
  void propose();
  bool take_lower(const Group& group, Rungs& rungs) const;
  bool can_be_seen(const Group& group, const Rungs& rungs) const;
  bool holds_the_pacer(const Group& group) const;
  void split(const std::vector<std::size_t>& gpus, double step);
  double rise_without_slack(const Group& group, const Rungs& rungs) const;
  Verdict judge() const;
  void passed();
  void failed();
  void give_up_on(Group group);
  void ask_reference(const char* why);
  void confirm();
  void conclude();
  void finish(const char* why);

  SlackTerms terms_;
  Rungs kept_, asked_;
  double kept_ratio_ = 1;
  struct Before {
    Rungs kept;
    double ratio = 1;
  };
  std::vector<Before> before_;  // each pass, to go back to
  std::deque<Group> queue_;
  Group tried_;
  std::vector<std::size_t> loose_;  // passed in the first round
  double loose_step_ = 0;
  bool first_round_ = true;
  Stage stage_ = Stage::kReference;
  Pool reference_, test_;
  bool comparing_ = false;
  int stale_ = 0;
  int failures_ = 0;  // in a row
  std::size_t windows_ = 0;
  std::string reason_;
};

}  // namespace hypermile
