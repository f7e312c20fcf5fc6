// SPDX-License-Identifier: Apache-2.0
//
// A file that several processes map and change, with a mutex that outlives its holders: a process
// killed inside the lock leaves it usable, and what it half wrote is the caller's to survive (see
// Machine, which never changes in place). The stand-in keeps its GPUs here.
//
// The file carries a header: magic, layout, boot, and what it was made for. A file that does not
// fit (another version, another boot, another size, nonsense) is replaced by rename, so whoever
// still maps the old one keeps a consistent world of its own. Fails with kIo or kPermission where
// the file cannot be made or replaced, kTimeout where another process holds a lock for seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"

namespace hypermile {

struct RegionSpec {
  std::string path;
  std::size_t payload_size = 0;
  std::uint32_t layout = 0;  // changes with the payload's meaning
  std::string purpose;       // what a new file is made for; at most 255 characters
  // May an existing file, made for this purpose, be used?
  std::function<bool(const std::string&)> accepts;
  // Makes a new file's payload, which is all zeros.
  std::function<Result<void>(void*)> fill;
};

class SharedRegion {
 public:
  static Result<std::unique_ptr<SharedRegion>> open(const RegionSpec& spec);
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  // Released by the destructor. For threads and processes alike; not recursive.
  class Lock {
   public:
    explicit Lock(SharedRegion& region) : region_(&region) {}
    Lock(Lock&& other) noexcept : region_(std::exchange(other.region_, nullptr)) {}
    Lock& operator=(Lock&&) = delete;
    ~Lock();

   private:
    SharedRegion* region_;
  };
  Result<Lock> lock();

  void* payload() const;
  std::string purpose() const;

 private:
  struct Header;
  SharedRegion(void* memory, std::size_t size) : memory_(memory), size_(size) {}
  static Result<std::unique_ptr<SharedRegion>> map_existing(const RegionSpec& spec);
  static Result<std::unique_ptr<SharedRegion>> replace(const RegionSpec& spec);
  Header& header() const;

  void* memory_;
  std::size_t size_;
};

}  // namespace hypermile
