// SPDX-License-Identifier: Apache-2.0
#include "evidence/progress/stress_rows.h"

#include <fmt/format.h>

namespace hypermile {

const std::vector<StressRow>& stress_rows() {
  using Stream = LabelledStream;
  static const std::vector<StressRow> rows = {
      {"variants", "30 % of kernels replaced by a variant in 30 % of their launches",
       [](const Stream& from, Random& random) { return with_variants(from, 0.3, 0.3, random); }},
      {"losses", "1 % of launches dropped and 1 % random ones inserted",
       [](const Stream& from, Random& random) { return with_losses(from, 0.01, 0.01, random); }},
      {"swaps", "5 % of adjacent launches swapped",
       [](const Stream& from, Random& random) { return with_swaps(from, 0.05, random); }},
      {"side_stream", "three kernels of another stream 200 times a second, at random",
       [](const Stream& from, Random& random) { return with_side_stream(from, 200, random); }},
      {"warm_up", "3000 launches of warm-up in half a second before",
       [](const Stream& from, Random& random) { return with_warm_up(from, 3000, random); }, true},
      {"time_steps", "a twentieth of each iteration repeated 0 to 5 times",
       [](const Stream& from, Random& random) { return with_time_steps(from, random); }},
      {"logging", "12 launches more every 20 iterations",
       [](const Stream& from, Random&) { return with_logging(from, 12, 20); }},
      {"lengths_30", "30 % of kernels' names depend on the iteration's length (6 lengths)",
       [](const Stream& from, Random& random) { return with_lengths(from, 0.3, random); }},
      {"lengths_50", "50 % of them",
       [](const Stream& from, Random& random) { return with_lengths(from, 0.5, random); }},
      {"lengths_70", "70 % of them",
       [](const Stream& from, Random& random) { return with_lengths(from, 0.7, random); }}};
  return rows;
}

const std::vector<std::string>& stressed_names() {
  static const std::vector<std::string> names = {"mlp_tiny", "gin_small_batches",
                                                 "resnet50_bf16_b256", "gpt2_ga8_bf16"};
  return names;
}

StressResult stress(const StressRow& row, const std::vector<LabelledStream>& streams,
                    std::size_t seeds) {
  StressResult result;
  for (const LabelledStream& from : streams) {
    for (std::size_t seed = 0; seed < seeds; ++seed) {
      Random random(derive_seed(seed, (row.id + from.name).c_str()));
      const LabelledStream stream = row.edit(from, random);
      const double third = static_cast<double>(stream.launches.size()) / 3;
      const auto start =
          row.from_the_start ? 0 : static_cast<std::uint64_t>(third * random.uniform());
      const DetectorTrial trial = try_detector(stream, start);
      ++result.runs;
      result.breaks += trial.breaks;
      if (trial.lock_after) result.lock_after.push_back(trial.lock_after->value());
      const bool right = trial.lock_after && !trial.wrong;
      result.right += right ? 1 : 0;
      result.wrong += trial.wrong ? 1 : 0;
      if (from.inner > 1) {
        ++result.nested;
        result.nested_right += trial.level_right ? 1 : 0;
      }
      if (!right && result.first_trouble.empty()) {
        result.first_trouble = fmt::format(
            "{} seed {} from {}: {}", from.name, seed, start,
            trial.wrong
                ? fmt::format("ratio {:.3f}, count {:+.1f}", trial.ratio_at_lock, trial.worst_count)
                : "no lock");
      }
    }
  }
  return result;
}

}  // namespace hypermile
