// SPDX-License-Identifier: Apache-2.0
//
// Measures a Setting once and remembers it, for searches that come back to a Setting without
// wanting a second Window there.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "policy/baselines/trials.h"

namespace hypermile {

class Probed {
 public:
  explicit Probed(Trials& trials) : trials_(trials) {}

  // What was measured at `setting` before, else `windows` new Windows; nullopt: still to be made.
  std::optional<Measured> at(std::size_t setting, std::string_view why, int windows = 1) {
    const auto found = std::ranges::find(all_, setting, &Trial::setting);
    if (found != all_.end()) return found->measured;
    const std::optional<Measured> fresh = trials_.measure(setting, windows, why);
    if (fresh) all_.push_back({setting, *fresh});
    return fresh;
  }
  // A Setting whose value is known already.
  void set(std::size_t setting, const Measured& m) { all_.push_back({setting, m}); }

  const std::vector<Trial>& all() const { return all_; }

 private:
  Trials& trials_;
  std::vector<Trial> all_;
};

}  // namespace hypermile
