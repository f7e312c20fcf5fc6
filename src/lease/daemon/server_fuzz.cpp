// SPDX-License-Identifier: Apache-2.0
//
// Sequences of whole, damaged and unfinished frames of several clients to a Server.
#include <cstdlib>

#include "testing/protocol_sequences.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (!hypermile::play_server_sequence({data, size}).empty()) std::abort();
  return 0;
}
