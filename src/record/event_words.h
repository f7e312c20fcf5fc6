// SPDX-License-Identifier: Apache-2.0
//
// Events in words, one sentence each, for the list of decisions on the report and on the live page.
#pragma once

#include <optional>
#include <string>

#include "record/event.h"

namespace hypermile {

struct EventWords {
  std::string kind;  // how the page marks it: "decision", "state", "problem", "change", "job"
  std::string text;
};

// nullopt for events that are shown in another way, as samples and windows are.
// `decided` is the reason of the decision before: a state that was entered for that reason does not
// repeat it.
std::optional<EventWords> words_of(const EventBody& body, const std::string& decided = "");

// The job's command line: the words after -- of what was typed, or all of them.
std::string job_words(const RunStart& start);

}  // namespace hypermile
