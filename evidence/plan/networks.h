// SPDX-License-Identifier: Apache-2.0
//
// Plans of many networks on four cards, and which granularity pays at which switch latency. Called
// by main.cpp.
#pragma once

#include <string>

namespace hypermile {

// Markdown, from the network files (*.json) in `folder`; the built-in networks where there are
// none.
std::string networks_evidence(const std::string& folder);

// What gradient accumulation, activation checkpointing and communication change.
std::string phases_evidence();

}  // namespace hypermile
