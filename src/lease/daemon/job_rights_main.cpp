// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/job_rights_main.h"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "base/parse.h"
#include "gpu/gpu_name.h"
#include "gpu/nvml/nvml_open.h"
#include "lease/daemon/daemon_process.h"
#include "lease/daemon/job_rights.h"
#include "lease/protocol/daemon_connection.h"
#include "lease/protocol/socket_address.h"

namespace hypermile {
namespace {

constexpr Seconds kLookDeadline = Seconds(5);
constexpr Seconds kRestoreDeadline = Seconds(5);

Error usage_of_rights(std::string message) {
  return Error{ErrorCode::kUsage, std::move(message), "see 'hypermiled --help'"};
}

// UUIDs, because a job that is confined to its devices numbers them differently.
Result<std::set<GpuUuid>> uuids_of(const std::string& gpus) {
  ASSIGN_OR_RETURN(const GpuList machine, list_gpus_within(kLookDeadline));
  std::set<GpuUuid> uuids;
  std::istringstream parts(gpus);
  for (std::string part; std::getline(parts, part, ',');) {
    ASSIGN_OR_RETURN(const GpuName name, parse_gpu_name(part));
    ASSIGN_OR_RETURN(const GpuIdentity gpu, resolve_gpu(name, machine.gpus));
    uuids.insert(gpu.uuid);
  }
  return uuids;
}

// Ends the leases on these GPUs and has them restored.
Result<void> reset(const std::string& socket, const std::set<GpuUuid>& gpus) {
  ASSIGN_OR_RETURN(DaemonConnection connection, DaemonConnection::connect(socket));
  wire::ResetRequest request;
  request.gpus.assign(gpus.begin(), gpus.end());
  RETURN_IF_ERROR(connection.ask<wire::Done>(request, kRestoreDeadline));
  return {};
}

Result<void> grant(const std::string& state, const std::string& socket, const std::string& job,
                   const std::string& uid, const std::string& gpus) {
  const auto user = parse_integer(uid);
  if (!user || *user < 0 || *user > UINT32_MAX) return usage_of_rights("--uid is no user's number");
  JobRight right{job, static_cast<uid_t>(*user), {}};
  ASSIGN_OR_RETURN(right.gpus, uuids_of(gpus));
  RETURN_IF_ERROR(prepare_state_folder(state));
  RETURN_IF_ERROR(grant_job(state, right));
  // Whoever was alone on a GPU until now may have changed it.
  const std::set<GpuUuid> shared = shared_gpus(state, right);
  return shared.empty() ? Result<void>() : reset(socket, shared);
}

Result<void> revoke(const std::string& state, const std::string& socket, const std::string& job) {
  const Result<JobRight> right = revoke_job(state, job);
  if (!right && right.error().code == ErrorCode::kNotFound) return {};
  if (!right) return right.error();
  return reset(socket, right->gpus);
}

}  // namespace

Result<void> change_job_rights(const std::vector<std::string>& arguments) {
  std::map<std::string, std::string> given = {{"--socket", default_socket_path()},
                                              {"--state", default_state_folder()}};
  if (arguments.size() % 2 != 0) return usage_of_rights(arguments.back() + " needs a value");
  for (std::size_t i = 0; i < arguments.size(); i += 2) given[arguments[i]] = arguments[i + 1];
  const bool granting = given.contains("--grant");
  for (const auto& [name, value] : given) {
    const bool known = name == "--socket" || name == "--state" ||
                       name == (granting ? "--grant" : "--revoke") ||
                       (granting && (name == "--uid" || name == "--gpus"));
    if (!known) return usage_of_rights(fmt::format("{} has no place here", name));
  }
  if (!granting) return revoke(given["--state"], given["--socket"], given["--revoke"]);
  if (!given.contains("--uid") || !given.contains("--gpus")) {
    return usage_of_rights("--grant needs --uid and --gpus");
  }
  return grant(given["--state"], given["--socket"], given["--grant"], given["--uid"],
               given["--gpus"]);
}

}  // namespace hypermile
