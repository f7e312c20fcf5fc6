// SPDX-License-Identifier: Apache-2.0
//
// What the two sequences of protocol_sequences.h share: choices made from bytes, and cards under
// keepers whose ports answer at once.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lease/daemon/daemon_config.h"
#include "testing/faulty_files.h"
#include "testing/faulty_gpu.h"
#include "testing/inline_port.h"
#include "testing/mortal_gpu.h"

namespace hypermile {

inline constexpr unsigned kSequenceGpus = 3;

// Numbers from the bytes; zeros when they are used up.
class SequenceChoices {
 public:
  explicit SequenceChoices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool empty() const { return at_ >= bytes_.size(); }
  unsigned pick(unsigned count) { return next() % count; }
  std::uint8_t next() { return empty() ? std::uint8_t{0} : bytes_[at_++]; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

inline GpuUuid sequence_gpu(unsigned number) {
  return GpuUuid(fmt::format("GPU-{}", number));
}

inline constexpr double kLowestMhz = 345;
inline constexpr double kHighestMhz = 1500;

// Users 1 to 3 have a rule.
inline DaemonConfig sequence_rules() {
  DaemonConfig config;
  Rule rule;
  rule.subjects.users = {1, 2, 3};
  rule.rights.bounds.sm_clock = KnobRange{kLowestMhz, kHighestMhz};
  rule.rights.longest_lease = Seconds(30);
  config.allow.rules = {rule};
  return config;
}

// A power limit is given back by setting what it was.
inline bool is_changed(const FakeGpu& card) {
  const Setting& held = card.held;
  const auto usual = card.capabilities().default_power_limit;
  return held.sm_clock || held.memory_clock || (held.power_limit && held.power_limit != usual);
}

// Cards, keepers and a disk; the ports answer at once.
struct SequenceCards {
  explicit SequenceCards(const Clock& clock) : files(FaultyFiles::Disk{}, fate) {
    for (unsigned i = 0; i < kSequenceGpus; ++i) {
      cards.push_back(std::make_unique<FakeGpu>(clock, sequence_gpu(i).text()));
      auto gpu = std::make_unique<MortalGpu>(*cards.back(), fate);
      auto keeper =
          GpuKeeper::make(std::move(gpu), files, clock, {"/state", "test", {"boot", ""}, {}, {}});
      ports.push_back(std::make_unique<InlinePort>(std::move(keeper).value()));
    }
  }
  std::vector<GpuPort*> pointers() const {
    std::vector<GpuPort*> all;
    for (const auto& port : ports) all.push_back(port.get());
    return all;
  }
  std::string changed() const {
    for (const auto& card : cards) {
      if (is_changed(*card)) return card->identity().uuid.text() + " is still changed";
    }
    return "";
  }

  Fate fate;
  FaultyFiles files;
  std::vector<std::unique_ptr<FakeGpu>> cards;
  std::vector<std::unique_ptr<InlinePort>> ports;
};

}  // namespace hypermile
