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
  if (name == "--secret-file") options.secret_file = value;
  if (name == "--nodes-from" && value != "torchrun") return usage("--nodes-from must be torchrun");
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

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("127.");
}

// Fills in what the command tells of its hosts.
Result<void> take_torchrun(AgentOptions& options, const ReadVariable& variable) {
  if (options.command.empty()) return usage("--nodes-from needs a command after --");
  ASSIGN_OR_RETURN(const TorchrunJob job, read_torchrun(options.command, variable));
  options.job = job.job;
  options.master = job.master;
  options.self = job.self;
  for (std::size_t node = 0; node < job.nodes; ++node) {
    options.nodes.push_back(fmt::format("host{}", node));
  }
  if (job.nodes == 1 || !options.secret_file.empty() || is_loopback(job.master)) return {};
  return Error{ErrorCode::kPermission,
               fmt::format("without a secret an agent listens on the loopback alone, and the job's "
                           "first host is {}",
                           job.master),
               "give --secret-file F: a file of mode 0600 with the same random bytes on all hosts"};
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
    "  --comment           write energy and saving into the Slurm job's comment at the end\n"
    "  --clean             only remove what killed agents of this user left in shared memory\n"
    "  --help, --version\n\n"
    "or:    hypermile-agent --nodes-from torchrun [--secret-file F] [OPTION]… -- torchrun …\n\n"
    "  --nodes-from torchrun   run the command; its options tell the hosts (no Slurm, no MUNGE)\n"
    "  --secret-file F     the job's secret, the same on all hosts, mode 0600; without it agents\n"
    "                      listen on the loopback alone\n"
    "  --quiet             no live line and no summary\n\n"
    "It prints the variables for the ranks' environment on standard output, closes it, and ends "
    "when\n"
    "its standard input does. See docs/reference/agents.md.\n";

Result<AgentOptions> parse_agent_options(const std::vector<std::string>& arguments,
                                         const ReadVariable& variable) {
  static constexpr std::string_view kWithValue[] = {
      "--job",   "--nodes", "--node",    "--max-slowdown", "--policy",     "--address",
      "--ports", "--log",   "--summary", "--munge-socket", "--nodes-from", "--secret-file"};
  AgentOptions options;
  std::string node;
  bool torchrun = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--") {
      options.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                             arguments.end());
      break;
    }
    if (bool* flag = name == "--observe"   ? &options.observe
                     : name == "--comment" ? &options.comment
                     : name == "--quiet"   ? &options.quiet
                                           : nullptr) {
      *flag = true;
      continue;
    }
    if (std::ranges::find(kWithValue, name) == std::end(kWithValue)) {
      return usage(fmt::format("unknown option '{}'", name));
    }
    if (i + 1 == arguments.size() || arguments[i + 1].empty()) {
      return usage(name + " needs a value");
    }
    torchrun = torchrun || name == "--nodes-from";
    RETURN_IF_ERROR(set(name, arguments[++i], options, node));
  }
  if (torchrun) {
    RETURN_IF_ERROR(take_torchrun(options, variable));
  } else if (options.job.empty() || options.nodes.empty() || node.empty()) {
    return usage("--job, --nodes and --node must be given");
  } else if (!options.command.empty() || !options.secret_file.empty()) {
    return usage("a command and a secret need --nodes-from torchrun");
  } else {
    ASSIGN_OR_RETURN(options.self, place_of(node, options.nodes));
  }
  const std::string& name = options.nodes[options.self];
  for (std::optional<std::string>* file : {&options.log, &options.summary}) {
    if (*file) **file = filled(filled(**file, "%n", name), "%j", options.job);
  }
  return options;
}

std::string address_at(const AgentOptions& options, std::size_t node, const std::string& host) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a, the same on every host
  for (const char c : options.job) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  const auto first = static_cast<std::uint64_t>(options.first_port);
  const std::uint64_t range = static_cast<std::uint64_t>(options.last_port) - first + 1;
  const std::uint64_t port = first + (hash + node) % range;
  return fmt::format("{}:{}", host, port);
}

std::string agent_address(const AgentOptions& options, std::size_t node) {
  if (options.under_torchrun()) {
    return node == 0 ? address_at(options, node, options.master) : std::string();
  }
  return address_at(
      options, node,
      filled(filled(options.address, "%n", options.nodes[node]), "%i", std::to_string(node)));
}

std::string listening_address(const AgentOptions& options) {
  if (!options.under_torchrun()) return agent_address(options, options.self);
  return address_at(options, options.self, options.secret_file.empty() ? "127.0.0.1" : "[::]");
}

}  // namespace hypermile
