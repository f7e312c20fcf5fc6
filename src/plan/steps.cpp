// SPDX-License-Identifier: Apache-2.0
#include "plan/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace hypermile {
namespace {

constexpr double kL2Share = 0.5;

// The layers [from, to), which run as one step.
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

class StepMaker {
 public:
  StepMaker(const Network& network, const StepOptions& options)
      : network_(network), options_(options), width_(value_bytes(options.precision)) {}

  PlanStep step(const Group& group, PlanPhase phase) const {
    const std::span layers(network_.layers.data() + group.from, group.to - group.from);
    PlanStep step;
    step.phase = phase;
    step.name = layers.front().name;
    step.type = layers.front().type;
    step.kernels = kernels(layers.front(), phase);
    for (const Layer& layer : layers.subspan(1)) {
      step.name += "+" + layer.name;
      join(step.kernels, kernels(layer, phase), elements(layer.in));
    }
    for (const Kernel& kernel : step.kernels) {
      if (kernel.overhead) continue;
      step.flops += kernel.flops;
      step.bytes += kernel.bytes;
    }
    return step;
  }

  // Removes from the step's DRAM traffic what the step before has just written.
  void take_from_l2(PlanStep& step, double written) const {
    const double bytes = written * width_;
    if (step.kernels.empty() || bytes > kL2Share * options_.l2_bytes) return;
    step.kernels.front().bytes = std::max(0.0, step.kernels.front().bytes - bytes);
  }

  PlanStep optimizer() const {
    PlanStep step;
    step.phase = PlanPhase::kOptimizer;
    step.name = "optimizer";
    step.type = network_.optimizer == Optimizer::kAdam ? "Adam" : "SGD";
    Kernel sum;
    for (const Layer& layer : network_.layers) {
      for (const Kernel& kernel : passes(layer, {Pass::kOptimizer})) {
        sum.flops += kernel.flops;
        sum.bytes += kernel.bytes;
      }
    }
    sum.padded_flops = sum.flops;
    step.flops = sum.flops;
    step.bytes = sum.bytes;
    if (sum.bytes > 0) step.kernels.push_back(sum);
    return step;
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
  const StepOptions& options_;
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

std::vector<PlanStep> make_steps(const Network& network, const StepOptions& options) {
  const StepMaker maker(network, options);
  const std::vector<Group> groups = make_groups(network, options.fuse);
  std::vector<PlanStep> steps;
  if (options.scope != Scope::kBackward) {
    for (const Group& group : groups) {
      PlanStep step = maker.step(group, PlanPhase::kForward);
      const double in = elements(network.layers[group.from].in);
      if (group.from > 0 && in == elements(network.layers[group.from - 1].out)) {
        maker.take_from_l2(step, in);
      }
      if (!step.kernels.empty()) steps.push_back(std::move(step));
    }
  }
  if (options.scope == Scope::kForward) return steps;
  for (std::size_t i = groups.size(); i-- > 0;) {
    PlanStep step = maker.step(groups[i], PlanPhase::kBackward);
    if (i + 1 < groups.size()) {
      const double out = elements(network.layers[groups[i].to - 1].out);
      if (out == elements(network.layers[groups[i + 1].from].in)) maker.take_from_l2(step, out);
    }
    if (!step.kernels.empty()) steps.push_back(std::move(step));
  }
  PlanStep optimizer = maker.optimizer();
  if (!optimizer.kernels.empty()) steps.push_back(std::move(optimizer));
  return steps;
}

}  // namespace hypermile
