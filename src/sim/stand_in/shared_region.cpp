// SPDX-License-Identifier: Apache-2.0
#include "sim/stand_in/shared_region.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

namespace hypermile {
namespace {

constexpr char kMagic[8] = {'h', 'y', 'm', 'i', 's', 'i', 'm', '1'};
constexpr int kLockTries = 500;  // each of 10 ms
constexpr auto kLockPatience = std::chrono::seconds(5);
constexpr auto kFirstPause = std::chrono::microseconds(20);
constexpr auto kLongestPause = std::chrono::microseconds(1000);
constexpr std::size_t kPageSize = 4096;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

Error system_error(const std::string& what, int number) {
  const bool denied = number == EACCES || number == EPERM;
  return Error{denied ? ErrorCode::kPermission : ErrorCode::kIo,
               fmt::format("{}: {}", what, std::strerror(number)),
               "name another file with HYPERMILE_SIM_STATE, or remove this one"};
}

// An existing file is opened without O_CREAT, because in a sticky directory the kernel then refuses
// other users' files, even to root. fchmod sets the mode regardless of the umask.
int open_or_make(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const int there = ::open(path.c_str(), kFlags);
    if (there >= 0 || errno != ENOENT) return there;
    const int made = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0666);
    if (made >= 0) {
      ::fchmod(made, 0666);
      return made;
    }
    if (errno != EEXIST) return -1;
  }
  return -1;
}

Result<void> take_file_lock(const File& file, const std::string& path) {
  for (int attempt = 0; attempt < kLockTries; ++attempt) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return {};
    if (errno != EWOULDBLOCK && errno != EINTR) return system_error("cannot lock " + path, errno);
    ::usleep(10'000);
  }
  return Error{ErrorCode::kTimeout, path + " is held by another process",
               "end that process, or name another file with HYPERMILE_SIM_STATE"};
}

// Locked clocks do not survive a reboot, and the monotonic clock restarts with it.
std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

int make_shared_mutex(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  if (const int error = pthread_mutexattr_init(&attributes); error != 0) return error;
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  const int error = pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return error;
}

}  // namespace

struct SharedRegion::Header {
  char magic[8];
  std::uint32_t layout;
  std::uint32_t header_size;
  std::uint64_t size;
  char boot[64];
  char purpose[256];
  pthread_mutex_t mutex;
};

SharedRegion::Header& SharedRegion::header() const {
  static_assert(sizeof(Header) <= kPageSize);
  return *static_cast<Header*>(memory_);
}

void* SharedRegion::payload() const {
  return static_cast<char*>(memory_) + kPageSize;
}

std::string SharedRegion::purpose() const {
  return std::string(header().purpose, ::strnlen(header().purpose, sizeof header().purpose));
}

SharedRegion::~SharedRegion() {
  ::munmap(memory_, size_);
}

Result<std::unique_ptr<SharedRegion>> SharedRegion::open(const RegionSpec& spec) {
  // A rename by root would take a device such as /dev/null away from the whole machine.
  struct stat there {};
  if (::lstat(spec.path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return Error{ErrorCode::kIo, spec.path + " is not a plain file",
                 "name another file with HYPERMILE_SIM_STATE"};
  }
  const std::string lock_path = spec.path + ".lock";
  const File guard(open_or_make(lock_path));
  if (guard.get() < 0) return system_error("cannot open " + lock_path, errno);
  RETURN_IF_ERROR(take_file_lock(guard, lock_path));
  auto existing = map_existing(spec);
  if (existing || existing.error().code == ErrorCode::kPermission) return existing;
  return replace(spec);
}

// kNotFound where the file is missing or unsuitable.
Result<std::unique_ptr<SharedRegion>> SharedRegion::map_existing(const RegionSpec& spec) {
  const Error unfit{ErrorCode::kNotFound, spec.path + " does not fit"};
  const File file(::open(spec.path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) {
    return errno == EACCES || errno == EPERM ? system_error("cannot open " + spec.path, errno)
                                             : unfit;
  }
  const std::size_t size = kPageSize + spec.payload_size;
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::size_t>(status.st_size) != size) {
    return unfit;
  }
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return system_error("cannot map " + spec.path, errno);
  std::unique_ptr<SharedRegion> region(new SharedRegion(memory, size));
  const Header& header = region->header();
  const std::string boot = boot_id();
  const bool fits =
      std::memcmp(header.magic, kMagic, sizeof kMagic) == 0 && header.layout == spec.layout &&
      header.header_size == sizeof(Header) && header.size == size &&
      std::string_view(header.boot, ::strnlen(header.boot, sizeof header.boot)) == boot &&
      spec.accepts(region->purpose());
  if (!fits) return unfit;
  return region;
}

// The file is completed under another name and then renamed, so that no process sees half a file.
Result<std::unique_ptr<SharedRegion>> SharedRegion::replace(const RegionSpec& spec) {
  const std::string path = fmt::format("{}.{}.new", spec.path, ::getpid());
  ::unlink(path.c_str());
  const File file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.get() < 0) return system_error("cannot create " + path, errno);
  const std::size_t size = kPageSize + spec.payload_size;
  void* memory = MAP_FAILED;
  // Reserve all blocks now, so that a full disk shows here and not as SIGBUS later.
  if (::fchmod(file.get(), 0666) == 0 &&
      ::posix_fallocate(file.get(), 0, static_cast<off_t>(size)) == 0) {
    memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  }
  if (memory == MAP_FAILED) {
    const int number = errno;
    ::unlink(path.c_str());
    return system_error("cannot create " + path, number);
  }
  std::unique_ptr<SharedRegion> region(new SharedRegion(memory, size));
  Header& header = region->header();
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.layout = spec.layout;
  header.header_size = sizeof(Header);
  header.size = size;
  boot_id().copy(header.boot, sizeof header.boot - 1);
  spec.purpose.copy(header.purpose, sizeof header.purpose - 1);
  Result<void> filled = spec.fill(region->payload());
  if (const int error = make_shared_mutex(header.mutex); filled && error != 0) {
    filled = system_error("cannot create a mutex in " + path, error);
  }
  if (filled && ::rename(path.c_str(), spec.path.c_str()) != 0) {
    filled = system_error("cannot replace " + spec.path, errno);
  }
  if (!filled) {
    ::unlink(path.c_str());
    return filled.error();
  }
  return region;
}

// Polls with trylock instead of a timed lock: the deadline is on the monotonic clock, and the
// thread sanitizers of gcc 12 and clang 14 follow a dead holder's lock through trylock only. The
// lock is held for microseconds, so the first pauses are short.
Result<SharedRegion::Lock> SharedRegion::lock() {
  const auto deadline = std::chrono::steady_clock::now() + kLockPatience;
  auto pause = kFirstPause;
  int error = pthread_mutex_trylock(&header().mutex);
  while (error == EBUSY && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
    error = pthread_mutex_trylock(&header().mutex);
  }
  if (error == EOWNERDEAD) {
    pthread_mutex_consistent(&header().mutex);
    return Lock(*this);
  }
  if (error == 0) return Lock(*this);
  return Error{error == EBUSY ? ErrorCode::kTimeout : ErrorCode::kIo,
               fmt::format("the simulated GPUs are locked: {}", std::strerror(error)),
               "end the process that holds them, or remove the state file"};
}

SharedRegion::Lock::~Lock() {
  if (region_ != nullptr) pthread_mutex_unlock(&region_->header().mutex);
}

}  // namespace hypermile
