// SPDX-License-Identifier: Apache-2.0
//
// One report of a job on several nodes, from the event logs of its nodes: energies add, the slowest
// node is the job's time. `hypermile report n*.jsonl` prints it. Nothing in here fails; what a log
// does not tell is left out.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "record/run_digest.h"

namespace hypermile {

struct NodeRun {
  std::string name;  // of the node; where its log does not tell, of the file
  const RunDigest* run = nullptr;
};

// The node that a log is of.
std::string node_of(const RunDigest& run, const std::string& file);

// "JOB.STEP" as the log tells; "" where it does not.
std::string step_of(const RunDigest& run);

// A table of the nodes, and the whole job in a line.
std::string nodes_text(std::span<const NodeRun> nodes);

// {"job", "nodes": [{"node", "gpus", "job": job_json(), "kept", "waits"}…], "joules", "saved_j",
// "energy_change",
//  "time_change"}
nlohmann::json nodes_json(std::span<const NodeRun> nodes);

}  // namespace hypermile
