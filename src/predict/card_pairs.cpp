// SPDX-License-Identifier: Apache-2.0
#include "predict/card_pairs.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "predict/model_predictor.h"
#include "predict/new_card_errors.h"
#include "predict/trust.h"

namespace hypermile {
namespace {

// The least number of workloads from which a model of one card is trained.
constexpr std::size_t kFewestWorkloads = 8;
// The least number of families whose jobs were asked about: one to set scales, one to try them on.
constexpr std::size_t kFewestAsked = 2;

std::size_t workloads_of(const std::vector<Example>& examples) {
  std::set<std::string> groups;
  for (const Example& example : examples) groups.insert(example.group);
  return groups.size();
}

}  // namespace

Result<BoundScales> card_pair_scales(std::span<const Example> examples,
                                     const TrainingOptions& options) {
  std::map<std::string, std::vector<Example>> cards;
  for (const Example& example : examples) {
    if (has_clocks(example)) cards[example.set + " " + example.key.gpu].push_back(example);
  }
  TrainingOptions alone = options;
  alone.leave_cards = false;
  NewCardErrors clocks(RowKind::kClocks);
  for (const auto& [from, known] : cards) {
    if (workloads_of(known) < kFewestWorkloads) continue;
    ASSIGN_OR_RETURN(const Model model, train(known, alone));
    const std::string family = card_family(known.front().key.gpu);
    for (const auto& [to, asked] : cards) {
      if (card_family(asked.front().key.gpu) == family) continue;
      const std::string pair = fmt::format("{} → {}", from, to);
      for (const Example& example : asked) {
        const Asking asking = {{}, card_distances(model.cards, example.features)};
        const auto settings = settings_of(example);
        auto raw = raw_estimates(model, example.features, settings, asking);
        lean_on_mean(model.mean, model.new_card, asking.distances, settings, raw);
        clocks.add(example, pair, 0.0, raw);
      }
    }
  }
  return clocks.scales(kCardPairScales, kFewestAsked);
}

}  // namespace hypermile
