// SPDX-License-Identifier: Apache-2.0
#include "record/event_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hypermile {
namespace {

Error io_error(const std::string& path, const char* action) {
  return Error{ErrorCode::kIo, path + ": cannot " + action + ": " + std::strerror(errno),
               "check the path, its permissions and the space on its disk"};
}

class LogFile final : public LineSink {
 public:
  LogFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  ~LogFile() override { ::close(fd_); }

  Result<void> write(std::string_view text) override {
    while (!text.empty()) {
      const ssize_t written = ::write(fd_, text.data(), text.size());
      if (written < 0) {
        if (errno == EINTR) continue;
        return io_error(path_, "write");
      }
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Result<void> sync() override {
    // A pipe or a terminal has nothing to sync and returns EINVAL or EROFS.
    if (::fdatasync(fd_) != 0 && errno != EINVAL && errno != EROFS) return io_error(path_, "sync");
    return {};
  }

 private:
  std::string path_;
  int fd_;
};

bool ends_inside_a_line(int fd) {
  const off_t size = ::lseek(fd, 0, SEEK_END);
  char last = '\n';
  return size > 0 && ::pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

Result<std::unique_ptr<LineSink>> open_log_file(const std::string& path) {
  // Non-blocking, so that a pipe that nobody reads makes the log fail and not the run wait.
  const int fd = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
  if (fd < 0) return io_error(path, "open");
  auto file = std::make_unique<LogFile>(path, fd);
  if (ends_inside_a_line(fd)) RETURN_IF_ERROR(file->write("\n"));
  return std::unique_ptr<LineSink>(std::move(file));
}

EventLog::EventLog(std::unique_ptr<LineSink> sink, const Clock& clock)
    : sink_(std::move(sink)), clock_(clock) {}

Result<void> EventLog::append(EventBody body) {
  const Instant now = clock_.now();
  if (!first_) first_ = now;
  const Event event = counted_from(*first_, {now, std::move(body)});
  if (listener_) listener_(event);
  if (!sink_) return {};
  if (broken_) {
    ++lost_;
    return {};
  }
  Result<void> done = sink_->write(to_json_line(event) + '\n');
  if (done && std::holds_alternative<RunEnd>(event.body)) done = sink_->sync();
  if (!done) {
    broken_ = true;
    ++lost_;
    return done.error().in("event log stopped");
  }
  return {};
}

}  // namespace hypermile
