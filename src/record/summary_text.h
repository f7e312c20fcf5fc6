// SPDX-License-Identifier: Apache-2.0
//
// A run in a few lines, from its events alone: what the terminal shows at its end, and what
// `hypermile report --text` makes of any log, of one that a crash cut off, too.
#pragma once

#include <string>

#include "record/run_digest.h"

namespace hypermile {

// The lines that the run itself has left at its end; where it has left none, measured_text().
std::string summary_text(const RunDigest& run);

// How the run ended, if it did; baseline and what was kept with 95 % intervals, what was tried,
// what was saved in J and Wh, the last state and why: from Windows, decisions and states.
std::string measured_text(const RunDigest& run);

}  // namespace hypermile
