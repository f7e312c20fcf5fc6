// SPDX-License-Identifier: Apache-2.0
//
// A file that several processes map and change, with a robust mutex: a process killed while it
// holds the lock leaves it usable, and the user must tolerate half-written data (Machine never
// changes data in place). The stand-in keeps its GPUs here.
//
// The file has a header: magic, layout, boot, and its purpose. An unsuitable file (other version,
// boot or size, or garbage) is replaced by rename, so that processes which still map the old one
// keep consistent data. Fails with kIo or kPermission where the file cannot be made or replaced,
// kTimeout where another process holds the lock for seconds.
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
  std::uint32_t layout = 0;  // changes with the meaning of the payload
  std::string purpose;       // identifies the content of a new file; at most 255 characters
  // True if an existing file with this purpose may be used.
  std::function<bool(const std::string&)> accepts;
  // Fills the payload of a new file, which is all zeros.
  std::function<Result<void>(void*)> fill;
};

class SharedRegion {
 public:
  static Result<std::unique_ptr<SharedRegion>> open(const RegionSpec& spec);
  ~SharedRegion();
  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;

  // Released by the destructor. Excludes threads and processes; not recursive.
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
