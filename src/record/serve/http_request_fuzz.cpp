// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the head of an HTTP request, in one piece and in two: never an answer before the
// head is complete, the same answer however it arrived, and never more than was sent.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "record/serve/http_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hypermile;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const ParsedHead whole = parse_head(text);
  const bool ends = text.find("\r\n\r\n") != std::string_view::npos;
  if (whole.complete != (ends || text.size() >= kMostHeadBytes)) std::abort();
  if (!whole.complete) return 0;
  if (whole.status != 200) {
    if (whole.status < 400 || !whole.request.path.empty()) std::abort();
    return 0;
  }
  const HttpRequest& request = whole.request;
  if (!request.path.starts_with('/')) std::abort();
  std::size_t kept = request.method.size() + request.path.size() + request.host.size() +
                     request.authorization.size();
  for (const auto& [name, value] : request.query) kept += name.size() + value.size();
  if (kept > text.size()) std::abort();
  const ParsedHead part = parse_head(text.substr(0, text.size() * data[0] / 256));
  if (part.complete && part.status == 200 && part.request.path != request.path) std::abort();
  return 0;
}
