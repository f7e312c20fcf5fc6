// SPDX-License-Identifier: Apache-2.0
//
// Identifies the current boot of the machine and load of the driver. Locked clocks and power limits
// are lost with either, so a journal from an earlier epoch has nothing to restore. GpuKeeper
// compares epochs; what cannot be read stays unknown, so nothing fails.
#pragma once

#include <string>

namespace hypermile {

struct MachineEpoch {
  std::string boot;    // the kernel's boot id; empty means unknown
  std::string driver;  // changes when the driver is loaded again; empty means unknown

  bool operator==(const MachineEpoch&) const = default;
};

// True only when both epochs are known and differ. In doubt the settings may still be in force, and
// restoring them once more does no harm.
bool surely_over(const MachineEpoch& then, const MachineEpoch& now);

// Reads /proc/sys/kernel/random/boot_id and, for the driver, its version and the address of its
// kernel module, which is fixed while the module is loaded. `root` is "" or, in tests, a folder in
// place of /.
MachineEpoch read_machine_epoch(const std::string& root = "");

}  // namespace hypermile
