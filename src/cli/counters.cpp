// SPDX-License-Identifier: Apache-2.0
//
// `hypermile counters`: reads a GPU's counters, whatever runs on it, and prints them as features
// (docs/reference/features.md): performance counters through CUPTI, or the activity counters of
// NVML. Changes nothing. With --counters, run, attach and sweep start it as a separate process.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/environment_variable.h"
#include "cli/command.h"
#include "inject/cupti_library.h"
#include "predict/counters/counter_sampler.h"
#include "run/find_cupti.h"
#include "run/gpu_access.h"

namespace hypermile {
namespace {

constexpr Seconds kUsualLength = Seconds(10);
// Long enough that setting up the counters is the smaller part of the time, short enough that all
// groups of counters have a turn within a baseline of a few seconds.
constexpr Seconds kTurn = Seconds(0.5);

// One of the two kinds of counters.
class CounterReader {
 public:
  virtual ~CounterReader() = default;
  // Reads for `length`, or until `stop`.
  virtual Result<void> take_turn(Seconds length, std::stop_token stop) = 0;
  virtual Features features() const = 0;
  virtual nlohmann::json facts() const = 0;  // with "samples"
};

class CuptiReader final : public CounterReader {
 public:
  static Result<std::unique_ptr<CounterReader>> open(Clock& clock, const GpuIdentity& gpu) {
    // So that CUDA numbers all cards, and does not load our library.
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_INJECTION64_PATH"}) ::unsetenv(name);
    auto reader = std::make_unique<CuptiReader>();
    ASSIGN_OR_RETURN(reader->library_, CounterLibrary::load_cupti(candidates()));
    RETURN_IF_ERROR(reader->library_.load_driver());
    ASSIGN_OR_RETURN(reader->sampler_,
                     CounterSampler::open(reader->library_, clock, gpu.pci.text()));
    return std::unique_ptr<CounterReader>(std::move(reader));
  }

  Result<void> take_turn(Seconds length, std::stop_token stop) override {
    return sampler_->take_turn(length, std::move(stop));
  }
  Features features() const override { return sampler_->features(); }
  nlohmann::json facts() const override {
    return {{"chip", sampler_->chip()},
            {"cupti", library_.path},
            {"groups", sampler_->groups()},
            {"samples", sampler_->samples()},
            {"overflow", sampler_->overflowed()}};
  }

 private:
  // The copy that was named, the newest of toolkits and pip, and what the dynamic linker knows.
  static std::vector<std::string> candidates() {
    std::vector<std::string> paths;
    const std::string named(environment_variable(kCuptiVariable).value_or(""));
    if (!named.empty()) paths.push_back(named);
    if (auto found = find_cupti()) paths.push_back(std::move(*found));
    for (const char* soname : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
      paths.emplace_back(soname);
    }
    return paths;
  }

  CounterLibrary library_;
  std::unique_ptr<CounterSampler> sampler_;
};

// Collects features as control/feature_collector.h does, without a job.
class NvmlReader final : public CounterReader {
 public:
  NvmlReader(Gpu& gpu, Clock& clock) : gpu_(gpu), clock_(clock) {}

  Result<void> take_turn(Seconds length, std::stop_token stop) override {
    clock_.sleep_for(length, std::move(stop));
    FeatureSources sources;
    const Result<ActivityMetrics> activity = gpu_.activity();
    if (!activity && activity.error().code != ErrorCode::kNotReady) return activity.error();
    sources.activity = activity.optional();
    ASSIGN_OR_RETURN(const Sample sample, gpu_.read(Sensor::kUtilization));
    sources.gpu_utilization = sample.gpu_utilization;
    sources.memory_utilization = sample.memory_utilization;
    means_.add(features_of({}, sources));
    samples_ += activity ? 1 : 0;
    return {};
  }
  Features features() const override { return means_.means(); }
  nlohmann::json facts() const override { return {{"samples", samples_}}; }

 private:
  Gpu& gpu_;
  Clock& clock_;
  FeatureMeans means_;
  std::size_t samples_ = 0;
};

nlohmann::json document(const CounterReader& reader, const GpuIdentity& gpu) {
  nlohmann::json document = reader.facts();
  document["gpu"] = gpu.uuid.text();
  nlohmann::json& features = document["features"] = nlohmann::json::object();
  const Features read = reader.features();
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (const auto value = read.get(feature)) features[std::string(name_of(feature))] = *value;
  }
  return document;
}

void print(const nlohmann::json& document, std::ostream& out) {
  out << fmt::format("{}, {} samples{}\n", document.value("chip", "NVML"),
                     document["samples"].get<std::size_t>(),
                     document.value("overflow", false) ? "; some were lost" : "");
  for (const auto& [name, value] : document["features"].items()) {
    out << fmt::format("  {:<16} {:.4f}\n", name, value.get<double>());
  }
}

Result<std::unique_ptr<CounterReader>> open_reader(const OptionValues& options, Gpu& gpu,
                                                   Clock& clock) {
  const std::string from = options.text("from");
  if (from == "cupti") return CuptiReader::open(clock, gpu.identity());
  if (from == "nvml") {
    return std::unique_ptr<CounterReader>(std::make_unique<NvmlReader>(gpu, clock));
  }
  return Error{ErrorCode::kUsage, fmt::format("--from: unknown source '{}'", from),
               "name cupti or nvml"};
}

Result<void> run_counters(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& options = arguments.options;
  ASSIGN_OR_RETURN(const OpenedGpu opened,
                   options.given("gpu") ? open_named_gpu(options.text("gpu"), context.clock, 1)
                                        : open_first_visible_gpu(context.clock));
  const GpuIdentity& gpu = opened.gpu->identity();
  ASSIGN_OR_RETURN(const auto reader, open_reader(options, *opened.gpu, context.clock));
  const bool json = options.flag("json");
  const bool again = json && options.given("interval");
  const Seconds interval = options.duration("interval");
  const Instant end =
      context.clock.now() + (options.given("seconds") ? options.duration("seconds") : kUsualLength);
  Instant next = context.clock.now() + interval;
  while (context.clock.now() < end && !context.stop.stop_requested()) {
    RETURN_IF_ERROR(reader->take_turn(std::min(kTurn, end - context.clock.now()), context.stop));
    if (!again || context.clock.now() < next) continue;
    next = context.clock.now() + interval;
    context.out << document(*reader, gpu).dump() << std::endl;
  }
  const nlohmann::json last = document(*reader, gpu);
  if (json) {
    context.out << last.dump() << std::endl;
  } else {
    print(last, context.out);
  }
  return {};
}

}  // namespace

const Command kCountersCommand = {
    "counters",
    "read a GPU's counters to see what it is busy with",
    "",
    "  hypermile counters                     ten seconds of the first GPU, through CUPTI\n"
    "  hypermile counters --from nvml         the activity counters of NVML (Hopper and newer)\n"
    "  hypermile counters --gpu 1 --seconds 30 --json\n"
    "  hypermile run --counters -- python train.py     at the first baseline of a job\n",
    run_counters,
};

}  // namespace hypermile
