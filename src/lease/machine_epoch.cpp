// SPDX-License-Identifier: Apache-2.0
#include "lease/machine_epoch.h"

#include <fstream>

namespace hypermile {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool differ(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && a != b;
}

}  // namespace

bool surely_over(const MachineEpoch& then, const MachineEpoch& now) {
  return differ(then.boot, now.boot) || differ(then.driver, now.driver);
}

MachineEpoch read_machine_epoch(const std::string& root) {
  MachineEpoch epoch;
  epoch.boot = first_line(root + "/proc/sys/kernel/random/boot_id");
  const std::string version = first_line(root + "/sys/module/nvidia/version");
  const std::string address = first_line(root + "/sys/module/nvidia/sections/.text");
  // The kernel shows address 0 to processes without the right to know it.
  const bool told = address.find_first_not_of("0x") != std::string::npos;
  if (!version.empty() && told) epoch.driver = version + "@" + address;
  return epoch;
}

}  // namespace hypermile
