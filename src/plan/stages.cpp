// SPDX-License-Identifier: Apache-2.0
#include "plan/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace hypermile {
namespace {

constexpr double kL2Share = 0.5;
constexpr double kAllReduceMoves = 5;  // reads to send twice, writes twice, and one read to add

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
    if (layers.size() == 1) {
      const Layer& layer = layers.front();
      stage.key = layer_key(layer.type, layer.in, layer.out, layer.params);
      stage.alone = alone_kernels(layer, phase == PlanPhase::kBackward, options_.precision);
    }
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

  // A ring all-reduce of all gradients. Each GPU sends and receives nearly twice their size, at the
  // link's rate, and adds what it receives.
  PlanStage communication() const {
    PlanStage stage;
    stage.phase = PlanPhase::kCommunication;
    stage.name = "all-reduce";
    stage.type = "AllReduce";
    const double gpus = static_cast<double>(options_.gpus);
    const double gradients = width_ * network_.params();
    Kernel kernel;
    kernel.flops = kernel.padded_flops = network_.params() * (gpus - 1) / gpus;
    kernel.bytes = kAllReduceMoves * gradients * (gpus - 1) / gpus;
    kernel.wait_s = 2 * gradients * (gpus - 1) / gpus / options_.link_bytes_per_s;
    kernel.backward = true;
    stage.flops = kernel.flops;
    stage.bytes = kernel.bytes;
    if (gradients > 0) stage.kernels.push_back(kernel);
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
    if (phase != PlanPhase::kBackward) return passes(layer, {Pass::kForward});
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
    case PlanPhase::kRecompute:
      return "recompute";
    case PlanPhase::kCommunication:
      return "communication";
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

namespace {

// One micro-batch's passes, in order.
class PassMaker {
 public:
  PassMaker(const Network& network, const StageOptions& options, const StageMaker& maker)
      : network_(network), maker_(maker), groups_(make_groups(network, options.fuse)) {
    const std::size_t parts = std::min(options.checkpoints, groups_.size());
    part_ = parts > 0 ? (groups_.size() + parts - 1) / parts : 0;
  }

  void forward(std::vector<PlanStage>& stages, PlanPhase phase, std::size_t from,
               std::size_t to) const {
    for (std::size_t i = from; i < to; ++i) {
      const Group& group = groups_[i];
      PlanStage stage = maker_.stage(group, phase);
      const double in = elements(network_.layers[group.from].in);
      if (group.from > 0 && in == elements(network_.layers[group.from - 1].out)) {
        maker_.take_from_l2(stage, in);
      }
      if (!stage.kernels.empty()) stages.push_back(std::move(stage));
    }
  }

  // Where activations are checkpointed, the last part still has its own.
  void backward(std::vector<PlanStage>& stages) const {
    for (std::size_t i = groups_.size(); i-- > 0;) {
      const bool last_of_part = part_ > 0 && (i + 1) % part_ == 0 && i + 1 < groups_.size();
      if (last_of_part) forward(stages, PlanPhase::kRecompute, i + 1 - part_, i + 1);
      PlanStage stage = maker_.stage(groups_[i], PlanPhase::kBackward);
      if (i + 1 < groups_.size()) {
        const double out = elements(network_.layers[groups_[i].to - 1].out);
        if (out == elements(network_.layers[groups_[i + 1].from].in)) {
          maker_.take_from_l2(stage, out);
        }
      }
      if (!stage.kernels.empty()) stages.push_back(std::move(stage));
    }
  }

  std::size_t groups() const { return groups_.size(); }

 private:
  const Network& network_;
  const StageMaker& maker_;
  std::vector<Group> groups_;
  std::size_t part_ = 0;  // groups in a checkpointed part; 0 without checkpointing
};

}  // namespace

std::vector<PlanStage> make_stages(const Network& network, const StageOptions& options) {
  const StageMaker maker(network, options);
  const PassMaker passes(network, options, maker);
  std::vector<PlanStage> stages;
  for (std::size_t i = 0; i < options.micro_batches; ++i) {
    if (options.scope != Scope::kBackward) {
      passes.forward(stages, PlanPhase::kForward, 0, passes.groups());
    }
    if (options.scope != Scope::kForward) passes.backward(stages);
  }
  if (options.scope == Scope::kForward) return stages;
  if (options.gpus > 1) stages.push_back(maker.communication());
  stages.push_back(maker.optimizer());
  std::erase_if(stages, [](const PlanStage& stage) { return stage.kernels.empty(); });
  return stages;
}

}  // namespace hypermile
