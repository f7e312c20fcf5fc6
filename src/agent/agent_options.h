// SPDX-License-Identifier: Apache-2.0
//
// The command line of an agent (docs/reference/agents.md). The SPANK plugin and `hypermile run
// --nodes-from` write it; people rarely do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "nodes/torchrun.h"
#include "policy/objective.h"

namespace hypermile {

struct AgentOptions {
  std::string job;                 // "JOB.STEP"
  std::vector<std::string> nodes;  // of the step, in order
  std::size_t self = 0;            // our place among them
  std::string address = "%n";      // of a node: %n is its name, %i its place
  int first_port = 20'000, last_port = 29'999;
  bool observe = false;
  Objective objective = {};
  std::string policy = "hypermile";
  std::optional<std::string> log = {};      // %j is the job, %n the node's name
  std::optional<std::string> summary = {};  // with %j and %n, too
  std::string munge_socket = {};
  bool comment = false;  // write what was used and saved into the Slurm job's comment
  bool quiet = false;    // show no live line while `command` runs
  // Without a batch system: the command to run, the host of the first node, and the secret of the
  // job. The other hosts are learnt from the first.
  std::vector<std::string> command = {};
  std::string master = {};
  std::string secret_file = {};

  bool under_torchrun() const { return !master.empty(); }
};

// kUsage names the option. kPermission where an agent without a secret would have to listen beyond
// the loopback.
Result<AgentOptions> parse_agent_options(const std::vector<std::string>& arguments,
                                         const ReadVariable& variable);

// "HOST:PORT" of a node; "" where its host must be learnt. Every agent of a step works out the
// same: the port follows from the job and from the node's place, so that two steps rarely meet and
// several nodes may share a machine.
std::string agent_address(const AgentOptions& options, std::size_t node);
std::string address_at(const AgentOptions& options, std::size_t node, const std::string& host);
// Where this agent listens.
std::string listening_address(const AgentOptions& options);

extern const char* const kAgentHelp;

}  // namespace hypermile
