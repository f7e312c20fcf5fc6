// SPDX-License-Identifier: Apache-2.0
//
// Prints the example events as an event log, for validate_event_log.py.
#include <cstdio>

#include "testing/example_events.h"

int main() {
  for (const hypermile::Event& event : hypermile::example_events()) {
    std::puts(hypermile::to_json_line(event).c_str());
  }
}
