// SPDX-License-Identifier: Apache-2.0
//
// Plays random sequences against a Service and a Server: `protocol_sequences SEED COUNT`. Prints
// the seed of a sequence that broke something; exits 0 if none did. The attack `sequences` runs it.
#include <cstdlib>
#include <iostream>
#include <vector>

#include "base/random.h"
#include "testing/protocol_sequences.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: protocol_sequences SEED COUNT\n";
    return 2;
  }
  const std::uint64_t first = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  int broken = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t seed = first * 1'000'003 + i;
    hypermile::Random random(seed);
    std::vector<std::uint8_t> bytes(50 + random.bits() % 700);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.bits());
    const bool server = i % 4 == 0;  // it works through sockets and takes longer
    const std::string problem =
        server ? hypermile::play_server_sequence(bytes) : hypermile::play_service_sequence(bytes);
    if (problem.empty()) continue;
    ++broken;
    std::cout << (server ? "server" : "service") << " sequence " << seed << ": " << problem << "\n";
    if (broken >= 10) break;
  }
  return broken == 0 ? 0 : 1;
}
