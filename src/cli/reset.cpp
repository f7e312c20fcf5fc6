// SPDX-License-Identifier: Apache-2.0
//
// `hypermile reset`: for administrators. Ends leases and puts every knob back to the site's
// baseline or the driver's default, whoever changed it: through the daemon where one serves, else
// directly as root, with the same journal and locks.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.h"
#include "gpu/gpu_name.h"
#include "gpu/nvml/nvml_open.h"
#include "lease/daemon/daemon_process.h"
#include "lease/daemon/kept_gpus.h"
#include "lease/protocol/daemon_connection.h"
#include "lease/protocol/socket_address.h"

namespace hypermile {
namespace {

constexpr Seconds kListDeadline = Seconds(20);
constexpr Seconds kShort = Seconds(2);
constexpr Seconds kResetDeadline = Seconds(15);

struct Wanted {
  bool all = false;
  bool reopen = false;
  std::optional<Seconds> hold = {};    // how long its holder stays away from the GPU
  std::vector<GpuIdentity> gpus = {};  // the GPU that --gpu names, or all
};

Result<Wanted> wanted_gpus(const OptionValues& options) {
  Wanted wanted{options.flag("all"), options.flag("reopen"), {}, {}};
  if (options.given("for")) wanted.hold = options.duration("for");
  const int ways = static_cast<int>(wanted.all) + static_cast<int>(wanted.reopen) +
                   static_cast<int>(options.given("gpu"));
  if (ways != 1) {
    return Error{ErrorCode::kUsage, "nothing to reset was named",
                 "give --gpu G or --all, or --reopen"};
  }
  if (wanted.reopen) return wanted;
  if (wanted.all) {
    // The daemon knows its GPUs itself; this list is for a machine without a daemon.
    const Result<GpuList> machine = list_gpus_within(kListDeadline);
    if (machine) wanted.gpus = machine->gpus;
    return wanted;
  }
  ASSIGN_OR_RETURN(const GpuName name, parse_gpu_name(options.text("gpu")));
  ASSIGN_OR_RETURN(const GpuList machine, list_gpus_within(kListDeadline));
  ASSIGN_OR_RETURN(const GpuIdentity identity, resolve_gpu(name, machine.gpus));
  wanted.gpus.push_back(identity);
  return wanted;
}

// What keeps the daemon from resetting each GPU, as "; GPU: trouble" each.
std::string what_is_left() {
  std::string left;
  auto connection = DaemonConnection::connect(default_socket_path());
  if (!connection) return left;
  const auto status = connection->ask<wire::DaemonStatus>(wire::StatusRequest{}, kShort);
  if (!status) return left;
  for (const wire::GpuStatus& gpu : status->gpus) {
    if (!gpu.trouble.empty()) left += fmt::format("; {}: {}", gpu.gpu.text(), gpu.trouble);
  }
  return left;
}

Result<void> reset_through(DaemonConnection& connection, const Wanted& wanted) {
  wire::ResetRequest request{{}, wanted.all, wanted.reopen, wanted.hold};
  if (!wanted.all) {
    for (const GpuIdentity& gpu : wanted.gpus) request.gpus.push_back(gpu.uuid);
  }
  const auto done = connection.ask<wire::Done>(request, kResetDeadline);
  if (done) return {};
  if (done.error().code != ErrorCode::kTimeout) return done.error();
  return Error{ErrorCode::kTimeout, "not every GPU is reset yet" + what_is_left(),
               "the daemon keeps trying; see 'hypermile leases'"};
}

Result<void> reset_directly(const Wanted& wanted, CommandContext& context) {
  const std::string folder = default_state_folder();
  // The journals there are root's; whoever is not root must not be told to remove them.
  struct stat facts = {};
  if (::geteuid() != 0 && (::stat(folder.c_str(), &facts) != 0 || facts.st_uid != ::geteuid())) {
    return Error{ErrorCode::kPermission, "no daemon serves, and without one only root resets GPUs",
                 "run it with sudo"};
  }
  if (wanted.gpus.empty()) {
    return Error{ErrorCode::kNotFound, "there is no GPU to reset", "see 'hypermile doctor'"};
  }
  RETURN_IF_ERROR(prepare_state_folder(folder));
  ASSIGN_OR_RETURN(const DaemonConfig config,
                   read_daemon_config(DaemonOptions{}.config, machine_accounts()));
  const KeepOptions options{
      folder, fmt::format("hypermile reset (pid {})", ::getpid()), {}, &config};
  const auto files = make_real_files();
  std::string left;
  for (const auto& [identity, report] :
       restore_each(wanted.gpus, RestoreScope::kEverything, options, *files, context.clock)) {
    if (report.damage) context.err << report.damage->in(identity.uuid.text()).line() << "\n";
    if (!report.problem) continue;
    const bool kept = report.problem->code == ErrorCode::kBusy;
    left += fmt::format("{}{}: {}{}", left.empty() ? "" : "; ", identity.uuid.text(),
                        kept ? "kept by " : "", report.problem->message);
  }
  if (left.empty()) return {};
  return Error{ErrorCode::kBusy, "not every GPU is reset: " + left,
               "a guardian gives its GPU back when it is sent SIGTERM"};
}

Result<void> run_reset(const CommandArguments& arguments, CommandContext& context) {
  ASSIGN_OR_RETURN(const Wanted wanted, wanted_gpus(arguments.options));
  auto connection = DaemonConnection::connect(default_socket_path());
  const bool served = connection.ok();
  if (served) {
    RETURN_IF_ERROR(reset_through(*connection, wanted));
  } else if (connection.error().code != ErrorCode::kNotFound || wanted.reopen) {
    return connection.error();
  } else {
    RETURN_IF_ERROR(reset_directly(wanted, context));
  }
  if (arguments.options.flag("json")) {
    nlohmann::json gpus = nlohmann::json::array();
    for (const GpuIdentity& gpu : wanted.gpus) gpus.push_back(gpu.uuid.text());
    context.out << nlohmann::json{{"reset", std::move(gpus)},
                                  {"through_daemon", served},
                                  {"closed", served && wanted.all}}
                       .dump()
                << "\n";
    return {};
  }
  for (const GpuIdentity& gpu : wanted.gpus) {
    context.out << fmt::format("{} ({}) is reset\n", gpu.uuid.text(), gpu.name);
  }
  if (served && wanted.all) {
    context.out << "the daemon grants no more leases until 'hypermile reset --reopen'\n";
  }
  if (wanted.reopen) context.out << "the daemon grants leases again\n";
  return {};
}

}  // namespace

const Command kResetCommand = {
    "reset",
    "for administrators: end leases and put GPUs back to their baseline",
    "",
    "  hypermile reset --gpu 0            # its holder does not get it again while it runs\n"
    "  hypermile reset --gpu 0 --for 1h   # its holder's user does not for an hour\n"
    "  hypermile reset --all          # and grant no more leases\n"
    "  hypermile reset --reopen       # grant leases again\n",
    run_reset,
};

}  // namespace hypermile
