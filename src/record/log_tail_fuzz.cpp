// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an event log that grows in pieces of any size: the same events and unreadable lines
// as in one piece, and no more runs and GPUs than a log may show.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "record/log_tail.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hypermile;
  if (size == 0) return 0;
  constexpr DigestSize kSmall = {.points = 16, .lines = 16, .runs = 3};
  const std::size_t piece = 1 + data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  LogTail whole("whole", kSmall);
  LogTail pieces("pieces", kSmall);
  whole.add(text);
  for (std::size_t at = 0; at < text.size(); at += piece) pieces.add(text.substr(at, piece));
  if (whole.events() != pieces.events() || whole.half_a_line() != pieces.half_a_line() ||
      whole.unreadable_lines() != pieces.unreadable_lines() ||
      whole.runs().size() != pieces.runs().size())
    std::abort();
  if (whole.runs().size() > kSmall.runs) std::abort();
  for (const auto& run : whole.runs()) {
    if (run->gpus().size() > kMostWatchedGpus + 1) std::abort();
    (void)run->figures().job();
  }
  return 0;
}
