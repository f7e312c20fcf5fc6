// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/daemon_config.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "testing/scratch_folder.h"

namespace hypermile {
namespace {

AccountNames names() {
  AccountNames result;
  result.user = [](const std::string& name) {
    return name == "alice" ? std::optional<uid_t>(1001) : std::nullopt;
  };
  result.group = [](const std::string& name) {
    return name == "ml" ? std::optional<gid_t>(50) : std::nullopt;
  };
  return result;
}

Result<DaemonConfig> parse(std::string_view text) {
  return parse_daemon_config(text, "h.toml", names());
}

std::string problem(std::string_view text) {
  const auto config = parse(text);
  return config ? "" : config.error().line();
}

TEST(DaemonConfig, AllowsNothingWhenEmpty) {
  const auto config = parse("");

  ASSERT_TRUE(config.ok());
  EXPECT_TRUE(config->allow.rules.empty());
  EXPECT_TRUE(config->baseline(GpuUuid("GPU-1")).empty());
}

TEST(DaemonConfig, ReadsRulesLimitsAndBaselines) {
  const auto config = parse(R"(
[limits]
connections = 100
connections_per_user = 4
longest_ttl = "30s"

[administrators]
groups = ["ml"]

[[allow]]
users = ["alice", "1002"]
gpus = ["GPU-1", "GPU-2"]
sm_clock = [600, 1980]
longest_lease = "12h"
beyond = "clamp"

[[allow]]
everyone = true
gpus = ["all"]
power_limit = [200, 300]

[[baseline]]
gpus = ["GPU-1"]
power_limit = 350
)");

  ASSERT_TRUE(config.ok()) << config.error().line();
  EXPECT_EQ(config->connections, 100U);
  EXPECT_EQ(config->connections_per_user, 4U);
  EXPECT_EQ(config->longest_ttl, Seconds(30));
  EXPECT_EQ(config->allow.administrators.groups, std::set<gid_t>{50});
  ASSERT_EQ(config->allow.rules.size(), 2U);
  const Rule& rule = config->allow.rules[0];
  EXPECT_EQ(rule.subjects.users, (std::set<uid_t>{1001, 1002}));
  EXPECT_EQ(rule.gpus, (std::set<GpuUuid>{GpuUuid("GPU-1"), GpuUuid("GPU-2")}));
  EXPECT_EQ(rule.rights.bounds.sm_clock, (KnobRange{600, 1980}));
  EXPECT_FALSE(rule.rights.bounds.memory_clock.has_value())
      << "memory control is off unless written";
  EXPECT_EQ(rule.rights.longest_lease, Seconds(12 * 3600));
  EXPECT_TRUE(rule.rights.bounds.clamp);
  EXPECT_TRUE(config->allow.rules[1].subjects.everyone);
  EXPECT_TRUE(config->allow.rules[1].gpus.empty());
  EXPECT_EQ(config->baseline(GpuUuid("GPU-1")).power_limit, Watts(350));
  EXPECT_TRUE(config->baseline(GpuUuid("GPU-2")).empty());
  EXPECT_TRUE(config->warnings.empty());
}

TEST(DaemonConfig, ReadsWhatRunningJobsMayDo) {
  const auto config = parse_daemon_config("[slurm]\nsm_clock = [800, 1980]\nbeyond = \"clamp\"\n",
                                          "hypermiled.toml", machine_accounts());

  ASSERT_TRUE(config) << config.error().line();
  ASSERT_TRUE(config->job_rights.has_value());
  EXPECT_EQ(config->job_rights->bounds.sm_clock->min, 800);
  EXPECT_FALSE(config->job_rights->bounds.power_limit.has_value());
  EXPECT_TRUE(config->job_rights->bounds.clamp);
  EXPECT_FALSE(parse_daemon_config("", "f", machine_accounts())->job_rights.has_value());
  EXPECT_FALSE(parse_daemon_config("[slurm]\nusers = [\"x\"]\n", "f", machine_accounts()));
}

TEST(DaemonConfig, WarnsOfUnknownNamesAndAllowsThemNothing) {
  const auto config = parse("[[allow]]\nusers = ['bob']\ngroups = ['x']\ngpus = ['all']\n");

  ASSERT_TRUE(config.ok());
  ASSERT_EQ(config->warnings.size(), 2U);
  EXPECT_NE(config->warnings[0].find("no user 'bob'"), std::string::npos);
  EXPECT_FALSE(config->allow.rights(Peer{1000, {1000}, 1, false}, GpuUuid("GPU-1")).ok());
}

TEST(DaemonConfig, NamesTheLineOfAMistake) {
  EXPECT_EQ(problem("[[allow]\n").substr(0, 9), "h.toml:1:");
  EXPECT_EQ(problem("\n[[alow]]\n").substr(0, 9), "h.toml:2:");
  EXPECT_NE(problem("[[allow]]\nusers = ['alice']\n").find("has no gpus"), std::string::npos);
  EXPECT_NE(problem("[[allow]]\ngpus = []\n").find("gpus is empty"), std::string::npos);
  EXPECT_NE(problem("[[allow]]\ngpus = ['all', 'GPU-1']\n").find("whole UUIDs"), std::string::npos);
  EXPECT_NE(problem("[[allow]]\ngpus = ['0']\n").find("whole UUIDs"), std::string::npos);
  EXPECT_NE(problem("[[allow]]\ngpus = ['all']\nsm_clock = [900, 600]\n")
                .find("h.toml:3: [allow 1] sm_clock must be [lowest, highest]"),
            std::string::npos);
  EXPECT_NE(problem("[[allow]]\ngpus = ['all']\nbeyond = 'trim'\n").find("beyond must"),
            std::string::npos);
  EXPECT_NE(problem("[[allow]]\ngpus = ['all']\nlongest_lease = 'soon'\n").find("duration"),
            std::string::npos);
  EXPECT_NE(problem("[[baseline]]\ngpus = ['all']\npower_limit = -1\n").find("power_limit is -1"),
            std::string::npos);
  EXPECT_NE(problem("[administrators]\neveryone = true\n").find("unknown key everyone"),
            std::string::npos);
}

TEST(DaemonConfig, IsReadOnlyFromAFileThatCanBeTrusted) {
  const ScratchFolder folder;
  const std::string path = folder.file("hypermiled.toml");
  const std::string link = path + ".link";
  EXPECT_TRUE(read_daemon_config(path + ".absent", names()).ok()) << "nothing written, all denied";
  std::ofstream(path) << "[limits]\nconnections = 7\n";

  ::chmod(path.c_str(), 0644);
  EXPECT_EQ(read_daemon_config(path, names())->connections, 7U);
  ::chmod(path.c_str(), 0664);
  EXPECT_EQ(read_daemon_config(path, names()).error().code, ErrorCode::kPermission);
  ::chmod(path.c_str(), 0644);
  std::filesystem::create_symlink(path, link);
  EXPECT_EQ(read_daemon_config(link, names()).error().code, ErrorCode::kPermission);
  const std::string pipe = path + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(read_daemon_config(pipe, names()).error().code, ErrorCode::kPermission);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path.c_str(), 12345, 0), 0);
    EXPECT_EQ(read_daemon_config(path, names()).error().code, ErrorCode::kPermission);
  }
  std::ofstream(path) << std::string(2 << 20, '#');
  EXPECT_FALSE(read_daemon_config(path, names()).ok());
}

}  // namespace
}  // namespace hypermile
