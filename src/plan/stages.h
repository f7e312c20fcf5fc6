// SPDX-License-Identifier: Apache-2.0
//
// A network as a sequence of stages, each with its kernels. A training iteration consists of the
// forward pass in order and the backward pass in reverse order, for each micro-batch; of the
// exchange of gradients between GPUs as one stage; and of the optimizer's update of all parameters
// as one stage. With activation checkpointing, each part of the network runs its forward pass again
// before its backward pass. The planner gives each stage a setting. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/layer.h"

namespace hypermile {

enum class PlanPhase { kForward, kBackward, kOptimizer, kRecompute, kCommunication };
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
  // What a measurement of this layer by itself is called, and the kernels that it runs then. Empty
  // where a stage is no single layer.
  std::string key;
  std::vector<Kernel> alone;
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
  std::size_t micro_batches = 1;  // forward and backward passes before one update
  // With activation checkpointing, the number of parts into which the layers are divided; 0 without
  // it.
  std::size_t checkpoints = 0;
  std::size_t gpus = 1;         // that exchange gradients after the last backward pass
  double link_bytes_per_s = 0;  // of each GPU, in one direction; above 0 where gpus > 1
};

// Layers that only change a view give no stage. Not empty for a network with any other layer.
std::vector<PlanStage> make_stages(const Network& network, const StageOptions& options);

}  // namespace hypermile
