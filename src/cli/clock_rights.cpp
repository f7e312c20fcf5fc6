// SPDX-License-Identifier: Apache-2.0
#include "cli/clock_rights.h"

#include <fmt/format.h>

namespace hypermile {
namespace {

constexpr const char* kStartDaemon = "ask an administrator: systemctl enable --now hypermiled";

ClockRights yes(std::string how) {
  return {true, std::move(how), ""};
}

ClockRights no(std::string why, std::string fix) {
  return {false, std::move(why), std::move(fix)};
}

ClockRights through_daemon(const RightsFacts& facts) {
  if (facts.closed) {
    return no("the daemon is closed to new leases",
              "an administrator opens it with 'hypermile reset --reopen'");
  }
  if (facts.gpus == 0)
    return no("the daemon has found no GPU", "see 'systemctl status hypermiled'");
  if (facts.allowed == 0) {
    return no("the daemon does not let you lease a GPU",
              "ask the administrator for a rule in hypermiled.toml");
  }
  if (facts.allowed == facts.gpus) return yes("through the daemon");
  return yes(fmt::format("through the daemon, on {} of {} GPUs", facts.allowed, facts.gpus));
}

ClockRights through_guardian(const RightsFacts& facts) {
  if (!facts.guardian) {
    return no("no daemon runs and hypermiled is not installed",
              "install it: see docs/guide/administrator.md");
  }
  if (facts.root) return yes("as root, through a guardian that each run starts");
  switch (facts.sudo) {
    case SudoManner::kFree:
      return yes("through a guardian that each run starts with sudo");
    case SudoManner::kAbsent:
      return no("no daemon runs and there is no sudo", kStartDaemon);
    case SudoManner::kAsks:
      break;
  }
  const std::string fix = facts.installed
                              ? kStartDaemon
                              : "run 'sudo -v' first, or let an administrator start the daemon";
  if (!facts.somebody_can_answer) {
    return no("no daemon runs, sudo asks for a password, and nobody is here to type it", fix);
  }
  return yes("if you can give sudo your password, which each run then asks for");
}

}  // namespace

ClockRights judge_rights(const RightsFacts& facts) {
  if (facts.read_only) return no("HYPERMILE_READ_ONLY is set", "unset it");
  if (facts.no_answer) return no(facts.no_answer->message, facts.no_answer->remedy);
  return facts.daemon ? through_daemon(facts) : through_guardian(facts);
}

std::string to_line(const ClockRights& rights) {
  if (rights.yes) return "clocks can be changed by you: yes, " + rights.words;
  return fmt::format("clocks can be changed by you: no, because {}{}{}", rights.words,
                     rights.fix.empty() ? "" : "; ", rights.fix);
}

}  // namespace hypermile
