// SPDX-License-Identifier: Apache-2.0
//
// What a client asks for: the head of an HTTP/1 request, read from bytes that anybody may have
// sent. HttpServer calls it after every read. Only what the page and Prometheus need is kept;
// bodies are not read. Never fails: a head that is no HTTP has the status to answer with.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace hypermile {

inline constexpr std::size_t kMostHeadBytes = 8192;

struct HttpRequest {
  std::string method;
  std::string path;                          // as sent, without the query
  std::map<std::string, std::string> query;  // decoded; of several equal names the last
  std::string host;                          // "" where the header is absent
  std::string authorization;                 // likewise
};

struct ParsedHead {
  bool complete = false;
  int status = 200;  // of the answer, where the head cannot be understood
  HttpRequest request;
};

// `received` is everything that the client has sent so far.
ParsedHead parse_head(std::string_view received);

}  // namespace hypermile
