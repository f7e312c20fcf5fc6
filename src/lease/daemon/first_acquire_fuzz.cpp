// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary bytes as the first request to a guardian: it names GPUs only if they are a whole
// acquire request, and a part of such a request never names other GPUs.
#include <cstdlib>
#include <string_view>

#include "lease/daemon/first_acquire.h"
#include "lease/frame.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace hypermile;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // A frame around them too, since random bytes never have a correct checksum.
  std::string framed;
  if (size > 3) {
    FrameWriter writer;
    writer.text(data[0], bytes.substr(1));
    if (const auto frame = writer.finish()) framed = *frame;
  }
  for (const std::string_view held : {bytes, std::string_view(framed)}) {
    const auto whole = read_first_acquire(held);
    if (whole && *whole && (*whole)->empty()) std::abort();  // no GPU would mean all of them
    const auto part = read_first_acquire(held.substr(0, held.size() / 2));
    if (part && *part && (!whole || !*whole || **whole != **part)) std::abort();
  }
  return 0;
}
