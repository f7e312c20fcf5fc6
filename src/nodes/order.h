// SPDX-License-Identifier: Apache-2.0
//
// What the nodes of one job tell each other, as plain values: a node reports (NodeReport), the
// coordinating node orders (Order). The agents carry them as protobuf messages
// (agent/messages.h); tests pass them by hand. Nothing here fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/setting.h"
#include "measure/window.h"

namespace hypermile {

// What a node knows of a phase of the job before the first Window; see PolicyContext.
struct PhaseTerms {
  std::vector<Setting> settings = {};  // the default first
  double window_iterations = 30;
  double settle_iterations = 5;
  Setting default_values = {};
  Seconds typical = Seconds(1);  // an iteration at the default
};

// How far the job has come on a node, from its ledger: sums since the job began, in iterations.
struct NodeAccount {
  double done = 0;
  double off = 0;                 // of them, off the default
  double lost = 0;                // time lost off the default, in iterations at the default
  Seconds off_time = Seconds(0);  // that the iterations off the default took
};

// A node's whole part of the job, when its ranks have ended.
struct NodeTotals {
  double joules = 0;
  std::optional<double> saved_j = {};      // against the default; negative where it used more
  std::optional<double> time_change = {};  // 0.03: 3 % longer than at the default
  bool operator==(const NodeTotals&) const = default;
};

struct NodeReport {
  std::uint32_t phase = 0;
  // Grows when the node began this phase anew, because the job had changed. 0: the node has no
  // phase yet, and the report is a sign of life.
  std::uint32_t generation = 0;
  std::optional<PhaseTerms> terms = {};  // until the first Order for the phase has come
  std::uint64_t order = 0;               // that `window` was measured under
  std::optional<Window> window = {};     // of all GPUs of the node
  NodeAccount account = {};
  std::optional<NodeTotals> totals = {};  // in the last report
};

// What the nodes have found out together and the next coordinator begins with.
struct Learnt {
  Setting kept;
  double time_ratio = 1;  // against the default
  double power_ratio = 1;
  bool operator==(const Learnt&) const = default;
};

struct Order {
  std::uint64_t id = 0;  // grows; 0: nothing is decided, the default
  std::uint32_t phase = 0;
  Setting setting = {};
  double iterations = 30;
  bool exploring = true;
  std::optional<Seconds> abort_above = {};
  double abort_after = 8;
  double confidence = 1;
  std::string reason = {};
  std::optional<Learnt> learnt = {};
};

}  // namespace hypermile
