// SPDX-License-Identifier: Apache-2.0
#include "run/run_page.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/descriptor.h"
#include "lease/protocol/socket_address.h"
#include "record/report_page.h"

namespace hypermile {
namespace {

Result<std::string> make_temporary_log() {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
  std::string path = (folder / "hypermile-XXXXXX.jsonl").string();
  constexpr int kEnding = 6;
  const Descriptor file(::mkostemps(path.data(), kEnding, O_CLOEXEC));
  if (file) return path;
  return Error{ErrorCode::kIo,
               fmt::format("no log can be made in {}: {}", folder.string(), std::strerror(errno)),
               "name one with --log"};
}

}  // namespace

Result<std::unique_ptr<PageServer>> bind_page_server(const OptionValues& options,
                                                     const std::string& address,
                                                     std::vector<std::string> logs) {
  PageServerOptions server;
  ASSIGN_OR_RETURN(server.address, parse_listen_address(address));
  if (options.given("token-file")) {
    ASSIGN_OR_RETURN(server.token, read_token_file(options.text("token-file")));
  }
  server.logs = std::move(logs);
  server.daemon_socket = default_socket_path();
  return PageServer::bind(std::move(server));
}

RunPage::RunPage(const OptionValues& options, std::function<void(const std::string&)> say)
    : options_(options), say_(std::move(say)) {}

RunPage::~RunPage() {
  server_.reset();
  std::error_code ignored;
  if (temporary_) std::filesystem::remove(*log_, ignored);
}

Result<std::optional<std::string>> RunPage::prepare() {
  if (options_.given("log")) log_ = options_.text("log");
  if (!log_ && (options_.given("report") || options_.given("serve"))) {
    ASSIGN_OR_RETURN(log_, make_temporary_log());
    temporary_ = true;
  }
  if (options_.given("serve")) {
    const Result<void> bound = bind();
    if (!bound && bound.error().code == ErrorCode::kUsage) return bound.error();
    if (!bound) say_(bound.error().line() + "; the job runs without its page");
  }
  return log_;
}

Result<void> RunPage::bind() {
  ASSIGN_OR_RETURN(server_, bind_page_server(options_, options_.text("serve"), {*log_}));
  return {};
}

void RunPage::start() {
  if (!server_) return;
  server_->start();
  if (options_.flag("quiet")) return;
  say_(fmt::format("this run is shown at {}", server_->address().url()));
}

void RunPage::finish() {
  server_.reset();
  if (!log_ || !options_.given("report")) return;
  const Result<LogTail> log = read_log(*log_);
  const Result<void> written =
      log ? write_report(*log, options_.text("report")) : Result<void>(log.error());
  if (!written) {
    say_("no report: " + written.error().line());
  } else if (!options_.flag("quiet")) {
    say_("report: " + options_.text("report"));
  }
}

}  // namespace hypermile
