// SPDX-License-Identifier: Apache-2.0
//
// A run in a few lines, from its events alone: `hypermile report --text` prints them for any log,
// also for one that a crash cut off.
#pragma once

#include <string>
#include <string_view>

#include "record/run_digest.h"

namespace hypermile {

// The lines that the terminal showed when the run ended; where the log has none, measured_text().
std::string summary_text(const RunDigest& run);

// How the run ended, if it did; the whole job against the default; what each phase cost at the
// default, at the kept setting and at those tried; the controller's last state and its reason.
std::string measured_text(const RunDigest& run);

// The same lines for a terminal: those that are too long are broken at blanks and go on indented.
std::string fitted(std::string_view text);

}  // namespace hypermile
