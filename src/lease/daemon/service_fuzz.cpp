// SPDX-License-Identifier: Apache-2.0
//
// Sequences of everything that clients, GPUs and time can do to a Service.
#include <cstdlib>

#include "testing/protocol_sequences.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (!hypermile::play_service_sequence({data, size}).empty()) std::abort();
  return 0;
}
