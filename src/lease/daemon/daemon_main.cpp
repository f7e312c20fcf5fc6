// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/daemon_main.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "base/terminal_text.h"
#include "base/version.h"
#include "lease/daemon/crash_recovery.h"
#include "lease/daemon/daemon_config.h"
#include "lease/daemon/daemon_process.h"
#include "lease/daemon/guardian_session.h"
#include "lease/daemon/job_rights_main.h"
#include "lease/daemon/privileged_start.h"
#include "lease/daemon/system_log.h"
#include "lease/protocol/socket_address.h"

namespace hypermile {
namespace {

constexpr const char* kHelp =
    "hypermiled: leases GPU clocks to users and restores every GPU afterwards\n\n"
    "usage: hypermiled [--config F.toml] [--socket PATH] [--state FOLDER]\n"
    "       hypermiled --check F.toml                (is this configuration right?)\n"
    "       hypermiled --guardian                    (started by hypermile itself)\n"
    "       hypermiled --recover [--state FOLDER]    (what a crashed hypermiled becomes)\n"
    "       hypermiled --grant JOB --uid UID --gpus G[,G…]   (a batch system's prolog)\n"
    "       hypermiled --revoke JOB                  (its epilog)\n\n"
    "  --config F.toml   allow-list, baseline, limits (default /etc/hypermile/hypermiled.toml)\n"
    "  --socket PATH     socket on which clients connect (default /run/hypermile/hypermiled.sock)\n"
    "  --state FOLDER    folder of its journals (default /run/hypermiled)\n"
    "  --check F.toml    read a configuration, say what it allows or what is wrong, and end\n"
    "  --guardian        serve the one client on standard input, then restore the GPUs and end\n"
    "  --recover         restore what dead processes left changed, and end\n"
    "  --grant JOB       let user UID change the clocks of these GPUs while the job runs\n"
    "  --revoke JOB      take that right away, end its leases and restore the GPUs\n"
    "  --help, --version\n\n"
    "See docs/guide/administrator.md.\n";

Error usage(std::string message) {
  return Error{ErrorCode::kUsage, std::move(message), "see 'hypermiled --help'"};
}

Result<DaemonOptions> parse(const std::vector<std::string>& arguments) {
  DaemonOptions options;
  bool paths = false;
  options.socket = default_socket_path();
  options.state = default_state_folder();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--guardian" || name == "--recover") {
      (name == "--guardian" ? options.guardian : options.recover) = true;
      continue;
    }
    if (name != "--config" && name != "--socket" && name != "--state")
      return usage(fmt::format("unknown option '{}'", name));
    if (i + 1 == arguments.size() || arguments[i + 1].empty())
      return usage(name + " needs a value");
    const std::string& value = arguments[++i];
    if (name == "--config") options.config = value;
    if (name == "--socket") options.socket = value;
    if (name == "--state") options.state = value;
    paths = true;
  }
  // A user who may run a guardian through sudo must not choose where root writes.
  if (options.guardian && (paths || options.recover)) {
    return usage("a guardian takes no other option");
  }
  return options;
}

// Reads it as the daemon would, on this machine; also for somebody who is not root.
Result<void> check_config(const std::string& path, std::ostream& out, std::ostream& err) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) {
    return Error{ErrorCode::kNotFound, path + ": there is no such file"};
  }
  ASSIGN_OR_RETURN(const DaemonConfig config, read_daemon_config(path, machine_accounts()));
  for (const std::string& warning : config.warnings) err << "hypermiled: " << warning << "\n";
  out << fmt::format("{}: right; {}, {}{}\n", path, counted(config.allow.rules.size(), "rule"),
                     counted(config.baselines.size(), "baseline"),
                     config.job_rights            ? "; users of running jobs may lease their GPUs"
                     : config.allow.rules.empty() ? "; only root may lease GPUs"
                                                  : "");
  return {};
}

}  // namespace

int daemon_main(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  const auto failed = [&](const Error& error) {
    err << "hypermiled: " << error.line() << std::endl;
    return error.code == ErrorCode::kUsage ? 2 : 1;
  };
  for (const std::string& argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      out << kHelp;
      return 0;
    }
    if (argument == "--version") {
      out << "hypermiled " << kVersion << "\n";
      return 0;
    }
  }
  if (!arguments.empty() && arguments.front() == "--check") {
    if (arguments.size() != 2) return failed(usage("--check needs one file"));
    const Result<void> checked = check_config(arguments[1], out, err);
    return checked ? 0 : failed(checked.error());
  }
  if (!arguments.empty() && (arguments.front() == "--grant" || arguments.front() == "--revoke")) {
    const Result<void> done = change_job_rights(arguments);
    return done ? 0 : failed(done.error());
  }
  const Result<DaemonOptions> options = parse(arguments);
  if (!options) return failed(options.error());
  if (const auto reset = reset_inherited(options->recover); !reset) return failed(reset.error());
  if (options->recover) {
    const Result<void> done = recover(*options, system_log(false));
    if (!done) failed(done.error());
    return 1;  // never a success: systemd starts the daemon again
  }
  recover_after_crashes(*options);
  if (options->guardian) {
    // Report this failure now, while the owner can still read it.
    if (const auto folder = prepare_state_folder(options->state); !folder) {
      return failed(folder.error());
    }
    const auto config = read_daemon_config(options->config, machine_accounts());
    if (!config) return failed(config.error());
    const Result<bool> child = start_guardian_session();
    if (!child) return failed(child.error());
    if (!*child) return 0;
  }
  const Result<void> done = run_daemon(*options);
  return done ? 0 : failed(done.error());
}

}  // namespace hypermile
