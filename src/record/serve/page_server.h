// SPDX-License-Identifier: Apache-2.0
//
// Serves the live page, what it asks for, and /metrics over HTTP. Reading only. A thread polls the
// logs and the daemon; a few threads answer. Nothing that a client does or leaves undone reaches
// the job: this class knows files and a socket, no more.
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
  std::string daemon_socket;      // "": none is asked
};

class PageServer {
 public:
  // Takes the port, answers nobody yet. kUsage where a token is missing; kBusy where the port is
  // taken; kUnsupported where hypermile was built without the page (metrics are served then, and
  // the page says so), kIo.
  static Result<std::unique_ptr<PageServer>> bind(PageServerOptions options);
  // Stops; waits for what is being answered.
  ~PageServer();

  // From here on it answers, on threads of its own that no signal reaches.
  void start();
  const ListenAddress& address() const;  // with the port that it got

 private:
  struct Inside;
  explicit PageServer(std::unique_ptr<Inside> inside);

  std::unique_ptr<Inside> inside_;
};

}  // namespace hypermile
