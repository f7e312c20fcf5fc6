// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <gtest/gtest.h>

#include "cli/cli.h"

namespace hypermile {
namespace {

TEST(Completion, KnowsEveryCommandAndOptionInEveryShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = completion(shell, all_commands());

    ASSERT_TRUE(script.ok());
    const std::string dashes = std::string(shell) == "fish" ? "-l " : "--";
    for (const Command* command : all_commands()) {
      EXPECT_NE(script->find(command->name), std::string::npos) << shell;
      for (const OptionSpec& spec : options_of(command->name)) {
        EXPECT_NE(script->find(dashes + std::string(spec.name)), std::string::npos)
            << shell << " --" << spec.name;
      }
    }
  }
}

TEST(Completion, KnowsPoliciesWorkloadsAndGpus) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = completion(shell, all_commands()).value();

    for (const char* name : {"gpoeo", "resnet50", "sim:h200"})
      EXPECT_NE(script.find(name), std::string::npos) << shell << " " << name;
  }
}

TEST(Completion, OfAnotherShellIsRefusedWithThoseThereAre) {
  const auto script = completion("csh", all_commands());

  ASSERT_FALSE(script.ok());
  EXPECT_EQ(script.error().line(), "no completion for 'csh'; there is one for bash, zsh and fish");
}

}  // namespace
}  // namespace hypermile
