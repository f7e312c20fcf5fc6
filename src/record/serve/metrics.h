// SPDX-License-Identifier: Apache-2.0
//
// What Prometheus is told: a registry made anew at every poll from the digests of the newest run of
// each log and from the daemon's own words, so that what is gone is gone. To scrape is to read it:
// no device is asked, nothing is reset. docs/reference/metrics.md is made from it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "record/run_digest.h"
#include "record/serve/daemon_view.h"

namespace prometheus {
class Registry;
}

namespace hypermile {

class Metrics {
 public:
  Metrics(std::span<const RunDigest* const> runs, const DaemonView& daemon,
          std::size_t unreadable_logs);
  ~Metrics();

  // Prometheus' text format.
  std::string text() const;
  // A table of every metric with type, labels and meaning.
  std::string markdown() const;

 private:
  std::unique_ptr<prometheus::Registry> registry_;
};

// The reference page, from a registry in which every metric has a value.
std::string metrics_reference();

}  // namespace hypermile
