// SPDX-License-Identifier: Apache-2.0
#include "record/serve/http_request.h"

#include <algorithm>
#include <cctype>

namespace hypermile {
namespace {

constexpr int kBad = 400;
constexpr int kTooLarge = 431;
constexpr int kOtherVersion = 505;

ParsedHead refused(int status) {
  ParsedHead head;
  head.complete = true;
  head.status = status;
  return head;
}

// Cuts off the part up to `separator`, and the separator; everything where there is none.
std::string_view cut(std::string_view& text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + separator.size());
  return part;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, {}, [](unsigned char c) { return std::tolower(c); },
      [](unsigned char c) { return std::tolower(c); });
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// What is no valid escape stays as it is.
std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size();
    const int high = escape ? digit(text[i + 1]) : -1;
    const int low = escape ? digit(text[i + 2]) : -1;
    if (high >= 0 && low >= 0) {
      plain += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      plain += text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain;
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 && c != '\t'; });
}

bool read_target(std::string_view target, HttpRequest& request) {
  if (!target.starts_with('/')) return false;
  request.path = cut(target, "?");
  while (!target.empty()) {
    std::string_view pair = cut(target, "&");
    const std::string name = decoded(cut(pair, "="));
    request.query[name] = decoded(pair);
  }
  return true;
}

}  // namespace

ParsedHead parse_head(std::string_view received) {
  const std::size_t end = received.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return received.size() >= kMostHeadBytes ? refused(kTooLarge) : ParsedHead();
  }
  if (end > kMostHeadBytes) return refused(kTooLarge);
  std::string_view rest = received.substr(0, end);
  std::string_view line = cut(rest, "\r\n");
  ParsedHead head;
  head.complete = true;
  head.request.method = cut(line, " ");
  const std::string_view target = cut(line, " ");
  if (has_control(target) || !read_target(target, head.request)) return refused(kBad);
  if (line != "HTTP/1.1" && line != "HTTP/1.0")
    return refused(line.starts_with("HTTP/") ? kOtherVersion : kBad);
  while (!rest.empty()) {
    std::string_view value = cut(rest, "\r\n");
    if (has_control(value) || value.find(':') == std::string_view::npos) return refused(kBad);
    const std::string_view name = cut(value, ":");
    std::string* kept = same_name(name, "host")            ? &head.request.host
                        : same_name(name, "authorization") ? &head.request.authorization
                                                           : nullptr;
    if (kept == nullptr) continue;
    // Two of them would mean one thing to us and another to a proxy.
    if (!kept->empty()) return refused(kBad);
    *kept = trimmed(value);
  }
  return head;
}

}  // namespace hypermile
