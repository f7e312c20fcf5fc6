// SPDX-License-Identifier: Apache-2.0
//
// A network as a sequence of stages, each with its kernels. A training iteration consists of the
// forward pass in order, the backward pass in reverse order, and the optimizer's update of all
// parameters as one stage. The planner gives each stage a setting. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/layer.h"

namespace hypermile {

enum class PlanPhase { kForward, kBackward, kOptimizer };
std::string_view to_string(PlanPhase phase);

// The part of an iteration that is repeated: "forward", "backward" (with the optimizer) or "train".
enum class Scope { kForward, kBackward, kTrain };
Result<Scope> parse_scope(std::string_view text);

struct PlanStage {
  std::string name;  // the layer's name; names of fused layers are joined by "+"
  std::string type;
  PlanPhase phase = PlanPhase::kForward;
  std::vector<Kernel> kernels;
  double flops = 0;  // needed by the algorithm, for the whole batch
  double bytes = 0;  // needed by the algorithm, each operand once
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
};

struct StageOptions {
  Precision precision = Precision::kTf32;
  Scope scope = Scope::kTrain;
  // Runs element-wise layers inside the kernel before them, so that the tensor in between is
  // neither written nor read.
  bool fuse = false;
  // The size of the L2 cache. A tensor of at most half that size is still there when the next stage
  // reads it.
  double l2_bytes = 0;
};

// Layers that only change a view give no stage. Not empty for a network with any other layer.
std::vector<PlanStage> make_stages(const Network& network, const StageOptions& options);

}  // namespace hypermile
