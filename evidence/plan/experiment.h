// SPDX-License-Identifier: Apache-2.0
//
// Repeats the experiment of the Chalmers thesis, as far as its abstract describes it, on simulated
// cards: two networks, two GPUs, every strategy, forward pass and whole training, with free
// switching and with the card's latency. Called by main.cpp.
#pragma once

#include <string>

namespace hypermile {

// Markdown: tables of every run, and how they compare with the abstract's findings.
std::string experiment_evidence();

// The same findings as rows of a table of papers: what the abstract says, what is found here, and
// whether that reproduces it.
std::string thesis_rows();

}  // namespace hypermile
