// SPDX-License-Identifier: Apache-2.0
//
// What a run shows in a browser: a live page while the job runs, a report when it has ended. Both
// are made from the event log; where the request names no log, from a temporary one that is removed
// when the run is over. Nothing that fails here keeps the job from running.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "record/serve/page_server.h"
#include "run/run_request.h"

namespace hypermile {

class RunPage {
 public:
  // `say` gets lines for a person. `request` must outlive it.
  RunPage(const ReportRequest& request, std::function<void(const std::string&)> say);
  ~RunPage();

  // Call before the job starts: takes the port and returns the path of the log to write, if any. A
  // page that cannot be shown is said, and the job runs without it; kUsage where the request itself
  // is wrong, kIo where the report could not be written at the end.
  Result<std::optional<std::string>> prepare();
  // Lets browsers in.
  void start();
  // Call when the log is complete: ends the live page and writes the report.
  void finish();

 private:
  Result<void> bind();

  const ReportRequest& request_;
  std::function<void(const std::string&)> say_;
  std::optional<std::string> log_;
  bool temporary_ = false;
  std::unique_ptr<PageServer> server_;
};

// kIo where a file could not be written there at the end of the job. Leaves nothing behind.
Result<void> check_writable(const std::string& path);

// A server of these logs at ADDR:PORT, with the daemon's leases; also for `hypermile serve`. kUsage
// for an address or a token file that will not do.
Result<std::unique_ptr<PageServer>> bind_page_server(const std::string& address,
                                                     const std::optional<std::string>& token_file,
                                                     std::vector<std::string> logs);

}  // namespace hypermile
