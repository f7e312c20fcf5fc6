// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/daemon_main.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace hypermile {
namespace {

struct Said {
  int code = 0;
  std::string out, err;
};

Said check(const std::string& text) {
  const auto path = std::filesystem::path(::testing::TempDir()) /
                    ("hypermiled_check_" + std::to_string(::getpid()) + ".toml");
  std::ofstream(path) << text;
  ::chmod(path.c_str(), 0644);
  std::ostringstream out, err;
  const int code = daemon_main({"--check", path.string()}, out, err);
  std::filesystem::remove(path);
  return {code, out.str(), err.str()};
}

TEST(DaemonCheck, SaysWhatAConfigurationAllows) {
  const Said said = check(
      "[[allow]]\neveryone = true\ngpus = [\"all\"]\nsm_clock = [800, 1980]\n"
      "[[baseline]]\ngpus = [\"all\"]\npower_limit = 600\n");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.out.find(".toml: right; 1 rule, 1 baseline\n"), std::string::npos) << said.out;

  EXPECT_NE(check("").out.find("0 rules, 0 baselines; only root may lease GPUs"),
            std::string::npos);
}

TEST(DaemonCheck, TellsOfTheRightsOfJobs) {
  EXPECT_NE(check("[slurm]\nsm_clock = [800, 1980]\n").out.find("; users of running jobs may"),
            std::string::npos);
  EXPECT_NE(check("slrm = 1\n").err.find("slurm"), std::string::npos) << "a key that is known";
}

TEST(DaemonCheck, NamesFileAndLineOfAMistake) {
  const Said said = check("[[allow]]\neveryone = true\ngpus = [\"all\"]\nsm_clok = [800, 1980]\n");
  EXPECT_EQ(said.code, 1);
  EXPECT_NE(said.err.find(".toml:4"), std::string::npos) << said.err;
}

TEST(DaemonCheck, WarnsOfUsersWhomThisMachineDoesNotKnow) {
  const Said said = check("[[allow]]\nusers = [\"nobody-of-this-name\"]\ngpus = [\"all\"]\n");
  EXPECT_EQ(said.code, 0);
  EXPECT_NE(said.err.find("nobody-of-this-name"), std::string::npos) << said.err;
}

TEST(DaemonCheck, WantsOneFileThatExists) {
  std::ostringstream out, err;
  EXPECT_EQ(daemon_main({"--check"}, out, err), 2);
  EXPECT_EQ(daemon_main({"--check", "/nonexistent/hypermiled.toml"}, out, err), 1);
}

}  // namespace
}  // namespace hypermile
