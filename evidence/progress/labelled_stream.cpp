// SPDX-License-Identifier: Apache-2.0
#include "evidence/progress/labelled_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "progress/recording.h"

namespace hypermile {
namespace {

// Iterations were recorded per optimizer step; in this recording a step has eight micro-batches.
std::uint32_t micro_batches(const std::string& name) {
  return name == "gpt2_ga8_bf16" ? 8 : 1;
}

// The positions of the first kernel that is launched once per iteration. The number of iterations
// is known; a truncated recording may lack one or contain the beginning of one more.
std::vector<std::uint64_t> find_starts(const std::vector<Launch>& launches,
                                       std::size_t iterations) {
  std::map<std::uint32_t, std::vector<std::uint64_t>> positions;
  for (std::uint64_t i = 0; i < launches.size(); ++i) positions[launches[i].kernel].push_back(i);
  std::vector<std::uint64_t> best;
  for (const auto& [kernel, at] : positions) {
    if (at.size() + 1 < iterations || at.size() > iterations + 1) continue;
    if (best.empty() || at.front() < best.front()) best = at;
  }
  // Recordings begin with an iteration, wherever in it this kernel stands.
  const std::uint64_t offset = best.empty() ? 0 : best.front();
  for (std::uint64_t& at : best) at -= offset;
  return best;
}

}  // namespace

double LabelledStream::iterations_at(std::uint64_t launch) const {
  const auto after = std::ranges::upper_bound(starts, launch);
  std::size_t open = static_cast<std::size_t>(after - starts.begin());
  open = std::clamp<std::size_t>(open, 1, starts.size() - 1) - 1;
  const double from = static_cast<double>(starts[open]);
  const double length = static_cast<double>(starts[open + 1]) - from;
  return static_cast<double>(open) + (static_cast<double>(launch) - from) / length;
}

double LabelledStream::launches_per_iteration() const {
  return static_cast<double>(starts.back() - starts.front()) /
         static_cast<double>(starts.size() - 1);
}

Seconds LabelledStream::mean_period() const {
  return (launches[starts.back()].time - launches[starts.front()].time) /
         static_cast<double>(starts.size() - 1);
}

const std::vector<std::string>& recording_names() {
  static const std::vector<std::string> names = {
      "mlp_tiny",           "full_cuda_graph_mlp",  "gin_small_batches",
      "bert_base_bf16_b64", "resnet50_bf16_b256",   "data_stalled_resnet18",
      "gcn_large",          "llama1b_bf16_seq2048", "gpt2_ga8_bf16"};
  return names;
}

Result<LabelledStream> load_recording(const std::string& folder, const std::string& name) {
  LabelledStream stream;
  stream.name = name;
  stream.inner = micro_batches(name);
  const std::string path = folder + "/" + name;
  ASSIGN_OR_RETURN(stream.launches, read_launches(path + ".csv.gz"));
  ASSIGN_OR_RETURN(stream.gpu_begins, read_iterations(path + ".iterations.csv"));
  stream.starts = find_starts(stream.launches, stream.gpu_begins.size() * stream.inner);
  if (stream.starts.size() < 2) {
    return Error{ErrorCode::kParse,
                 fmt::format("{}: no kernel is launched once an iteration", path),
                 "a recording and its iterations must come from the same run"};
  }
  return stream;
}

std::string recordings_folder() {
  if (const char* folder = std::getenv("HYPERMILE_H200_DATA")) {
    return std::string(folder) + "/launches";
  }
  const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
  return std::string(source ? source : ".") + "/../shared/data/h200/launches";
}

}  // namespace hypermile
