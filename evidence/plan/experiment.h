// SPDX-License-Identifier: Apache-2.0
//
// The thesis's experiment, as far as its abstract tells it, on simulated cards: both networks, both
// GPUs, every strategy, forward and whole training, without latency and with the card's.
#pragma once

#include <string>

namespace hypermile {

// Markdown: tables of every run, and what they say to the abstract's findings.
std::string experiment_evidence();

}  // namespace hypermile
