// SPDX-License-Identifier: Apache-2.0
//
// A ring whose writer does what the fuzzer says. The input is a program of writes into the file
// (arbitrary bytes anywhere, validly sealed slots, a new head, another size) with drains in
// between.
#include <fcntl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "inject/ring_folder.h"
#include "inject/ring_writer.h"

namespace hypermile {
namespace {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::size_t taken = bytes < size_ ? bytes : size_;
    std::memcpy(&value, data_, taken);
    data_ += taken;
    size_ -= taken;
    return value;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

void put(int file, const void* from, std::size_t size, std::uint64_t offset) {
  if (::pwrite(file, from, size, static_cast<off_t>(offset)) < 0) std::abort();
}

// Aborts if the reader accepted something impossible.
void check(const RingBatch& batch, Instant now) {
  for (const NumberedLaunch& each : batch.launches)
    if ((each.launch.kernel >= kLargeRing.names && each.launch.kernel != kOtherKernel) ||
        each.launch.time > now + Seconds(1))
      std::abort();
  for (const GpuTime& each : batch.gpu_times)
    if (!(each.time.value() >= 0)) std::abort();
  if (batch.launches.size() > kLargeRing.slots) std::abort();
}

void write_slot(int file, Input& input) {
  const std::uint64_t number = input.number(3);
  RingSlot slot{0, input.number(5), input.number(8), input.number(8)};
  slot.seal = seal_of(number, slot.a, slot.b, slot.c);
  put(file, &slot, sizeof slot,
      kLargeRing.slots_offset() + (number % kLargeRing.slots) * sizeof slot);
  const std::uint64_t head = number + 1;
  put(file, &head, sizeof head, offsetof(RingHeader, head));
}

void act(int file, RingReader& reader, Input& input, Instant& now) {
  switch (input.number(1) % 6) {
    case 0: {
      const std::uint64_t word = input.number(8);
      put(file, &word, sizeof word, input.number(4) % (kLargeRing.file_size() - sizeof word));
      break;
    }
    case 1:
      write_slot(file, input);
      break;
    case 2: {
      const std::uint64_t head = input.number(8);
      put(file, &head, sizeof head, offsetof(RingHeader, head));
      break;
    }
    case 3:
      if (::ftruncate(file, static_cast<off_t>(input.number(4) % (2 * kLargeRing.file_size()))) !=
          0)
        std::abort();
      break;
    case 4:
      (void)reader.info();
      (void)reader.name(static_cast<std::uint32_t>(input.number(2)));
      break;
    default: {
      now = now + milliseconds(static_cast<double>(input.number(1)));
      RingBatch batch;
      (void)reader.drain(now, batch);
      check(batch, now);
    }
  }
}

// A ring's file as its writer leaves it, and a way to restore it.
struct Fresh {
  std::unique_ptr<RingFolder> folder;
  std::string path;
  int file = -1;
  RingHeader header{};

  Fresh() {
    auto made = RingFolder::make();
    if (!made) std::abort();
    folder = std::make_unique<RingFolder>(std::move(*made));
    ::setenv(kRingDirVariable, folder->path().c_str(), 1);
    if (!std::make_unique<RingWriter>()->open(RingSource::kLaunches)) std::abort();
    const auto found = folder->discover();
    if (found.empty()) std::abort();
    path = folder->path() + "/" + found.front()->file_name();
    file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (::pread(file, &header, sizeof header, 0) != sizeof header) std::abort();
  }
  RingReader reader() const {
    if (::ftruncate(file, 0) != 0 || ::ftruncate(file, kLargeRing.file_size()) != 0) std::abort();
    put(file, &header, sizeof header, 0);
    auto opened = RingReader::open(AT_FDCWD, path, ::geteuid());
    if (!opened) std::abort();
    return std::move(*opened);
  }
};

}  // namespace
}  // namespace hypermile

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hypermile;
  static const Fresh fresh;
  RingReader reader = fresh.reader();
  Input input(data, size);
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  while (!input.empty()) act(fresh.file, reader, input, now);
  RingBatch batch;
  (void)reader.drain(now, batch);
  check(batch, now);
  return 0;
}
