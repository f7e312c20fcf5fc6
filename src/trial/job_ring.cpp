// SPDX-License-Identifier: Apache-2.0
#include "trial/job_ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

namespace hypermile {
namespace {

// Logs name the process of a job. Here it is init, which always lives, so that logs of equal jobs
// are equal.
constexpr std::uint32_t kPid = 1;
constexpr char kProcess[] = "training";

}  // namespace

Result<std::unique_ptr<JobRing>> JobRing::make(RingSource source, Instant begin,
                                               std::uint32_t devices) {
  ASSIGN_OR_RETURN(RingFolder folder, RingFolder::make());
  std::unique_ptr<JobRing> made(new JobRing(std::move(folder)));
  RETURN_IF_ERROR(made->open(source));
  made->let_folder_look_old();
  for (std::uint32_t device = 0; device < devices; ++device) {
    made->writer_.put(ns(begin), pack_b(RecordKind::kContext, 0, device), 0);
  }
  return made;
}

// A writer in a training process keeps its ring until the process ends. This process plays
// thousands of jobs.
JobRing::~JobRing() {
  if (!writer_.is_open()) return;
  ::munmap(reinterpret_cast<char*>(&writer_.header()) - kHeaderOffset, writer_.header().file_size);
  writer_.abandon();
}

// A reader lists a folder in every round for as long as the folder is new by the real clock, and
// minutes of virtual time pass in that while. No second ring comes here.
void JobRing::let_folder_look_old() const {
  const timespec epoch[2] = {};
  ::utimensat(AT_FDCWD, folder_.path().c_str(), epoch, 0);
}

// A writer learns its folder from the environment, which all threads share.
Result<void> JobRing::open(RingSource source) {
  static std::mutex environment;
  const std::lock_guard<std::mutex> lock(environment);
  ::setenv(kRingDirVariable, folder_.path().c_str(), 1);
  const bool opened = writer_.open(source);
  ::unsetenv(kRingDirVariable);
  if (!opened) {
    return Error{ErrorCode::kIo, "no ring can be made in " + folder_.path(),
                 "make room in /dev/shm"};
  }
  RingHeader& header = writer_.header();
  header.status = static_cast<std::uint32_t>(RingStatus::kWatching);
  header.pid = header.parent_pid = kPid;
  std::memcpy(header.process, kProcess, sizeof kProcess);
  return {};
}

void JobRing::tick(Instant time) {
  writer_.put(ns(time), pack_b(RecordKind::kTick, 0, kNoName), 0);
}

}  // namespace hypermile
