// SPDX-License-Identifier: Apache-2.0
#include "sim/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/toml_reader.h"
#include "sim/data_folder.h"

namespace hypermile {
namespace {

constexpr double kMany = 1e12;
constexpr const char* kSuite = "workloads";
constexpr const char* kField = "workloads/field";
constexpr const char* kPrecisionNames[kPrecisions] = {"fp64", "fp32", "tf32", "bf16", "fp8"};

ShortName short_name(TomlReader& reader) {
  const std::string text = reader.text("name");
  if (text.empty() || text.size() > kMaxNameLength) {
    reader.complain(fmt::format("needs a name of 1 to {} characters", kMaxNameLength), "name");
  }
  ShortName name = {};
  std::copy_n(text.begin(), std::min(text.size(), kMaxNameLength), name.begin());
  return name;
}

// Numbers for the kernels of the parts. Parts of one name in `kernels` have the same ones.
class KernelIds {
 public:
  void give(TomlReader& reader, PartWork& part) {
    const std::string shared = reader.text("kernels", "");
    const auto known = groups_.find(shared);
    const bool first = shared.empty() || known == groups_.end();
    const double usual = std::max(1.0, part.launches);
    const double most = first ? 1e6 : known->second.kinds;
    part.kernel_kinds =
        static_cast<std::uint32_t>(reader.number("kernel_kinds", 1, most, std::min(usual, most)));
    part.first_kernel = first ? next_ : known->second.first;
    if (!first) return;
    next_ += part.kernel_kinds;
    if (!shared.empty()) groups_[shared] = {part.first_kernel, part.kernel_kinds};
  }

 private:
  struct Group {
    std::uint32_t first = 0, kinds = 0;
  };
  std::map<std::string, Group> groups_;
  std::uint32_t next_ = 1;
};

PartWork read_part(TomlReader& reader, KernelIds& kernels) {
  PartWork part;
  part.name = short_name(reader);
  if (reader.has("gflop")) {
    TomlReader flops = reader.table("gflop", false);
    for (std::size_t i = 0; i < kPrecisions; ++i) {
      part.flops[i] = 1e9 * flops.number(kPrecisionNames[i], 0, kMany, 0);
    }
    flops.done();
  }
  part.bytes = 1e9 * reader.number("gbyte", 0, kMany, 0);
  part.compute_efficiency = reader.number("compute_efficiency", 0.0001, 1, 1);
  part.memory_efficiency = reader.number("memory_efficiency", 0.001, 1, 1);
  part.activity = reader.number("activity", 0, 10000, 1);
  part.launches = reader.number("launches", 0, 1e7, 0);
  part.launch_gap = microseconds(reader.number("launch_gap_us", 0, 1e6, 0));
  part.host = milliseconds(reader.number("host_ms", 0, 1e7, 0));
  part.data_stall = milliseconds(reader.number("data_stall_ms", 0, 1e7, 0));
  part.each_micro_batch = reader.flag("each_micro_batch", false);
  part.graph = reader.flag("graph", false);
  kernels.give(reader, part);
  const bool idle =
      part.bytes <= 0 && std::ranges::all_of(part.flops, [](double f) { return f <= 0; });
  const Seconds waits = part.launch_gap * part.launches + part.host + part.data_stall;
  if (idle && waits <= Seconds(0)) reader.complain("takes no time: it has no work and no waits");
  reader.done();
  return part;
}

LengthSpread read_length(TomlReader& reader) {
  LengthSpread length;
  if (!reader.has("length")) return length;
  TomlReader table = reader.table("length", false);
  const std::string kind = table.text("kind");
  const auto spread = [&](LengthKind value, double most) {
    length.kind = value;
    length.cv = table.number("cv", 0, most);
  };
  if (kind == "normal") {
    spread(LengthKind::kNormal, 0.3);
  } else if (kind == "lognormal") {
    spread(LengthKind::kLognormal, 2);
  } else if (kind == "uniform") {
    spread(LengthKind::kUniform, 0.57);
  } else if (kind == "bimodal") {
    length.kind = LengthKind::kBimodal;
    length.long_share = table.number("long_share", 0, 1);
    length.long_factor = table.number("long_factor", 0.01, 1000);
  } else if (kind != "fixed") {
    table.complain("kind must be fixed, normal, lognormal, uniform or bimodal", "kind");
  }
  table.done();
  return length;
}

PhaseWork read_phase(TomlReader& reader, const Load& load, bool first, KernelIds& kernels) {
  PhaseWork phase;
  phase.name = short_name(reader);
  phase.length = read_length(reader);
  if (load.aperiodic) {
    phase.weight = first ? reader.number("weight", 0, kMany, 1) : reader.number("weight", 0, kMany);
  } else if (!first) {
    phase.at_start = reader.flag("at_start", false);
    phase.every = phase.at_start ? 0 : static_cast<std::uint64_t>(reader.number("every", 1, kMany));
    phase.iterations = static_cast<std::uint64_t>(reader.number("iterations", 1, kMany, 1));
    phase.most_iterations = static_cast<std::uint64_t>(
        reader.number("most_iterations", static_cast<double>(phase.iterations), kMany,
                      static_cast<double>(phase.iterations)));
    if (load.dispatch_ahead > 0 && phase.every % load.dispatch_ahead != 0) {
      reader.complain("every must be a multiple of dispatch_ahead", "every");
    }
  }
  bool once = false;
  for (TomlReader& part : reader.tables("part", 1, kMaxParts)) {
    phase.parts[phase.part_count] = read_part(part, kernels);
    const bool repeats = phase.parts[phase.part_count].each_micro_batch;
    if (repeats && once)
      part.complain("runs each micro-batch and must come before those that do not");
    once = once || !repeats;
    ++phase.part_count;
  }
  reader.done();
  return phase;
}

}  // namespace

Result<Workload> parse_workload(std::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(const toml::table table, parse_toml(text, file));
  std::optional<Error> problem;
  TomlReader reader(table, file, "", problem);
  Workload workload;
  Load& load = workload.load;
  workload.key = std::filesystem::path(file).stem().string();
  workload.title = reader.text("title");
  workload.family = reader.text("family");
  workload.tags = reader.texts("tags");
  workload.iterations = static_cast<std::uint64_t>(reader.number("iterations", 1, kMany, 0));
  load.micro_batches = static_cast<std::uint32_t>(reader.number("micro_batches", 1, 4096, 1));
  load.aperiodic = reader.flag("aperiodic", false);
  load.dispatch_ahead = static_cast<std::uint32_t>(reader.number("dispatch_ahead", 0, 1e4, 0));
  if (load.aperiodic && load.dispatch_ahead > 0) {
    reader.complain("dispatch_ahead is not allowed in an aperiodic job", "dispatch_ahead");
  }
  load.launch_pace = microseconds(reader.number("launch_pace_us", 0.1, 1e6, 6));
  load.occupancy = reader.number("occupancy", 0, 1, 0.5);
  load.pcie_mib_s = reader.number("pcie_mib_s", 0, 1e6, 0);
  if (reader.has("drift")) {
    TomlReader drift = reader.table("drift", false);
    load.drift = drift.number("change", -0.9, 9);
    load.drift_iterations = static_cast<std::uint64_t>(drift.number("iterations", 1, kMany));
    drift.done();
  }
  KernelIds kernels;
  for (TomlReader& phase : reader.tables("phase", 1, kMaxPhases)) {
    load.phases[load.phase_count] = read_phase(phase, load, load.phase_count == 0, kernels);
    ++load.phase_count;
  }
  reader.done();
  if (problem) return *problem;
  return workload;
}

Result<Workload> load_workload(std::string_view key) {
  const std::vector<std::string> field = toml_keys(kField);
  const bool met = std::ranges::find(field, key) != field.end();
  ASSIGN_OR_RETURN(const NamedText file, read_named_toml(met ? kField : kSuite, "workload", key));
  return parse_workload(file.text, file.path);
}

std::vector<std::string> workload_keys() {
  return toml_keys(kSuite);
}

std::vector<std::string> workloads_named(std::string_view name) {
  if (name == "all") return workload_keys();
  if (name == "field") return toml_keys(kField);
  if (name != "paper") return {std::string(name)};
  std::vector<std::string> keys = workload_keys();
  std::erase_if(keys, [](const std::string& key) {
    const Result<Workload> workload = load_workload(key);
    return workload && !std::ranges::any_of(workload->tags, [](const std::string& tag) {
             return tag == "ai-bench" || tag == "benchmarking-gnns";
           });
  });
  return keys;
}

}  // namespace hypermile
