// SPDX-License-Identifier: Apache-2.0
//
// What a torchrun command says about the hosts of its job, for jobs on several hosts without a
// batch system: how many there are, which one this is, and where the first is met. `hypermile run
// --nodes-from torchrun` needs nothing else, because the first host tells the others apart.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hypermile {

struct TorchrunJob {
  std::string job;        // the same on every host: "torchrun-" and --rdzv-id or the master's port
  std::string master;     // host of the first node
  std::size_t nodes = 1;  // hosts
  std::size_t self = 0;   // this one's place
};

using ReadVariable = std::function<std::optional<std::string>(std::string_view name)>;

// Options of the command count before torchrun's own variables (PET_NNODES and so on), and those
// before MASTER_ADDR and MASTER_PORT. kUsage where several hosts take part and one of these is
// missing, or where their number may change.
Result<TorchrunJob> read_torchrun(const std::vector<std::string>& command,
                                  const ReadVariable& variable);

}  // namespace hypermile
