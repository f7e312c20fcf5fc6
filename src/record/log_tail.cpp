// SPDX-License-Identifier: Apache-2.0
#include "record/log_tail.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hypermile {
namespace {

constexpr std::size_t kChunk = 1 << 18;  // bytes of one read
// Of one poll, so that a long log delays neither other logs nor an end: a tenth of a second.
constexpr std::size_t kMostPerPoll = 1 << 24;
// No event is as long as this many bytes: a text without a line break by then is not a log.
constexpr std::size_t kLongestLine = 1 << 22;

// What a simulator trained, "" for a real run: runs of equal jobs may be compared.
std::string simulated_job(const RunDigest& run) {
  if (run.told_by_start("simulated") != "true") return "";
  return fmt::format("{} {} {}", run.told_by_start("gpu"), run.told_by_start("workload"),
                     run.told_by_start("seed"));
}

// The totals of a run at the default that has ended.
std::optional<DefaultRun> default_run_of(const RunDigest& run) {
  if (!run.end() || run.told_by_start("policy") != "default") return std::nullopt;
  const JobTotals job = run.figures().job();
  if (!job.joules) return std::nullopt;
  return DefaultRun{job.seconds, *job.joules, job.iterations};
}

Error io_error(const std::string& path) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo;
  return Error{code, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)),
               "check the path of the log"};
}

}  // namespace

Result<void> LogTail::open() {
  struct stat named = {};
  if (::stat(path_.c_str(), &named) != 0) return io_error(path_);
  // A pipe might never end a read, and a device never end.
  if (!S_ISREG(named.st_mode)) {
    return Error{ErrorCode::kIo, fmt::format("{}: is no regular file", path_),
                 "check the path of the log"};
  }
  const bool same = file_ && named.st_ino == inode_;
  if (same && static_cast<std::uint64_t>(named.st_size) >= offset_) return {};
  // Non-blocking, for the case that a pipe has taken its place.
  Descriptor fresh(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fresh || ::fstat(fresh.get(), &named) != 0) return io_error(path_);
  if (!S_ISREG(named.st_mode)) {
    errno = EINVAL;
    return io_error(path_);
  }
  file_ = std::move(fresh);
  inode_ = named.st_ino;
  offset_ = 0;
  rest_.clear();
  runs_.clear();
  default_runs_.clear();
  runs_left_out_ = 0;
  events_ = unreadable_ = 0;
  return {};
}

Result<bool> LogTail::poll() {
  RETURN_IF_ERROR(open());
  std::string chunk(kChunk, '\0');
  bool any = false;
  for (std::size_t read = 0; read < kMostPerPoll;) {
    const ssize_t count =
        ::pread(file_.get(), chunk.data(), chunk.size(), static_cast<off_t>(offset_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error(path_);
    if (count == 0) return any;
    read += static_cast<std::size_t>(count);
    offset_ += static_cast<std::uint64_t>(count);
    any = true;
    take_text(std::string_view(chunk).substr(0, static_cast<std::size_t>(count)));
  }
  return any;
}

void LogTail::take_text(std::string_view text) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    if (rest_.empty()) {
      take_line(text.substr(0, end));
    } else {
      rest_ += text.substr(0, end);
      take_line(rest_);
      rest_.clear();
    }
    text.remove_prefix(end + 1);
  }
  rest_ += text;
  if (rest_.size() <= kLongestLine) return;
  rest_.clear();
  ++unreadable_;
}

void LogTail::take_line(std::string_view line) {
  if (line.empty()) return;
  const Result<Event> event = parse_event(line);
  if (!event) {
    ++unreadable_;
    return;
  }
  ++events_;
  const bool begins = std::holds_alternative<RunStart>(event->body);
  if (runs_.empty() || begins) begin_run(*event);
  RunDigest& run = *runs_.back();
  run.add(counted_from(run_began_, *event));
  const std::string job = simulated_job(run);
  if (job.empty()) return;
  if (const auto known = default_runs_.find(job); begins && known != default_runs_.end()) {
    run.compare_with(known->second);
  }
  if (const auto played = default_run_of(run)) default_runs_[job] = *played;
}

void LogTail::begin_run(const Event& first) {
  run_began_ = first.time;
  runs_.push_back(std::make_unique<RunDigest>(size_.points, size_.lines));
  if (runs_.size() <= size_.runs) return;
  runs_.erase(runs_.begin());
  ++runs_left_out_;
}

Result<LogTail> read_log(const std::string& path, DigestSize size) {
  LogTail log(path, size);
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, log.poll());
  }
  if (log.events() > 0) return log;
  if (log.unreadable_lines() == 0 && !log.half_a_line()) {
    return Error{ErrorCode::kParse, path + ": the log is empty",
                 "give one that 'hypermile run --log' has written"};
  }
  return Error{
      ErrorCode::kParse, path + ": no line of it is an event of hypermile",
      "give a log that 'hypermile run --log', 'monitor --log' or 'demo --log' has written"};
}

}  // namespace hypermile
