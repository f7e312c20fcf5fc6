// SPDX-License-Identifier: Apache-2.0
//
// Between a policy, which thinks of all GPUs of a job as one, and the GPUs. While the policy
// explores every GPU is told the same. Once it holds a Setting, those that wait for the others are
// found (slack_search.h) and told less. The policy goes on watching the joint Windows as Windows at
// the Setting it asked for, so that its care for the bound covers this too; their power is raised
// by what the slack was measured to save, for the policy compares Settings, not GPUs. When it
// moves, all GPUs follow together. Each Setting has a search of its own, which goes on when the
// policy comes back to it; what was right at the last one is its first guess. A policy that shares
// the job's time may stay for one Step only, so a Step lasts until what it compares has been
// measured on both sides.
//
//   const Plan plan = keeper.plan(step);             // tell each GPU plan.settings[i]
//   if (auto window = keeper.observe(step, joint, ranks)) policy.observe(*window);  // else the
//   Step
//                                                                                   // is still
//                                                                                   open
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "control/joint_window.h"
#include "control/slack_search.h"
#include "policy/policy.h"

namespace hypermile {

class SlackKeeper {
 public:
  // `gpus` as they are told and as ranks name them.
  SlackKeeper(const PolicyContext& context, std::vector<GpuUuid> gpus);

  struct Plan {
    std::vector<Setting> settings;  // one for each GPU
    double iterations = 0;          // of the Window
    std::string reason = {};        // where it differs from the Step's own; else empty
  };
  Plan plan(const Step& step);

  // The Window measured under the last plan; returns what the policy shall see of the Step.
  // nullopt: a test is not over, or has failed with nothing before it to show; the Step goes on.
  std::optional<Window> observe(const Step& step, const Window& joint,
                                std::span<const RankWindow> ranks);

  // What each GPU is told while the policy holds; empty where all are told the same.
  std::vector<Setting> kept() const;
  const SlackSearch* search() const;

 private:
  // What the Windows at one Setting have shown.
  struct Mean {
    double log_time = 0;
    double variance = 0;  // of one Window, relative
    double clock = 0;     // or power, whatever the knob is measured in
    int windows = 0;
  };

  // What is known of slack at one Setting; a policy may come and go between two of them.
  struct Held {
    int holds = 0;                    // Windows there
    std::vector<std::size_t> ladder;  // Settings, from the one held down
    std::optional<SlackSearch> search;
  };
  void note(std::size_t setting, const Window& joint);
  void begin_search(Held& held, const Step& step, std::span<const RankWindow> ranks);
  void remember_slack(const Held& held);
  std::optional<Mhz> pace_clock(std::span<const RankWindow> ranks) const;
  std::vector<Setting> settings_at(const Held& held, const Rungs& rungs) const;
  double position(const Setting& setting) const;
  double sensitivity() const;
  double room(const Step& step) const;

  PolicyContext context_;
  std::vector<GpuUuid> gpus_;
  std::vector<Mean> means_;          // by Setting
  std::optional<std::size_t> held_;  // the Setting in force
  std::optional<Window> seen_;       // of the Step in hand: what the policy will see
  std::map<std::size_t, Held> at_;   // by Setting
  Knob knob_ = Knob::kSmClock;       // that moves
  std::vector<double> lowered_;  // each GPU against the joint Setting, where it was right before
};

}  // namespace hypermile
