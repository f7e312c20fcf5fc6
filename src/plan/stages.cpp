// SPDX-License-Identifier: Apache-2.0
#include "plan/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace hypermile {
namespace {

constexpr double kL2Share = 0.5;

// The layers [from, to), which run as one stage.
struct Group {
  std::size_t from = 0, to = 0;
};

bool joins(const Layer& layer, const Layer& before) {
  const bool small = layer.op == OpClass::kElementwise;
  const bool host = before.op != OpClass::kView && before.op != OpClass::kGather;
  return small && host && elements(layer.in) == elements(before.out);
}

std::vector<Group> make_groups(const Network& network, bool fuse) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (fuse && i > 0 && joins(network.layers[i], network.layers[i - 1])) {
      groups.back().to = i + 1;
    } else {
      groups.push_back({i, i + 1});
    }
  }
  return groups;
}

class StageMaker {
 public:
  StageMaker(const Network& network, const StageOptions& options)
      : network_(network), options_(options), width_(value_bytes(options.precision)) {}

  PlanStage stage(const Group& group, PlanPhase phase) const {
    const std::span layers(network_.layers.data() + group.from, group.to - group.from);
    PlanStage stage;
    stage.phase = phase;
    stage.name = layers.front().name;
    stage.type = layers.front().type;
    stage.kernels = kernels(layers.front(), phase);
    for (const Layer& layer : layers.subspan(1)) {
      stage.name += "+" + layer.name;
      join(stage.kernels, kernels(layer, phase), elements(layer.in));
    }
    for (const Kernel& kernel : stage.kernels) {
      if (kernel.overhead) continue;
      stage.flops += kernel.flops;
      stage.bytes += kernel.bytes;
    }
    return stage;
  }

  // Removes from the stage's DRAM traffic what the stage before has just written.
  void take_from_l2(PlanStage& stage, double written) const {
    const double bytes = written * width_;
    if (stage.kernels.empty() || bytes > kL2Share * options_.l2_bytes) return;
    stage.kernels.front().bytes = std::max(0.0, stage.kernels.front().bytes - bytes);
  }

  PlanStage optimizer() const {
    PlanStage stage;
    stage.phase = PlanPhase::kOptimizer;
    stage.name = "optimizer";
    stage.type = network_.optimizer == Optimizer::kAdam ? "Adam" : "SGD";
    Kernel sum;
    for (const Layer& layer : network_.layers) {
      for (const Kernel& kernel : passes(layer, {Pass::kOptimizer})) {
        sum.flops += kernel.flops;
        sum.bytes += kernel.bytes;
      }
    }
    sum.padded_flops = sum.flops;
    stage.flops = sum.flops;
    stage.bytes = sum.bytes;
    if (sum.bytes > 0) stage.kernels.push_back(sum);
    return stage;
  }

 private:
  std::vector<Kernel> passes(const Layer& layer, std::initializer_list<Pass> wanted) const {
    std::vector<Kernel> all;
    for (const Pass pass : wanted) {
      const auto some = kernels_of(layer, pass, options_.precision, network_.optimizer);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  std::vector<Kernel> kernels(const Layer& layer, PlanPhase phase) const {
    if (phase == PlanPhase::kForward) return passes(layer, {Pass::kForward});
    return passes(layer, {Pass::kDataGradient, Pass::kWeightGradient});
  }

  // Adds the work of a fused layer to the first kernel. The tensor in between, of `between`
  // elements, is neither written nor read.
  void join(std::vector<Kernel>& into, const std::vector<Kernel>& more, double between) const {
    // A fused convolution also adds its bias in the same kernel.
    std::erase_if(into, [](const Kernel& k) { return k.overhead && !k.backward; });
    for (const Kernel& kernel : more) {
      if (into.empty()) {
        into.push_back(kernel);
        continue;
      }
      into.front().flops += kernel.flops;
      into.front().padded_flops += kernel.flops;
      into.front().bytes += std::max(0.0, kernel.bytes - 2 * between * width_);
    }
  }

  const Network& network_;
  const StageOptions& options_;
  double width_;
};

}  // namespace

std::string_view to_string(PlanPhase phase) {
  switch (phase) {
    case PlanPhase::kForward:
      return "forward";
    case PlanPhase::kBackward:
      return "backward";
    case PlanPhase::kOptimizer:
      return "optimizer";
  }
  return "";
}

Result<Scope> parse_scope(std::string_view text) {
  if (text == "forward") return Scope::kForward;
  if (text == "backward") return Scope::kBackward;
  if (text == "train") return Scope::kTrain;
  return Error{ErrorCode::kUsage, fmt::format("unknown phase '{}'", text),
               "give forward, backward or train"};
}

std::vector<PlanStage> make_stages(const Network& network, const StageOptions& options) {
  const StageMaker maker(network, options);
  const std::vector<Group> groups = make_groups(network, options.fuse);
  std::vector<PlanStage> stages;
  if (options.scope != Scope::kBackward) {
    for (const Group& group : groups) {
      PlanStage stage = maker.stage(group, PlanPhase::kForward);
      const double in = elements(network.layers[group.from].in);
      if (group.from > 0 && in == elements(network.layers[group.from - 1].out)) {
        maker.take_from_l2(stage, in);
      }
      if (!stage.kernels.empty()) stages.push_back(std::move(stage));
    }
  }
  if (options.scope == Scope::kForward) return stages;
  for (std::size_t i = groups.size(); i-- > 0;) {
    PlanStage stage = maker.stage(groups[i], PlanPhase::kBackward);
    if (i + 1 < groups.size()) {
      const double out = elements(network.layers[groups[i].to - 1].out);
      if (out == elements(network.layers[groups[i + 1].from].in)) maker.take_from_l2(stage, out);
    }
    if (!stage.kernels.empty()) stages.push_back(std::move(stage));
  }
  PlanStage optimizer = maker.optimizer();
  if (!optimizer.kernels.empty()) stages.push_back(std::move(optimizer));
  return stages;
}

}  // namespace hypermile
