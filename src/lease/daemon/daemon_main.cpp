// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/daemon_main.h"

#include <fmt/format.h>

#include <iostream>

#include "base/version.h"
#include "lease/daemon/daemon_config.h"
#include "lease/daemon/daemon_process.h"
#include "lease/daemon/guardian_session.h"
#include "lease/protocol/socket_address.h"

namespace hypermile {
namespace {

constexpr const char* kHelp =
    "hypermiled: leases GPU clocks to users and restores every GPU afterwards\n\n"
    "usage: hypermiled [--config F.toml] [--socket PATH] [--state FOLDER]\n"
    "       hypermiled --guardian                    (started by hypermile itself)\n\n"
    "  --config F.toml   allow-list, baseline, limits (default /etc/hypermile/hypermiled.toml)\n"
    "  --socket PATH     socket on which clients connect (default /run/hypermile/hypermiled.sock)\n"
    "  --state FOLDER    folder of its journals (default /run/hypermile/state)\n"
    "  --guardian        serve the one client on standard input, then restore the GPUs and end\n"
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
    if (name == "--guardian") {
      options.guardian = true;
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
  if (options.guardian && paths) return usage("a guardian takes no other option");
  return options;
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
  const Result<DaemonOptions> options = parse(arguments);
  if (!options) return failed(options.error());
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
