// SPDX-License-Identifier: Apache-2.0
//
// DEPO (Krzywaniak, Czarnul, Proficz: dynamic GPU power capping with online performance tracing),
// as re-implemented by the authors of MF-GPOEO: golden section over the power limit.
//
// Constants: 4 Windows at the default; the interval is the whole range of the knob; stop when it is
// no wider than a tenth of the range (5 of its 50 steps of 5 W); objective: score (energy), plus 1
// where the slowdown exceeds the bound; one-shot, no monitoring. Its knob is the power limit; where
// the list has none, the SM clock; the memory clock stays at the default.
//
// A gear met again is measured again and its old value counts 0.3, as there; the penalty does not
// grow with the slowdown, so two probes beyond the bound lead further down, as there. Corrected:
// slowdown is time per iteration, not launches of one kind of kernel launch a second, so it cannot
// be blind; on short lists the interval closes down to neighbours, since a tenth of the range would
// be less than one step; where every probe is beyond the bound the default is kept, not the least
// of them.
#include <algorithm>
#include <functional>

#include "policy/baselines/golden_section.h"
#include "policy/baselines/ladder.h"
#include "policy/baselines/search_policy.h"
#include "policy/makers.h"

namespace hypermile {
namespace {

constexpr int kBaseWindows = 4;
constexpr double kNarrowShare = 0.1;
constexpr double kPenalty = 1;
constexpr double kOldWeight = 0.3;

// Each gear measured, repeats merged.
class Gears {
 public:
  const Measured& merge(std::size_t setting, const Measured& fresh) {
    const auto found = std::ranges::find(all_, setting, &Trial::setting);
    if (found == all_.end()) {
      all_.push_back({setting, fresh});
      return all_.back().measured;
    }
    Measured& old = found->measured;
    old.time = kOldWeight * old.time + (1 - kOldWeight) * fresh.time;
    old.power = kOldWeight * old.power + (1 - kOldWeight) * fresh.power;
    return old;
  }
  const std::vector<Trial>& all() const { return all_; }

 private:
  std::vector<Trial> all_;
};

class Depo : public SearchMethod {
 public:
  explicit Depo(const PolicyContext& context)
      : objective_(context.objective), ladder_(make_grid(context, kLimitFirst).main()) {}

  std::optional<std::size_t> search(Trials& trials) const override {
    const auto base = trials.measure(0, kBaseWindows, "baseline");
    if (!base) return std::nullopt;
    const TrialReference reference(objective_, *base);
    const auto bound = effective_bound(objective_);
    Gears gears;
    const auto value = [&](const Measured& m) {
      return reference.score(m) + (reference.within(m, bound) ? 0 : kPenalty);
    };
    const auto probe = [&](std::int64_t rung) -> std::optional<double> {
      const std::size_t setting = ladder_[static_cast<std::size_t>(rung)].setting;
      const auto m = trials.measure(setting, "golden section");
      return m ? std::optional(value(gears.merge(setting, *m))) : std::nullopt;
    };
    const auto last = static_cast<std::int64_t>(ladder_.size()) - 1;
    const auto tenth = static_cast<std::int64_t>(kNarrowShare * static_cast<double>(last));
    const GoldenInterval range{.low = 0, .high = last, .narrow = std::max<std::int64_t>(tenth, 1)};
    if (!golden_section(range, probe, std::less<>{})) return std::nullopt;
    return best_within(reference, gears.all(), bound);
  }

 private:
  Objective objective_;
  Ladder ladder_;
};

}  // namespace

std::unique_ptr<Policy> make_depo_policy(const PolicyContext& context) {
  return std::make_unique<SearchPolicy>(context, std::make_unique<Depo>(context));
}

}  // namespace hypermile
