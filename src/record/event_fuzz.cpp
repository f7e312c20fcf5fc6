// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a line of an event log: an event or an Error, and an event survives being written
// again.
#include <cstdint>
#include <cstdlib>

#include "record/event.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using hypermile::parse_event;
  using hypermile::to_json_line;
  const auto event = parse_event({reinterpret_cast<const char*>(data), size});
  if (!event) return 0;
  const std::string line = to_json_line(*event);
  const auto again = parse_event(line);
  if (!again || again->body.index() != event->body.index()) std::abort();
  return 0;
}
