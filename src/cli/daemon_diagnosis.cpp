// SPDX-License-Identifier: Apache-2.0
#include "cli/daemon_diagnosis.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/version.h"
#include "lease/daemon/daemon_process.h"
#include "lease/protocol/daemon_connection.h"
#include "lease/protocol/guardian_start.h"
#include "lease/protocol/socket_address.h"

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

bool in_path(const char* program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

DoctorFinding without_daemon(const std::string& socket) {
  if (unit_installed()) {
    return {"daemon", DoctorVerdict::kWarn,
            fmt::format("no daemon serves {}, although it is installed", socket),
            "systemctl enable --now hypermiled"};
  }
  const bool guardian =
      !default_guardian_program().empty() && (::geteuid() == 0 || in_path("sudo"));
  if (guardian) {
    return {"daemon", DoctorVerdict::kOk,
            "no daemon: each run starts a guardian, as root through sudo", ""};
  }
  return {"daemon", DoctorVerdict::kWarn,
          "no daemon, and no guardian can be started: clocks stay as they are",
          "install hypermiled ('make install'), see docs/guide/administrator.md"};
}

DoctorFinding with_daemon(const wire::DaemonStatus& status) {
  const auto allowed = std::ranges::count_if(status.gpus, &wire::GpuStatus::allowed);
  DoctorFinding finding{"daemon", DoctorVerdict::kOk,
                        fmt::format("hypermiled {} (pid {}) serves {} GPU(s), you may lease {}",
                                    status.version, status.pid, status.gpus.size(), allowed),
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
  return finding;
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

std::vector<DoctorFinding> diagnose_daemon() {
  std::vector<DoctorFinding> findings;
  const std::string socket = default_socket_path();
  auto connection = DaemonConnection::connect(socket);
  if (!connection) {
    const Error& error = connection.error();
    findings.push_back(error.code == ErrorCode::kNotFound
                           ? without_daemon(socket)
                           : DoctorFinding{"daemon", DoctorVerdict::kWarn, error.message,
                                           "in a container, bind-mount the socket's folder"});
  } else {
    const auto status = connection->ask<wire::DaemonStatus>(wire::StatusRequest{}, kDeadline);
    if (status) {
      findings.push_back(with_daemon(*status));
      for (const wire::GpuStatus& gpu : status->gpus) {
        if (gpu.trouble.empty()) continue;
        findings.push_back(
            {"lease", DoctorVerdict::kWarn, fmt::format("{}: {}", gpu.gpu.text(), gpu.trouble),
             "hypermiled keeps trying; use 'hypermile reset --gpu' if that does not help"});
      }
    } else {
      findings.push_back(
          {"daemon", DoctorVerdict::kWarn, status.error().message, status.error().remedy});
    }
  }
  look_at_journals(findings);
  return findings;
}

}  // namespace hypermile
