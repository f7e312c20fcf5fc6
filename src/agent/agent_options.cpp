// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse.h"
#include "nodes/node_list.h"

namespace hypermile {
namespace {

Error usage(std::string message) {
  return Error{ErrorCode::kUsage, std::move(message), "see 'hypermile-agent --help'"};
}

std::string filled(std::string text, std::string_view mark, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(mark, at)) != text.npos; at += value.size()) {
    text.replace(at, mark.size(), value);
  }
  return text;
}

Result<void> read_ports(const std::string& value, AgentOptions& options) {
  const std::size_t dash = value.find('-');
  if (dash == value.npos) return usage("--ports must be FIRST-LAST");
  const auto first = parse_integer(value.substr(0, dash));
  const auto last = parse_integer(value.substr(dash + 1));
  if (!first || !last || *first < 1024 || *last > 65'535 || *last <= *first) {
    return usage("--ports must be FIRST-LAST, from 1024 to 65535");
  }
  options.first_port = static_cast<int>(*first);
  options.last_port = static_cast<int>(*last);
  return {};
}

Result<void> set(const std::string& name, const std::string& value, AgentOptions& options,
                 std::string& node) {
  if (name == "--job") options.job = value;
  if (name == "--node") node = value;
  if (name == "--address") options.address = value;
  if (name == "--policy") options.policy = value;
  if (name == "--log") options.log = value;
  if (name == "--summary") options.summary = value;
  if (name == "--munge-socket") options.munge_socket = value;
  if (name == "--ports") return read_ports(value, options);
  if (name == "--nodes") {
    ASSIGN_OR_RETURN(options.nodes, expand_node_list(value));
  }
  if (name == "--max-slowdown") {
    const Result<double> bound = parse_slowdown(value);
    if (!bound) return bound.error().in("--max-slowdown");
    options.objective.max_slowdown = *bound;
  }
  return {};
}

// By name, or "#2" for the third.
Result<std::size_t> place_of(const std::string& node, const std::vector<std::string>& nodes) {
  if (node.starts_with('#')) {
    const auto place = parse_integer(std::string_view(node).substr(1));
    if (place && *place >= 0 && static_cast<std::size_t>(*place) < nodes.size()) {
      return static_cast<std::size_t>(*place);
    }
  }
  const auto self = std::ranges::find(nodes, node);
  if (self == nodes.end()) {
    return usage(fmt::format("node '{}' is not among the nodes of the step", node));
  }
  return static_cast<std::size_t>(self - nodes.begin());
}

}  // namespace

const char* const kAgentHelp =
    "hypermile-agent: follows the ranks of one job step on one node, and decides with the agents\n"
    "of its other nodes about their clocks\n\n"
    "usage: hypermile-agent --job JOB.STEP --nodes LIST --node NAME [OPTION]…\n\n"
    "  --job JOB.STEP      the job step\n"
    "  --nodes LIST        its nodes, as in SLURM_STEP_NODELIST\n"
    "  --node NAME         this node, or #2 for the third of them\n"
    "  --max-slowdown S    how much slower the job may become (default 5%)\n"
    "  --observe           change nothing\n"
    "  --policy P          as for 'hypermile run'\n"
    "  --address TEMPLATE  where a node is reached: %n is its name, %i its place (default %n)\n"
    "  --ports FIRST-LAST  ports of agents (default 20000-29999)\n"
    "  --log F.jsonl       event log: %j is the job step, %n the node\n"
    "  --summary F.json    summary of the run, likewise\n"
    "  --munge-socket S    socket of munged\n"
    "  --help, --version\n\n"
    "It prints the variables for the ranks' environment on standard output, closes it, and ends "
    "when\n"
    "its standard input does. See docs/reference/agents.md.\n";

Result<AgentOptions> parse_agent_options(const std::vector<std::string>& arguments) {
  static constexpr std::string_view kWithValue[] = {
      "--job",     "--nodes", "--node", "--max-slowdown", "--policy",
      "--address", "--ports", "--log",  "--summary",      "--munge-socket"};
  AgentOptions options;
  std::string node;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--observe") {
      options.observe = true;
      continue;
    }
    if (std::ranges::find(kWithValue, name) == std::end(kWithValue)) {
      return usage(fmt::format("unknown option '{}'", name));
    }
    if (i + 1 == arguments.size() || arguments[i + 1].empty()) {
      return usage(name + " needs a value");
    }
    RETURN_IF_ERROR(set(name, arguments[++i], options, node));
  }
  if (options.job.empty() || options.nodes.empty() || node.empty()) {
    return usage("--job, --nodes and --node must be given");
  }
  ASSIGN_OR_RETURN(options.self, place_of(node, options.nodes));
  const std::string& name = options.nodes[options.self];
  for (std::optional<std::string>* file : {&options.log, &options.summary}) {
    if (*file) **file = filled(filled(**file, "%n", name), "%j", options.job);
  }
  return options;
}

std::string agent_address(const AgentOptions& options, std::size_t node) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a, the same on every host
  for (const char c : options.job) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  const auto first = static_cast<std::uint64_t>(options.first_port);
  const std::uint64_t range = static_cast<std::uint64_t>(options.last_port) - first + 1;
  const std::uint64_t port = first + (hash + node) % range;
  const std::string host =
      filled(filled(options.address, "%n", options.nodes[node]), "%i", std::to_string(node));
  return fmt::format("{}:{}", host, port);
}

}  // namespace hypermile
