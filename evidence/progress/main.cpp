// SPDX-License-Identifier: Apache-2.0
//
// progress_evidence [LAUNCHES]: prints docs/evidence/iterations.md, which compares the launch
// detector with recordings, edited recordings and synthetic streams. LAUNCHES is the folder of
// recordings; without it the tables that need recordings are left out. scripts/evidence/iterations
// calls it.
#include <fmt/format.h>

#include <cstdio>

#include "evidence/progress/tables.h"

namespace hypermile {
namespace {

constexpr std::size_t kStarts = 40;
constexpr std::size_t kSeeds = 12;

void print_recordings(const std::vector<LabelledStream>& recordings) {
  fmt::print(
      "## Recordings on an H200\n\nReplayed from measurements. From {} starts each, the first "
      "launch "
      "and others at random in the first half. *Off at lock*: iterations counted against true ones "
      "between the boundaries known at the instant of lock, worst start (bar 3 %). *Count off*: "
      "over "
      "the whole locked stretch, worst start (bar 2 at the ends).\n\n{}\n",
      kStarts, lock_table(recordings, kStarts));
  fmt::print(
      "## Period from host times\n\nError against the GPU's own period over the same window, "
      "percent: "
      "mean ± standard deviation over windows, and the share of windows that was refused.\n\n{}\n",
      period_table(recordings));
  fmt::print(
      "## Stress\n\nEdits of mlp_tiny, gin_small_batches, resnet50_bf16_b256 and gpt2_ga8_bf16, {} "
      "seeds "
      "each, random starts. Right: locked, never wrong as above.\n\n{}\n",
      kSeeds, stress_table(recordings, kSeeds));
  fmt::print(
      "## Gradient accumulation\n\nThe last twenty-fifth of an iteration becomes an optimizer that "
      "runs "
      "every m iterations.\n\n{}\n",
      accumulation_table(recordings, kSeeds));
  fmt::print(
      "## Evaluation between training\n\nEvaluation launches only the first part of an iteration. "
      "A "
      "switch is to be told within 3 iterations or 100 ms, a phase met before to be locked again "
      "within "
      "0.25 s under its number.\n\n{}\n",
      phase_table(recordings));
}

int print_page(const std::string& folder) {
  fmt::print(
      "# Iterations found in launch streams\n\nMade by `scripts/evidence/iterations`; nothing here "
      "is "
      "written by hand. How the detector works is in [detection.md](../design/detection.md).\n\n");
  std::vector<LabelledStream> recordings;
  for (const std::string& name : recording_names()) {
    auto stream = load_recording(folder, name);
    if (!stream) {
      fmt::print("Recordings are not here: {}.\n\n", stream.error().line());
      recordings.clear();
      break;
    }
    recordings.push_back(*std::move(stream));
  }
  fmt::print(
      "## Whole recordings\n\nReplayed from measurements, among them short epochs, graphs in "
      "bursts "
      "and rounds of a reinforcement learner. *Lock*: seconds from the first true iteration to the "
      "first lock. *Known*: share of the time from there to the end of the recording.\n\n{}\n",
      count_table(folder));
  if (!recordings.empty()) print_recordings(recordings);
  fmt::print(
      "## Streams without a period\n\nSimulated, 6 s each; locked less than 2 % of the "
      "time.\n\n{}\n",
      aperiodic_table(kSeeds));
  fmt::print(
      "## Jobs nobody recorded\n\nSimulated. Iterations of seconds, whose equal layers must not be "
      "taken "
      "for iterations; time steps; graphs.\n\n{}",
      made_table(kSeeds));
  return 0;
}

}  // namespace
}  // namespace hypermile

int main(int argc, char** argv) {
  return hypermile::print_page(argc > 1 ? argv[1] : hypermile::recordings_folder());
}
