// SPDX-License-Identifier: Apache-2.0
//
// `hypermile leases`: who has leased which GPU since when, which setting was requested, and what
// the GPU does now. The daemon knows the leases; the sensors are read here, which needs no rights.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <pwd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.h"
#include "gpu/nvml/nvml_open.h"
#include "lease/protocol/daemon_connection.h"
#include "lease/protocol/socket_address.h"
#include "run/gpu_access.h"

namespace hypermile {
namespace {

constexpr Seconds kDeadline = Seconds(2);
constexpr SensorSet kWanted = Sensor::kClocks | Sensor::kEventReasons | Sensor::kPowerLimit;

using Effective = std::map<GpuUuid, Sample>;

Effective read_effective(const wire::LeaseList& list, Clock& clock) {
  Effective effective;
  for (const wire::LeaseEntry& lease : list.leases) {
    for (const wire::LeasedGpu& gpu : lease.gpus) {
      const auto card = open_gpu_with_deadlines(gpu.gpu, clock, {});
      if (!card) continue;
      if (const auto sample = (*card)->read(kWanted)) effective.emplace(gpu.gpu, *sample);
    }
  }
  return effective;
}

std::string user_name(std::uint64_t uid) {
  const passwd* entry = ::getpwuid(static_cast<uid_t>(uid));
  return entry != nullptr ? entry->pw_name : fmt::format("{}", uid);
}

std::string shown(const Sample& sample) {
  std::string text;
  const auto add = [&](std::string_view name, const auto& value, std::string_view unit) {
    if (value)
      text += fmt::format("{}{} {:g} {}", text.empty() ? "" : ", ", name, value->value(), unit);
  };
  add("sm", sample.sm_clock, "MHz");
  add("mem", sample.memory_clock, "MHz");
  add("limit", sample.power_limit, "W");
  if (sample.reasons) text += fmt::format(" ({})", to_string(*sample.reasons));
  return text;
}

void print_lease(const wire::LeaseEntry& lease, const Effective& effective, std::ostream& out) {
  if (lease.lease != 0) {
    const auto since = static_cast<std::time_t>(lease.since_unix);
    out << fmt::format("lease {}: {} (pid {}, user {}{}) since {:%F %T}, {:.1f} s left to renew\n",
                       lease.lease, lease.program, lease.pid, user_name(lease.uid),
                       lease.job.empty() ? "" : ", job " + lease.job, fmt::localtime(since),
                       lease.expires_in.value());
  } else {
    out << "no lease; being restored:\n";
  }
  for (const wire::LeasedGpu& gpu : lease.gpus) {
    const auto seen = effective.find(gpu.gpu);
    out << fmt::format("  {}  requested {}  now {}\n", gpu.gpu.text(), to_string(gpu.requested),
                       seen != effective.end() ? shown(seen->second) : "not known");
  }
}

template <class Value>
nlohmann::json number_or_null(const std::optional<Value>& value) {
  return value ? nlohmann::json(value->value()) : nlohmann::json(nullptr);
}

nlohmann::json gpu_json(const wire::LeasedGpu& gpu, const Effective& effective) {
  nlohmann::json j = {{"uuid", gpu.gpu.text()},
                      {"restoring", gpu.restoring},
                      {"requested",
                       {{"sm_mhz", number_or_null(gpu.requested.sm_clock)},
                        {"mem_mhz", number_or_null(gpu.requested.memory_clock)},
                        {"limit_w", number_or_null(gpu.requested.power_limit)}}},
                      {"effective", nullptr}};
  const auto seen = effective.find(gpu.gpu);
  if (seen == effective.end()) return j;
  const Sample& sample = seen->second;
  j["effective"] = {{"sm_mhz", number_or_null(sample.sm_clock)},
                    {"mem_mhz", number_or_null(sample.memory_clock)},
                    {"limit_w", number_or_null(sample.power_limit)},
                    {"reasons", nullptr}};
  if (sample.reasons) j["effective"]["reasons"] = to_string(*sample.reasons);
  return j;
}

nlohmann::json list_json(const wire::LeaseList& list, const Effective& effective) {
  nlohmann::json document = {{"leases", nlohmann::json::array()}};
  for (const wire::LeaseEntry& lease : list.leases) {
    nlohmann::json gpus = nlohmann::json::array();
    for (const wire::LeasedGpu& gpu : lease.gpus) gpus.push_back(gpu_json(gpu, effective));
    nlohmann::json entry = {{"lease", nullptr}, {"gpus", std::move(gpus)}};
    if (lease.lease != 0) {
      entry.update({{"lease", lease.lease},
                    {"uid", lease.uid},
                    {"user", user_name(lease.uid)},
                    {"pid", lease.pid},
                    {"program", lease.program},
                    {"job", lease.job},
                    {"since_unix", lease.since_unix},
                    {"expires_in_s", lease.expires_in.value()}});
    }
    document["leases"].push_back(std::move(entry));
  }
  return document;
}

// What the cards show against restores that the driver called complete, by GPU.
std::map<GpuUuid, std::string> read_backs(DaemonConnection& connection) {
  std::map<GpuUuid, std::string> shown;
  const auto status = connection.ask<wire::DaemonStatus>(wire::StatusRequest{}, kDeadline);
  if (!status) return shown;
  for (const wire::GpuStatus& gpu : status->gpus) {
    if (!gpu.read_back.empty()) shown[gpu.gpu] = gpu.read_back;
  }
  return shown;
}

// The same command on another node. It prints for itself, and ends this program's turn.
Result<void> ask_node(const std::string& node, bool json) {
  const bool named =
      !node.empty() && node.front() != '-' && std::ranges::all_of(node, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '@';
      });
  if (!named) return Error{ErrorCode::kUsage, "--node: that is no name of a host"};
  const char* remote = std::getenv("HYPERMILE_REMOTE");
  const std::string command =
      fmt::format("{} {} hypermile leases{}", remote != nullptr ? remote : "ssh -o BatchMode=yes",
                  node, json ? " --json" : "");
  if (std::system(command.c_str()) == 0) return {};
  return Error{ErrorCode::kIo, fmt::format("{} could not be asked with '{}'", node, command),
               "name another way in $HYPERMILE_REMOTE"};
}

Result<void> run_leases(const CommandArguments& arguments, CommandContext& context) {
  if (arguments.options.given("node")) {
    context.out << std::flush;
    return ask_node(arguments.options.text("node"), arguments.options.flag("json"));
  }
  ASSIGN_OR_RETURN(auto connection, DaemonConnection::connect(default_socket_path()));
  ASSIGN_OR_RETURN(const auto list,
                   connection.ask<wire::LeaseList>(wire::ListRequest{}, kDeadline));
  const std::map<GpuUuid, std::string> mismatches = read_backs(connection);
  const Effective effective = read_effective(list, context.clock);
  if (arguments.options.flag("json")) {
    nlohmann::json document = list_json(list, effective);
    document["not_at_default"] = nlohmann::json::object();
    for (const auto& [gpu, text] : mismatches) document["not_at_default"][gpu.text()] = text;
    context.out << document.dump() << "\n";
    return {};
  }
  for (const wire::LeaseEntry& lease : list.leases) print_lease(lease, effective, context.out);
  if (list.leases.empty()) context.out << "no GPU is leased\n";
  for (const auto& [gpu, text] : mismatches) {
    context.out << fmt::format("{} was given back, but {}; it is reset again\n", gpu.text(), text);
  }
  return {};
}

}  // namespace

const Command kLeasesCommand = {
    "leases",
    "show who has leased which GPU since when, the setting requested and what the GPU does",
    "",
    "  hypermile leases\n"
    "  hypermile leases --node gpu7\n"
    "  hypermile leases --json\n",
    run_leases,
};

}  // namespace hypermile
