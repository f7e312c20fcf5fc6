// SPDX-License-Identifier: Apache-2.0
//
// What happened, in words: one sentence an event, for the decision log of the report and of the
// live page.
#pragma once

#include <optional>
#include <string>

#include "record/event.h"

namespace hypermile {

struct EventWords {
  std::string kind;  // "decision", "state", "problem", "change", "job": how it is marked
  std::string text;
};

// nullopt for events that are shown otherwise, as samples and Windows are.
std::optional<EventWords> words_of(const EventBody& body);

}  // namespace hypermile
