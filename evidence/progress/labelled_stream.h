// SPDX-License-Identifier: Apache-2.0
//
// A launch stream whose iterations are known exactly: recordings, edited recordings and synthetic
// streams. The detector is judged against it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "inject/launch.h"

namespace hypermile {

struct LabelledStream {
  std::string name;
  std::vector<Launch> launches;
  // Launches that open an iteration of level 0, ascending; empty for an aperiodic stream.
  std::vector<std::uint64_t> starts;
  std::uint32_t inner = 1;  // iterations of level 0 in one iteration of the job
  // When the job's iterations began on the GPU; empty if not recorded.
  std::vector<Instant> gpu_begins;

  // Iterations of level 0 before this launch, with the finished part of the open one; extrapolated
  // before the first start and after the last.
  double iterations_at(std::uint64_t launch) const;
  double launches_per_iteration() const;
  // Mean period of level 0 on the host's axis.
  Seconds mean_period() const;
};

// The recordings of data/h200.
const std::vector<std::string>& recording_names();
Result<LabelledStream> load_recording(const std::string& folder, const std::string& name);

// $HYPERMILE_H200_DATA/launches, or ../shared/data/h200/launches beside the source tree.
std::string recordings_folder();

}  // namespace hypermile
