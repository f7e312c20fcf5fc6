// SPDX-License-Identifier: Apache-2.0
//
// Which life of the machine and of its driver this is. Locked clocks and power limits end with
// either, so a journal from an earlier life has nothing to undo.
#pragma once

#include <string>

namespace hypermile {

struct MachineEpoch {
  std::string boot;    // the kernel's boot id; empty: not known
  std::string driver;  // differs after the driver was loaded anew; empty: not known

  bool operator==(const MachineEpoch&) const = default;
};

// Only when both are known and differ: in doubt the settings are still there, and giving them back
// once more does no harm.
bool surely_over(const MachineEpoch& then, const MachineEpoch& now);

// From /proc/sys/kernel/random/boot_id and, for the driver, its version and the address at which
// the kernel placed its module, which cannot change while it is loaded. `root` is "" or, in tests,
// a folder that stands for /.
MachineEpoch read_machine_epoch(const std::string& root = "");

}  // namespace hypermile
