// SPDX-License-Identifier: Apache-2.0
//
// Serves the live page, its data and /metrics over HTTP, for reading only. One thread polls the
// logs and the daemon; another answers (http_server.h). No client can affect the job, because this
// class only reads files and the daemon's socket. `serve` and `run --serve` use it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/serve/access.h"
#include "record/serve/listen_address.h"

namespace hypermile {

struct PageServerOptions {
  ListenAddress address;
  std::string token = {};
  std::vector<std::string> logs;  // files and folders
  std::string daemon_socket;      // "" where no daemon is read
};

class PageServer {
 public:
  // Takes the port but does not answer yet. kUsage where a token is missing; kBusy where the port
  // is taken; kIo otherwise. Without the page in the program, metrics are served and the page says
  // why.
  static Result<std::unique_ptr<PageServer>> bind(PageServerOptions options);
  // Closes every connection.
  ~PageServer();

  // Starts to answer, on threads of its own that block all signals.
  void start();
  const ListenAddress& address() const;  // with the port that it got

 private:
  struct Inside;
  explicit PageServer(std::unique_ptr<Inside> inside);

  std::unique_ptr<Inside> inside_;
};

}  // namespace hypermile
