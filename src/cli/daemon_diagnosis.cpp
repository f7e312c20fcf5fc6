// SPDX-License-Identifier: Apache-2.0
#include "cli/daemon_diagnosis.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/terminal_text.h"
#include "base/version.h"
#include "gpu/nvml/nvml_setters.h"
#include "lease/daemon/daemon_process.h"
#include "lease/protocol/daemon_connection.h"
#include "lease/protocol/guardian_start.h"
#include "lease/protocol/socket_address.h"
#include "run/clock_access.h"

namespace hypermile {
namespace {

constexpr Seconds kDeadline = Seconds(2);

bool unit_installed() {
  for (const char* folder : {"/etc/systemd/system/", "/usr/local/lib/systemd/system/",
                             "/usr/lib/systemd/system/", "/lib/systemd/system/"}) {
    if (::access((std::string(folder) + "hypermiled.service").c_str(), F_OK) == 0) return true;
  }
  return false;
}

DoctorFinding without_daemon(const std::string& socket, const RightsFacts& rights) {
  if (rights.installed) {
    return {"daemon", DoctorVerdict::kWarn,
            fmt::format("no daemon serves {}, although it is installed", socket),
            "systemctl enable --now hypermiled"};
  }
  if (!rights.guardian || (!rights.root && rights.sudo == SudoManner::kAbsent)) {
    return {"daemon", DoctorVerdict::kWarn,
            "no daemon, and no guardian can be started: clocks stay as they are",
            "install hypermiled ('make install'), see docs/guide/administrator.md"};
  }
  if (rights.root || rights.sudo == SudoManner::kFree) {
    return {"daemon", DoctorVerdict::kOk,
            fmt::format("no daemon: each run starts a guardian{}",
                        rights.root ? "" : ", as root through sudo"),
            ""};
  }
  return {"daemon", DoctorVerdict::kWarn,
          "no daemon: each run starts a guardian through sudo, which asks for a password",
          "type it when a run asks, or let an administrator start the daemon"};
}

std::vector<DoctorFinding> with_daemon(const wire::DaemonStatus& status) {
  const auto allowed = std::ranges::count_if(status.gpus, &wire::GpuStatus::allowed);
  DoctorFinding finding{
      "daemon", DoctorVerdict::kOk,
      fmt::format("hypermiled {} (pid {}) serves {}, you may lease {}", status.version, status.pid,
                  counted(status.gpus.size(), "GPU"), allowed),
      ""};
  const auto warn = [&](const std::string& detail, const std::string& fix) {
    finding.verdict = DoctorVerdict::kWarn;
    finding.detail += "; " + detail;
    if (finding.fix.empty()) finding.fix = fix;
  };
  if (!status.trouble.empty()) warn(status.trouble, "see 'systemctl status hypermiled'");
  if (status.closed) warn("closed to new leases", "hypermile reset --reopen");
  if (status.version != kVersion) {
    warn(fmt::format("this program is hypermile {}", kVersion), "install the same version of both");
  }
  if (!status.gpus.empty() && allowed == 0) {
    warn("you may lease none of them", "ask the administrator for a rule in hypermiled.toml");
  }
  std::vector<DoctorFinding> findings = {finding};
  for (const wire::GpuStatus& gpu : status.gpus) {
    if (gpu.trouble.empty()) continue;
    findings.push_back(
        {"lease", DoctorVerdict::kWarn, fmt::format("{}: {}", gpu.gpu.text(), gpu.trouble),
         "hypermiled keeps trying; use 'hypermile reset --gpu' if that does not help"});
  }
  return findings;
}

// Journals that a crash may have damaged; only root can read their folder.
void look_at_journals(std::vector<DoctorFinding>& findings) {
  std::error_code problem;
  int damaged = 0;
  const std::string folder = default_state_folder();
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    if (entry.path().filename().string().find(".damaged") != std::string::npos) ++damaged;
  }
  if (damaged == 0) return;
  findings.push_back({"journal", DoctorVerdict::kWarn,
                      fmt::format("{} damaged journal(s) kept in {}", damaged, folder),
                      "the GPUs were reset because of it; look at the disk, then remove them"});
}

}  // namespace

DaemonDiagnosis diagnose_daemon() {
  DaemonDiagnosis found;
  RightsFacts& rights = found.rights;
  rights.read_only = read_only_mode();
  rights.root = ::geteuid() == 0;
  rights.installed = unit_installed();
  rights.guardian = !default_guardian_program().empty();
  rights.somebody_can_answer = somebody_can_answer();
  const std::string socket = default_socket_path();
  auto connection = DaemonConnection::connect(socket);
  const auto status = connection
                          ? connection->ask<wire::DaemonStatus>(wire::StatusRequest{}, kDeadline)
                          : Result<wire::DaemonStatus>(connection.error());
  if (status) {
    rights.daemon = true;
    rights.closed = status->closed;
    rights.gpus = status->gpus.size();
    rights.allowed =
        static_cast<std::size_t>(std::ranges::count_if(status->gpus, &wire::GpuStatus::allowed));
    found.findings = with_daemon(*status);
  } else if (!connection && status.error().code == ErrorCode::kNotFound) {
    if (!rights.root && rights.guardian) {
      rights.sudo = sudo_manner({default_guardian_program(), false, "sudo"});
    }
    found.findings.push_back(without_daemon(socket, rights));
  } else {
    rights.no_answer = status.error();
    found.findings.push_back(
        {"daemon", DoctorVerdict::kWarn, status.error().message,
         connection ? status.error().remedy : "in a container, bind-mount the socket's folder"});
  }
  look_at_journals(found.findings);
  return found;
}

}  // namespace hypermile
