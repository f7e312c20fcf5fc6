// SPDX-License-Identifier: Apache-2.0
#include "run/run_page.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
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
  constexpr int kEnding = 6;  // characters of ".jsonl"
  const Descriptor file(::mkostemps(path.data(), kEnding, O_CLOEXEC));
  if (file) return path;
  return Error{
      ErrorCode::kIo,
      fmt::format("no temporary log can be made in {}: {}", folder.string(), std::strerror(errno)),
      "name one with --log"};
}

}  // namespace

Result<std::unique_ptr<PageServer>> bind_page_server(const std::string& address,
                                                     const std::optional<std::string>& token_file,
                                                     std::vector<std::string> logs) {
  PageServerOptions server;
  ASSIGN_OR_RETURN(server.address, parse_listen_address(address));
  if (token_file) {
    ASSIGN_OR_RETURN(server.token, read_token_file(*token_file));
  }
  server.logs = std::move(logs);
  server.daemon_socket = default_socket_path();
  return PageServer::bind(std::move(server));
}

RunPage::RunPage(const ReportRequest& request, std::function<void(const std::string&)> say)
    : request_(request), say_(std::move(say)) {}

RunPage::~RunPage() {
  server_.reset();
  std::error_code ignored;
  if (temporary_) std::filesystem::remove(*log_, ignored);
}

Result<void> check_writable(const std::string& path) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
  } else if (exists) {
    if (::access(path.c_str(), W_OK) == 0) return {};
  } else if (const Descriptor made(
                 ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
             made) {
    ::unlink(path.c_str());
    return {};
  }
  return Error{ErrorCode::kIo, fmt::format("{}: cannot be written: {}", path, std::strerror(errno)),
               "check the folder and its permissions"};
}

Result<std::optional<std::string>> RunPage::prepare() {
  if (request_.page) RETURN_IF_ERROR(check_writable(*request_.page));
  log_ = request_.log;
  if (!log_ && (request_.page || request_.serve)) {
    ASSIGN_OR_RETURN(log_, make_temporary_log());
    temporary_ = true;
  }
  if (request_.serve) {
    const Result<void> bound = bind();
    if (!bound && bound.error().code == ErrorCode::kUsage) return bound.error();
    if (!bound) say_(bound.error().line() + "; the job runs without its page");
  }
  return log_;
}

Result<void> RunPage::bind() {
  ASSIGN_OR_RETURN(server_, bind_page_server(*request_.serve, request_.token_file, {*log_}));
  return {};
}

void RunPage::start() {
  if (!server_) return;
  server_->start();
  if (request_.quiet) return;
  say_(fmt::format("this run is shown at {}", server_->address().url()));
}

void RunPage::finish() {
  server_.reset();
  if (!log_ || !request_.page) return;
  const Result<LogTail> log = read_log(*log_);
  const Result<void> written = log ? write_report(*log, *request_.page) : Result<void>(log.error());
  if (!written) {
    say_("no report: " + written.error().line());
  } else if (!request_.quiet) {
    say_("report: " + *request_.page);
  }
}

}  // namespace hypermile
