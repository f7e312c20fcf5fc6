// SPDX-License-Identifier: Apache-2.0
//
// `hypermile list [KIND]`: what --policy, --workload, --gpu and `plan` can be given.
#include "cli/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/nearest.h"
#include "base/terminal_text.h"
#include "cli/command.h"
#include "plan/builtin_networks.h"
#include "policy/policies.h"
#include "sim/gpu_sheet.h"
#include "sim/workload.h"

namespace hypermile {
namespace {

constexpr std::size_t kTitles = 29;  // column of the titles
constexpr std::array<std::string_view, 4> kKinds = {"policies", "workloads", "gpus", "networks"};

Result<void> run_list(const CommandArguments& arguments, CommandContext& context) {
  std::vector<std::string> kinds = arguments.positional;
  if (kinds.empty()) kinds.assign(kKinds.begin(), kKinds.end());
  for (const std::string& kind : kinds) {
    if (std::ranges::count(kKinds, kind) > 0) continue;
    return Error{ErrorCode::kUsage, fmt::format("nothing is listed under '{}'", kind),
                 suggestion(kind, std::vector<std::string>(kKinds.begin(), kKinds.end()))};
  }
  nlohmann::json document = nlohmann::json::object();
  for (const std::string& kind : kinds) {
    if (!arguments.options.flag("json")) context.out << kind << ":\n";
    for (const ListedName& each : names_of(kind)) {
      if (arguments.options.flag("json")) {
        document[kind].push_back({{"name", each.name}, {"title", each.title}});
      } else if (each.title.empty()) {
        context.out << fmt::format("  {}\n", each.name);
      } else {
        context.out << fmt::format("  {:<26} {}\n", each.name,
                                   wrapped(each.title, kTitles, kTitles));
      }
    }
  }
  if (arguments.options.flag("json")) context.out << document.dump() << "\n";
  return {};
}

}  // namespace

std::span<const std::string_view> list_kinds() {
  return kKinds;
}

std::vector<ListedName> names_of(std::string_view kind) {
  std::vector<ListedName> names;
  if (kind == "policies") {
    for (const PolicyEntry& each : policy_table())
      names.push_back({std::string(each.name), std::string(each.summary)});
  } else if (kind == "workloads") {
    for (const std::string& key : workload_keys()) {
      const Result<Workload> workload = load_workload(key);
      names.push_back({key, workload ? workload->title : workload.error().message});
    }
  } else if (kind == "gpus") {
    for (const std::string& key : gpu_sheet_keys()) {
      const Result<GpuSheet> sheet = load_gpu_sheet(key);
      names.push_back({"sim:" + key, sheet ? sheet->name : sheet.error().message});
    }
  } else if (kind == "networks") {
    for (const std::string_view name : builtin_network_names())
      names.push_back({std::string(name), ""});
  }
  return names;
}

const Command kListCommand = {
    "list",
    "list the policies, workloads, simulated GPUs and networks that options can name",
    "KIND",
    "  hypermile list                                 everything\n"
    "  hypermile list policies                        what --policy takes\n"
    "  hypermile list workloads --json\n",
    run_list,
    /*runs_command=*/false,
    /*holds_nothing=*/true,
};

}  // namespace hypermile
