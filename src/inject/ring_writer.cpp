// SPDX-License-Identifier: Apache-2.0
#include "inject/ring_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "inject/free_bytes.h"

namespace hypermile {
namespace {

constexpr unsigned kMostProbes = 64;

// FNV-1a. Names may differ anywhere in hundreds of bytes, and each is hashed only once.
std::uint64_t hash_of(const char* text) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325U;
  for (; *text != '\0'; ++text)
    hash = (hash ^ static_cast<unsigned char>(*text)) * 0x0000'0100'0000'01b3U;
  return hash ^ (hash >> 29);
}

// Growing a file beyond the limit on file sizes raises a signal that would end the job.
bool file_may_be_so_large(std::size_t size) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size);
}

// The whole file, mapped, with all its blocks allocated; null if anything fails.
void* make_file(int folder, const char* name, std::size_t size) {
  if (!file_may_be_so_large(size)) return nullptr;
  const int fd = ::openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (::posix_fallocate(fd, 0, static_cast<off_t>(size)) == 0)
    memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (memory != MAP_FAILED) return memory;
  ::unlinkat(folder, name, 0);
  return nullptr;
}

// The folder's path; null where there is none.
const char* folder_path() {
  const char* path = ::getenv(kRingDirVariable);
  return path && *path == '/' ? path : nullptr;
}

void copy_text(char* into, std::size_t size, const char* from) {
  const std::size_t length = ::strnlen(from, size - 1);
  ::memcpy(into, from, length);
  into[length] = '\0';
}

}  // namespace

std::uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

bool RingWriter::open(RingSource source) {
  const char* path = folder_path();
  const RingExtent* extent = path ? extent_for(free_bytes_at(path)) : nullptr;
  return extent && open(source, *extent);
}

bool RingWriter::open(RingSource source, const RingExtent& extent) {
  const char* path = folder_path();
  const int folder = path ? ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (folder < 0) return false;
  char name[64];
  char whole_name[80];
  ::snprintf(name, sizeof name, "%d-%llx-%s", static_cast<int>(::getpid()),
             static_cast<unsigned long long>(monotonic_ns()),
             source == RingSource::kLaunches ? "launches" : "ticks");
  ::snprintf(whole_name, sizeof whole_name, "%s%s", name, kRingSuffix);
  char* memory = static_cast<char*>(make_file(folder, name, extent.file_size()));
  if (memory) {
    header_ = reinterpret_cast<RingHeader*>(memory + kHeaderOffset);
    control_ = reinterpret_cast<RingControl*>(memory + kControlOffset);
    names_ = reinterpret_cast<RingName*>(memory + kNamesOffset);
    slots_ = reinterpret_cast<RingSlot*>(memory + extent.slots_offset());
    extent_ = extent;
    name_count_ = 0;
    ::memset(known_, 0, sizeof known_);
    fill_header(source);
    if (::renameat(folder, name, folder, whole_name) != 0) {
      ::unlinkat(folder, name, 0);
      ::munmap(memory, extent.file_size());
      abandon();
    }
  }
  ::close(folder);
  return is_open();
}

void RingWriter::abandon() {
  header_ = nullptr;
  control_ = nullptr;
  names_ = nullptr;
  slots_ = nullptr;
}

void RingWriter::fill_header(RingSource source) {
  RingHeader& header = *header_;
  header.magic = kRingMagic;
  header.version = kRingVersion;
  header.source = static_cast<std::uint32_t>(source);
  header.slot_count = extent_.slots;
  header.slot_size = sizeof(RingSlot);
  header.name_count = extent_.names;
  header.name_size = sizeof(RingName);
  header.file_size = extent_.file_size();
  header.pid = static_cast<std::uint32_t>(::getpid());
  header.parent_pid = static_cast<std::uint32_t>(::getppid());
  header.start_ns = monotonic_ns();
  copy_text(header.process, sizeof header.process, program_invocation_short_name);
  control_->previous = kNoName;
  RingName& other = names_[extent_.other_names()];
  constexpr char kOther[] = "(other names)";
  ::memcpy(other.text, kOther, sizeof kOther - 1);
  other.length = sizeof kOther - 1;
}

std::uint32_t RingWriter::add_name(const char* text) {
  const std::uint32_t id = __atomic_fetch_add(&name_count_, 1, __ATOMIC_RELAXED);
  if (id >= extent_.other_names()) {
    // Keeps the count from wrapping.
    __atomic_store_n(&name_count_, extent_.other_names(), __ATOMIC_RELAXED);
    __atomic_fetch_add(&header_->names_lost, 1, __ATOMIC_RELAXED);
    return extent_.other_names();
  }
  RingName& name = names_[id];
  const std::size_t length = ::strnlen(text, kNameLength);
  ::memcpy(name.text, text, length);
  __atomic_store_n(&name.length, static_cast<std::uint32_t>(length), __ATOMIC_RELEASE);
  __atomic_store_n(&header_->names, id + 1, __ATOMIC_RELAXED);
  return id;
}

// Lock-free: a thread that finds a free entry writes the name first and then claims the entry. If
// another thread has claimed it for the same name meanwhile, that id is used and ours stays unused.
std::uint32_t RingWriter::intern(const char* text) {
  const std::uint64_t hash = hash_of(text);
  const std::uint64_t tag = hash & ~std::uint64_t{0xffff};
  std::uint32_t added = kNoName;
  for (unsigned probe = 0; probe < kMostProbes; ++probe) {
    std::uint64_t& entry = known_[(hash + probe) & (kTableSize - 1)];
    std::uint64_t seen = __atomic_load_n(&entry, __ATOMIC_ACQUIRE);
    if (seen == 0) {
      if (added == kNoName) added = add_name(text);
      if (added == extent_.other_names()) return added;
      if (__atomic_compare_exchange_n(&entry, &seen, tag | (added + 1), false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE))
        return added;
    }
    if ((seen & ~std::uint64_t{0xffff}) == tag)
      return static_cast<std::uint32_t>(seen & 0xffff) - 1;
  }
  __atomic_fetch_add(&header_->names_lost, 1, __ATOMIC_RELAXED);
  return extent_.other_names();
}

void RingWriter::set_status(RingStatus status, const char* reason) {
  copy_text(header_->reason, sizeof header_->reason, reason);
  __atomic_store_n(&header_->status, static_cast<std::uint32_t>(status), __ATOMIC_RELEASE);
  put(monotonic_ns(), pack_b(RecordKind::kStatus, 0, static_cast<std::uint32_t>(status)), 0);
}

void RingWriter::end() {
  const auto ended = static_cast<std::uint32_t>(RingStatus::kEnded);
  const std::uint32_t status = __atomic_load_n(&header_->status, __ATOMIC_RELAXED);
  if (status == static_cast<std::uint32_t>(RingStatus::kWatching))
    __atomic_store_n(&header_->status, ended, __ATOMIC_RELEASE);
  put(monotonic_ns(), pack_b(RecordKind::kStatus, 0, ended), 0);
}

}  // namespace hypermile
