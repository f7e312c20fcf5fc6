// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes what the daemon reads from any client: a stream of bytes is cut into frames, and each is
// decoded as a request and as a reply. A decoded request must encode and decode to the same.
#include <cstdlib>
#include <string_view>

#include "lease/frame.h"
#include "lease/protocol/message.h"

namespace hypermile {
namespace {

void try_body(std::string_view body) {
  if (const auto request = wire::decode_request(body)) {
    const auto frame = wire::encode_request(*request);
    if (!frame) std::abort();
    const auto again = wire::decode_request(cut_frame(*frame).body);
    if (!again || again->message != request->message || again->sequence != request->sequence) {
      std::abort();
    }
  }
  // Making its texts harmless can grow a reply beyond a frame, so encoding may fail here.
  if (const auto reply = wire::decode_reply(body)) (void)wire::encode_reply(*reply);
}

}  // namespace
}  // namespace hypermile

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace hypermile;
  std::string_view stream(reinterpret_cast<const char*>(data), size);
  // Also decode the bytes directly, since random bytes never have a correct checksum.
  try_body(stream);
  for (;;) {
    const CutFrame cut = cut_frame(stream);
    if (cut.state != CutFrame::State::kWhole) return 0;
    try_body(cut.body);
    stream.remove_prefix(cut.bytes);
  }
}
