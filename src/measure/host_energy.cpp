// SPDX-License-Identifier: Apache-2.0
#include "measure/host_energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/environment_variable.h"

namespace hypermile {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> read_number(const fs::path& path) {
  std::ifstream in(path);
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

std::string read_word(const fs::path& path) {
  std::ifstream in(path);
  std::string word;
  in >> word;
  return word;
}

// "intel-rapl:0" is a package and "intel-rapl:0:2" a part of it. The packages of "intel-rapl-mmio"
// are the same ones again.
std::optional<int> package_of(const std::string& zone) {
  constexpr std::string_view kPrefix = "intel-rapl:";
  if (!zone.starts_with(kPrefix)) return std::nullopt;
  return std::atoi(zone.c_str() + kPrefix.size());
}

}  // namespace

HostEnergy::HostEnergy(const std::string& folder) {
  std::error_code failed;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, failed)) found.push_back(entry.path());
  std::ranges::sort(found);
  for (const fs::path& path : found) {
    const auto package = package_of(path.filename().string());
    const std::string name = read_word(path / "name");
    // "core" and "uncore" are parts of a package, and "psys" holds packages: none may count twice.
    // Memory is no part of a package.
    const bool dram = name == "dram";
    if (!package || (!dram && !name.starts_with("package"))) continue;
    const auto now = read_number(path / "energy_uj");
    const auto range = read_number(path / "max_energy_range_uj");
    if (!now || !range) {
      broken_ = true;
      continue;
    }
    zones_.push_back({dram ? fmt::format("dram-{}", *package) : name, (path / "energy_uj").string(),
                      *range, *now});
  }
}

void HostEnergy::poll() {
  for (Zone& zone : zones_) {
    const auto now = read_number(zone.path);
    if (!now) {
      broken_ = true;
      continue;
    }
    const std::uint64_t step =
        *now >= zone.last_uj ? *now - zone.last_uj : *now + zone.range_uj - zone.last_uj;
    used_j_ += 1e-6 * static_cast<double>(step);
    zone.last_uj = *now;
  }
}

std::optional<Joules> HostEnergy::used() const {
  if (zones_.empty() || broken_) return std::nullopt;
  return Joules(used_j_);
}

std::string HostEnergy::zones() const {
  std::string names;
  for (const Zone& zone : zones_) names += (names.empty() ? "" : ", ") + zone.name;
  return broken_ ? "" : names;
}

std::string powercap_folder() {
  return std::string(environment_variable("HYPERMILE_POWERCAP").value_or("/sys/class/powercap"));
}

}  // namespace hypermile
