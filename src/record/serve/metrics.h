// SPDX-License-Identifier: Apache-2.0
//
// The metrics for Prometheus: a registry that is made again at every poll, from the newest run of
// each log and from the daemon's status, so that nothing outlives its source. A scrape only reads
// the registry: no device is read and no counter is reset. docs/reference/metrics.md is made from
// it.
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
  // `runs` are the newest of each log and have metrics of their own; `all` are summed by user and
  // host.
  Metrics(std::span<const RunDigest* const> runs, std::span<const RunDigest* const> all,
          const DaemonView& daemon, std::size_t unreadable_logs);
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
