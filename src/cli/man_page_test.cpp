// SPDX-License-Identifier: Apache-2.0
#include "cli/man_page.h"

#include <gtest/gtest.h>

#include "cli/cli.h"

namespace hypermile {
namespace {

std::string in_roff(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '-' ? "\\-" : std::string(1, c);
  return out;
}

TEST(ManPage, EveryCommandHasOneWithAllItsOptions) {
  const std::string overview = man_page(all_commands());

  for (const Command* command : all_commands()) {
    const std::string page = man_page(*command);
    EXPECT_NE(overview.find("hypermile\\-" + std::string(command->name)), std::string::npos);
    EXPECT_TRUE(page.starts_with(".TH HYPERMILE\\-")) << page;
    for (const OptionSpec& spec : options_of(command->name)) {
      EXPECT_NE(page.find("\\-\\-" + in_roff(spec.name)), std::string::npos)
          << command->name << " --" << spec.name;
    }
  }
}

TEST(ManPage, NoTextIsTakenForARequest) {
  for (const Command* command : all_commands()) {
    const std::string page = man_page(*command);
    for (std::size_t at = page.find("\n."); at != std::string::npos;
         at = page.find("\n.", at + 1)) {
      EXPECT_TRUE(page[at + 2] >= 'A' && page[at + 2] <= 'z') << page.substr(at, 40);
    }
    EXPECT_EQ(page.find("\n'"), std::string::npos);
  }
}

}  // namespace
}  // namespace hypermile
