// SPDX-License-Identifier: Apache-2.0
//
// A network as a GPU runs it: one step after the other, each with its kernels. A training iteration
// is the forward pass in order, the backward pass in reverse, and one step of the optimizer over
// all parameters. The planner gives each step a Setting.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/layer.h"

namespace hypermile {

enum class PlanPhase { kForward, kBackward, kOptimizer };
std::string_view to_string(PlanPhase phase);

// Which part of an iteration is repeated: "forward", "backward" (with the optimizer) or "train".
enum class Scope { kForward, kBackward, kTrain };
Result<Scope> parse_scope(std::string_view text);

struct PlanStep {
  std::string name;  // the layer's; layers fused into it are joined by "+"
  std::string type;
  PlanPhase phase = PlanPhase::kForward;
  std::vector<Kernel> kernels;
  double flops = 0;  // of the algorithm, whole batch
  double bytes = 0;  // of the algorithm, each operand once
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
};

struct StepOptions {
  Precision precision = Precision::kTf32;
  Scope scope = Scope::kTrain;
  // Element-wise layers run inside the kernel before them: the tensor between is neither written
  // nor read.
  bool fuse = false;
  // A tensor of at most half of this is still there when the next step reads it; 0: never.
  double l2_bytes = 0;
};

// Never empty for a network with a layer that does something; layers that only change a view have
// no step.
std::vector<PlanStep> make_steps(const Network& network, const StepOptions& options);

}  // namespace hypermile
