// SPDX-License-Identifier: Apache-2.0
//
// The runs that a server shows: those of the logs and folders it was told of, followed as they
// grow, and the daemon's leases. One thread polls; any thread may ask for what the page and metrics
// need, which is made from what the last poll has found.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "record/log_tail.h"
#include "record/serve/daemon_view.h"
#include "record/serve/metrics.h"

namespace hypermile {

struct RunDocument {
  std::string version;  // differs whenever the run has changed
  std::string json;     // {"version", "run"}; "" where `seen` is that version
};

class RunShelf {
 public:
  // Logs, and folders whose *.jsonl are taken as they appear.
  explicit RunShelf(std::vector<std::string> paths, double start_unix = 0);

  // Reads what is new. Never fails: what cannot be read is told on the page.
  void poll();
  void take(DaemonView daemon);

  std::string overview_json() const;
  std::optional<RunDocument> run_document(const std::string& id, const std::string& seen) const;
  // The registry's text as of the last poll.
  std::string metrics_text() const;
  std::size_t logs() const;

 private:
  void find_logs();
  void refresh();

  std::vector<std::string> paths_;
  std::string session_;  // of this server: versions of another one mean nothing
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<LogTail>> logs_;  // by path
  std::map<std::string, std::string> problems_;           // by path
  std::size_t logs_left_out_ = 0;
  DaemonView daemon_;
  std::shared_ptr<const Metrics> metrics_;
};

}  // namespace hypermile
