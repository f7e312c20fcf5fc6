// SPDX-License-Identifier: Apache-2.0
#include "run/invoking_user.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "run/job.h"

namespace hypermile {
namespace {

Environment with(std::initializer_list<std::pair<const char*, const char*>> variables) {
  Environment environment;
  for (const auto& [name, value] : variables) environment.set(name, value);
  return environment;
}

// Debian has this account on every machine.
const passwd& somebody() {
  static const passwd entry = *::getpwnam("nobody");
  return entry;
}

TEST(InvokingUser, IsWhoeverRunsUsWithoutSudo) {
  EXPECT_EQ(*invoking_user(1000, with({{"SUDO_UID", "12"}})), std::nullopt)
      << "variables mean nothing unless we are root";
  EXPECT_EQ(*invoking_user(0, with({})), std::nullopt);
  EXPECT_EQ(*invoking_user(0, with({{"SUDO_UID", "0"}})), std::nullopt);
}

TEST(InvokingUser, IsWhoTypedSudo) {
  const auto user = invoking_user(
      0, with({{"SUDO_UID", std::to_string(somebody().pw_uid).c_str()}, {"SUDO_GID", "0"}}));

  ASSERT_TRUE(user.ok()) << user.error().line();
  ASSERT_TRUE(user->has_value());
  EXPECT_EQ((*user)->uid, somebody().pw_uid);
  EXPECT_EQ((*user)->gid, somebody().pw_gid);
  EXPECT_EQ((*user)->name, "nobody");
  EXPECT_EQ((*user)->home, somebody().pw_dir);
  EXPECT_EQ(std::ranges::count((*user)->groups, somebody().pw_gid), 1);
  EXPECT_EQ(std::ranges::count((*user)->groups, gid_t{0}), 0);
}

TEST(InvokingUser, IsNeverRootByMistake) {
  for (const char* text : {"", "root", "1000x", "-1", "99999999999999", "4123456789"}) {
    const auto user = invoking_user(0, with({{"SUDO_UID", text}}));

    ASSERT_FALSE(user.ok()) << text;
    EXPECT_EQ(user.error().code, ErrorCode::kPermission);
  }
}

TEST(InvokingUser, GetsTheirOwnEnvironment) {
  Environment environment = with({{"HOME", "/root"},
                                  {"USER", "root"},
                                  {"PATH", "/bin"},
                                  {"SUDO_UID", "1"},
                                  {"SUDO_COMMAND", "hypermile"}});
  JobUser user;
  user.name = "ada";
  user.home = "/home/ada";
  user.shell = "/bin/zsh";

  become(user, environment);

  const std::vector<std::string> expected = {"HOME=/home/ada", "LOGNAME=ada", "PATH=/bin",
                                             "SHELL=/bin/zsh", "USER=ada"};
  EXPECT_EQ(environment.strings(), expected);
}

TEST(InvokingUser, RunsTheJobWithTheirRightsAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const std::string uid = std::to_string(somebody().pw_uid);
  JobCommand command;
  command.environment = Environment::from(environ);
  command.environment.set("SUDO_UID", uid);
  command.signals = SignalState::current();
  command.user = *invoking_user(0, command.environment);
  become(*command.user, command.environment);
  command.arguments = {"bash", "-c",
                       "test $(id -u) = " + uid + " && test $(id -ru) = " + uid +
                           " && test \"$(id -G)\" = " + std::to_string(somebody().pw_gid) +
                           " && test $USER = nobody && ! test -w /etc/passwd"};

  const Result<pid_t> job = start_job(command);

  ASSERT_TRUE(job.ok()) << job.error().line();
  int status = 0;
  ::waitpid(*job, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Environment, KeepsWhatItIsGiven) {
  const char* variables[] = {"A=1", "B=", "C=x=y", "broken", "=odd", "A=2", nullptr};

  const Environment environment = Environment::from(variables);

  EXPECT_EQ(environment.strings(), (std::vector<std::string>{"A=1", "B=", "C=x=y"}));
  EXPECT_EQ(environment.get("C"), "x=y");
  EXPECT_EQ(environment.get("D"), std::nullopt);
}

}  // namespace
}  // namespace hypermile
