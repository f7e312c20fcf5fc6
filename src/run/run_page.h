// SPDX-License-Identifier: Apache-2.0
//
// What run and attach show in a browser: a live page while the job runs (--serve), a report when it
// has ended (--report). Both are made from the event log; where --log names none, from one that is
// gone when the run is over. Nothing here can keep the job from running.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/options.h"
#include "record/serve/page_server.h"

namespace hypermile {

class RunPage {
 public:
  // `say` gets lines for a person. `options` must outlive it.
  RunPage(const OptionValues& options, std::function<void(const std::string&)> say);
  ~RunPage();

  // Before the job: the log to write, if any, and the port. A page that cannot be shown is said,
  // and the job runs without; kUsage for what was asked wrongly.
  Result<std::optional<std::string>> prepare();
  void start();
  // Writes the report and ends the page. The log is complete.
  void finish();

 private:
  Result<void> bind();

  const OptionValues& options_;
  std::function<void(const std::string&)> say_;
  std::optional<std::string> log_;
  bool temporary_ = false;
  std::unique_ptr<PageServer> server_;
};

// A server as --token-file and `address` ask for; for run, attach and serve.
Result<std::unique_ptr<PageServer>> bind_page_server(const OptionValues& options,
                                                     const std::string& address,
                                                     std::vector<std::string> logs);

}  // namespace hypermile
