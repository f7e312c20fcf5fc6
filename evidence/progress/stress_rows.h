// SPDX-License-Identifier: Apache-2.0
//
// The table of stresses: each is an edit of a recording, tried from random starts with several
// seeds.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "evidence/progress/detector_trial.h"
#include "evidence/progress/stream_edits.h"

namespace hypermile {

struct StressRow {
  std::string id;
  std::string what;
  std::function<LabelledStream(const LabelledStream& from, Random& random)> edit;
  bool from_the_start = false;  // otherwise from a random place
};
inline std::ostream& operator<<(std::ostream& out, const StressRow& row) {
  return out << row.id;
}

const std::vector<StressRow>& stress_rows();
const std::vector<std::string>& stressed_names();

struct StressResult {
  std::size_t runs = 0;
  std::size_t right = 0;
  std::size_t wrong = 0;  // the remaining runs never locked
  std::size_t breaks = 0;
  std::size_t nested = 0;          // runs of streams with an outer level…
  std::size_t nested_right = 0;    // …that ended with the right one
  std::vector<double> lock_after;  // seconds
  std::string first_trouble;
};
StressResult stress(const StressRow& row, const std::vector<LabelledStream>& streams,
                    std::size_t seeds);

}  // namespace hypermile
