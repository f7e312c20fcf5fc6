// SPDX-License-Identifier: Apache-2.0
//
// Opens a Machine: reads the environment and makes the first state of its GPUs.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/environment_variable.h"
#include "base/parse.h"
#include "sim/advance.h"
#include "sim/gpu_sheet.h"
#include "sim/stand_in/host_clock.h"
#include "sim/stand_in/machine.h"

namespace hypermile {
namespace {

constexpr const char* kDefaultGpu = "rtx3080ti";
constexpr double kSlowest = 0.001;
constexpr double kFastest = 1000;
// A new machine has already run for this long, so that every sensor has a value.
constexpr double kWarmUpSeconds = 2;
constexpr std::uint32_t kFirstBus = 0x17;
constexpr std::uint32_t kBusStride = 0x12;

std::string purpose_of(const std::vector<std::string>& gpus, double speed) {
  return fmt::format("{} x{:g}", fmt::join(gpus, ","), speed);
}

// FNV-1a, so that equal machines have equal cards on every computer.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xCBF29CE484222325ULL;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return value;
}

// NVML's numbers; there are no sheets for architectures before Volta.
std::uint32_t architecture_number(std::string_view name) {
  constexpr std::pair<std::string_view, std::uint32_t> kNumbers[] = {
      {"volta", 5}, {"turing", 6}, {"ampere", 7}, {"ada", 8}, {"hopper", 9}, {"blackwell", 10}};
  for (const auto& [known, number] : kNumbers) {
    if (name == known) return number;
  }
  return nvml::kNotAvailable32;
}

std::uint32_t cores_per_sm(int major, int minor) {
  return major == 7 || (major == 8 && minor == 0) ? 64 : 128;
}

GpuFacts facts_of(const GpuSheet& sheet, unsigned index) {
  const std::string key = fmt::format("{}/{}", sheet.key, index);
  const std::uint64_t a = hash(key);
  const std::uint64_t b = hash(key + "'");
  GpuFacts facts{};
  sheet.name.copy(facts.name, sizeof facts.name - 1);
  fmt::format("GPU-{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", a >> 32, a >> 16 & 0xFFFF, a & 0xFFFF,
              b >> 48, b & 0xFFFFFFFFFFFF)
      .copy(facts.uuid, sizeof facts.uuid - 1);
  fmt::format("{:013}", b % 10'000'000'000'000ULL).copy(facts.serial, sizeof facts.serial - 1);
  facts.bus = kFirstBus + kBusStride * (index % 8) + index / 8;
  facts.pci_device_id = sheet.pci_device_id;
  facts.architecture = architecture_number(sheet.architecture);
  facts.cores = static_cast<std::uint32_t>(sheet.sm_count) *
                cores_per_sm(sheet.compute_major, sheet.compute_minor);
  facts.compute_major = sheet.compute_major;
  facts.compute_minor = sheet.compute_minor;
  facts.memory_bytes = static_cast<std::uint64_t>(sheet.memory_gib * 1024) << 20;
  return facts;
}

Result<void> fill(MachineState& state, const std::vector<std::string>& gpus, double speed) {
  state.gpu_count = static_cast<std::uint32_t>(gpus.size());
  state.speed = speed;
  const auto warm_up_ns = static_cast<std::int64_t>(kWarmUpSeconds / speed * 1e9);
  state.origin_ns = host_clock_ns(CLOCK_MONOTONIC) - warm_up_ns;
  state.epoch_ns = host_clock_ns(CLOCK_REALTIME) - warm_up_ns;
  for (unsigned i = 0; i < gpus.size(); ++i) {
    ASSIGN_OR_RETURN(const GpuSheet sheet, load_gpu_sheet(gpus[i]));
    GpuCell& cell = state.cells[i];
    cell.facts = facts_of(sheet, i);
    cell.constants = sheet.constants;
    cell.records[0] = GpuRecord{};
    cell.records[0].sim = make_sim_gpu(sheet.constants, hash(cell.facts.uuid));
    cell.current.store(0);
  }
  return {};
}

// True if an existing machine with this purpose has what `options` requires.
bool satisfies(const std::string& purpose, const MachineOptions& options) {
  const std::size_t mark = purpose.rfind(" x");
  if (mark == purpose.npos) return false;
  const bool same_gpus = options.gpus.empty() ||
                         purpose.substr(0, mark) == fmt::format("{}", fmt::join(options.gpus, ","));
  const bool same_speed =
      !options.speed || purpose.substr(mark + 2) == fmt::format("{:g}", *options.speed);
  return same_gpus && same_speed;
}

Error bad_variable(const char* name, const std::string& why, const std::string& remedy) {
  return Error{ErrorCode::kUsage, fmt::format("{}: {}", name, why), remedy};
}

std::string default_state_file() {
  const char* folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  return std::string(folder) + "/hypermile-sim";
}

}  // namespace

Result<MachineOptions> machine_options_from_environment() {
  MachineOptions options;
  const std::string_view path = environment_variable("HYPERMILE_SIM_STATE").value_or("");
  options.state_file = path.empty() ? default_state_file() : std::string(path);
  const std::string_view gpus = environment_variable("HYPERMILE_SIM_GPUS").value_or("");
  if (!gpus.empty()) {
    std::string_view rest = gpus;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      if (end > 0) options.gpus.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (options.gpus.empty() || options.gpus.size() > kMostGpus) {
      return bad_variable("HYPERMILE_SIM_GPUS",
                          fmt::format("'{}' does not name 1 to {} GPUs", gpus, kMostGpus),
                          "write for example HYPERMILE_SIM_GPUS=rtx3080ti,h200");
    }
  }
  const std::string_view speed = environment_variable("HYPERMILE_SIM_SPEED").value_or("");
  if (!speed.empty()) {
    const auto value = parse_number(speed);
    if (!value || *value < kSlowest || *value > kFastest) {
      return bad_variable(
          "HYPERMILE_SIM_SPEED",
          fmt::format("'{}' is not a number from {} to {}", speed, kSlowest, kFastest),
          "1 is real time, 10 ten times as fast");
    }
    options.speed = *value;
  }
  return options;
}

Result<std::unique_ptr<Machine>> Machine::open(const MachineOptions& options) {
  const std::vector<std::string> gpus =
      options.gpus.empty() ? std::vector<std::string>{kDefaultGpu} : options.gpus;
  const double speed = options.speed.value_or(1);
  RegionSpec spec;
  spec.path = options.state_file;
  spec.payload_size = sizeof(MachineState);
  spec.layout = kMachineLayout;
  spec.purpose = purpose_of(gpus, speed);
  spec.accepts = [&options](const std::string& purpose) { return satisfies(purpose, options); };
  spec.fill = [&](void* memory) { return fill(*static_cast<MachineState*>(memory), gpus, speed); };
  ASSIGN_OR_RETURN(auto region, SharedRegion::open(spec));
  return std::unique_ptr<Machine>(new Machine(std::move(region), options.state_file));
}

}  // namespace hypermile
