// SPDX-License-Identifier: Apache-2.0
//
// The runs that a server shows: those of the given logs and folders, followed as they grow, and the
// daemon's leases. One thread polls; any thread may ask for the documents of the page and for the
// metrics, which are made from what the last poll found.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "record/log_tail.h"
#include "record/serve/daemon_view.h"
#include "record/serve/metrics.h"

namespace hypermile {

struct RunDocument {
  std::string version;  // changes whenever the run changes
  std::string json;     // {"version", "run"}; "" where `seen` is this version already
};

class RunShelf {
 public:
  // `paths` are logs, and folders whose *.jsonl files are added as they appear.
  explicit RunShelf(std::vector<std::string> paths, double start_unix = 0);

  // Reads what is new, until `stop` is requested. Never fails: the page shows which logs cannot be
  // read.
  void poll(const std::stop_token& stop = {});
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
  std::string session_;  // names this server, because versions of another server do not count
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<LogTail>> logs_;  // by path
  std::map<std::string, std::string> problems_;           // by path
  std::size_t logs_left_out_ = 0;
  DaemonView daemon_;
  std::shared_ptr<const Metrics> metrics_;
};

}  // namespace hypermile
