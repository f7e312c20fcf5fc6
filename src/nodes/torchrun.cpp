// SPDX-License-Identifier: Apache-2.0
#include "nodes/torchrun.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse.h"
#include "nodes/node_list.h"

namespace hypermile {
namespace {

Error usage(std::string message, std::string remedy) {
  return Error{ErrorCode::kUsage, "--nodes-from torchrun: " + std::move(message),
               std::move(remedy)};
}

// torchrun takes "--node_rank" and "--node-rank" alike; `name` has dashes.
bool names(std::string_view word, std::string_view name) {
  return word.size() == name.size() && std::ranges::equal(word, name, [](char a, char b) {
           return a == b || (a == '_' && b == '-');
         });
}

std::optional<std::string> option(const std::vector<std::string>& command, std::string_view name) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view word = command[i];
    const std::size_t equals = word.find('=');
    if (!names(word.substr(0, equals), name)) continue;
    if (equals != word.npos) return std::string(word.substr(equals + 1));
    if (i + 1 < command.size()) return command[i + 1];
  }
  return std::nullopt;
}

std::string in_names(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; }, '-');
  return text.substr(0, 64);
}

Result<std::size_t> count_of(const std::string& text, const char* name, std::int64_t least) {
  const auto value = parse_integer(text);
  if (value && *value >= least && *value <= static_cast<std::int64_t>(kMostNodes)) {
    return static_cast<std::size_t>(*value);
  }
  return usage(fmt::format("{} is '{}', which is no fixed number of hosts", name, text),
               "write a number");
}

}  // namespace

Result<TorchrunJob> read_torchrun(const std::vector<std::string>& command,
                                  const ReadVariable& variable) {
  const auto told = [&](std::string_view name, std::string_view pet,
                        std::string_view plain = "") -> std::optional<std::string> {
    if (auto value = option(command, name)) return value;
    if (auto value = variable(pet)) return value;
    return plain.empty() ? std::nullopt : variable(plain);
  };
  TorchrunJob job;
  std::string nodes = told("--nnodes", "PET_NNODES").value_or("1");
  // "2:2" is two; any other range may change while the job runs.
  if (const std::size_t colon = nodes.find(':');
      colon != nodes.npos && nodes.substr(0, colon) == nodes.substr(colon + 1)) {
    nodes.resize(colon);
  }
  ASSIGN_OR_RETURN(job.nodes, count_of(nodes, "--nnodes", 1));
  std::string port = told("--master-port", "PET_MASTER_PORT", "MASTER_PORT").value_or("29500");
  job.master = told("--master-addr", "PET_MASTER_ADDR", "MASTER_ADDR").value_or("");
  if (const auto endpoint = told("--rdzv-endpoint", "PET_RDZV_ENDPOINT"); endpoint) {
    const std::size_t colon = endpoint->rfind(':');
    job.master = endpoint->substr(0, colon);
    if (colon != endpoint->npos) port = endpoint->substr(colon + 1);
  }
  if (job.master.empty() && job.nodes == 1) job.master = "127.0.0.1";
  if (job.master.empty()) {
    return usage("torchrun is not told where the first host is", "give it --master-addr");
  }
  const auto rank = told("--node-rank", "PET_NODE_RANK");
  if (!rank && job.nodes > 1) {
    return usage("torchrun is not told which of the hosts this is", "give it --node-rank");
  }
  ASSIGN_OR_RETURN(job.self, count_of(rank.value_or("0"), "--node-rank", 0));
  if (job.self >= job.nodes) {
    return usage(fmt::format("host {} of {} cannot be", job.self, job.nodes),
                 "--node-rank counts from 0");
  }
  job.job = "torchrun-" + in_names(told("--rdzv-id", "PET_RDZV_ID").value_or(port));
  return job;
}

}  // namespace hypermile
