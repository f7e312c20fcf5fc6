// SPDX-License-Identifier: Apache-2.0
//
// A client of the daemon for tests: reads commands from standard input, one per line, and answers
// each with one line, "ok …" or "error CODE: …". It ends with its input, without releasing.
//
//   acquire UUID[,UUID…] TTL      set UUID SETTING      renew      release
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "base/parse.h"
#include "gpu/setting.h"
#include "lease/protocol/lease_client.h"

namespace hypermile {
namespace {

std::string failure(const Error& error) {
  return fmt::format("error {}: {}", to_string(error.code), error.line());
}

class Session {
 public:
  std::string obey(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    std::string first;
    std::string second;
    words >> verb >> first >> second;
    if (verb == "acquire") return acquire(first, second);
    if (!lease_) return "error usage: acquire first";
    if (verb == "set") return set(first, second);
    if (verb == "renew") return said(lease_->renew());
    if (verb == "release") return said(lease_->release());
    return "error usage: unknown command " + verb;
  }

 private:
  static std::string said(const Result<void>& result) {
    return result ? "ok" : failure(result.error());
  }

  std::string acquire(const std::string& gpus, const std::string& ttl) {
    LeaseOptions options;
    std::istringstream list(gpus);
    for (std::string gpu; std::getline(list, gpu, ',');) options.gpus.emplace_back(gpu);
    const auto parsed = parse_duration(ttl);
    if (!parsed) return failure(parsed.error());
    options.ttl = *parsed;
    options.program = "lease_client";
    lease_.reset();
    auto lease = open_lease(options);
    if (!lease) return failure(lease.error());
    lease_ = *std::move(lease);
    return fmt::format("ok {} ttl={:g} {}", lease_->id(), lease_->ttl().value(),
                       lease_->guarded() ? "guardian" : "daemon");
  }

  std::string set(const std::string& gpu, const std::string& text) {
    const auto setting = parse_setting(text);
    if (!setting) return failure(setting.error());
    const auto applied = lease_->set(GpuUuid(gpu), *setting);
    if (!applied) return failure(applied.error());
    if (!applied->problems.empty()) return failure(applied->problems.front());
    return "ok " + to_string(applied->setting);
  }

  std::unique_ptr<HeldLease> lease_;
};

}  // namespace
}  // namespace hypermile

int main() {
  hypermile::Session session;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << session.obey(line) << std::endl;
  }
  ::_exit(0);
}
