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
std::optional<EventWords> words_of(const EventBody& body);

}  // namespace hypermile
