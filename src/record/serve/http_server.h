// SPDX-License-Identifier: Apache-2.0
//
// A small HTTP/1 server for reading: one thread, a bounded number of connections, each with a
// deadline, one request each. PageServer owns it. No client can occupy more than its connection,
// and where all are taken, the one that has kept its request to itself for longest is closed: so
// clients that are slow, silent or many shut nobody out, and take no descriptor that the job's run
// needs. A library that gives each connection a thread cannot promise this.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "record/serve/http_request.h"
#include "record/serve/listen_address.h"

namespace hypermile {

struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

class HttpServer {
 public:
  // Called on the server's thread; must not wait.
  using Handler = std::function<HttpResponse(const HttpRequest& request)>;

  static constexpr std::size_t kMostConnections = 32;

  // Takes the port; clients wait until serve(). kBusy where the port is taken, kIo otherwise.
  static Result<std::unique_ptr<HttpServer>> bind(const ListenAddress& address, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }
  // Answers until `stop` is requested, and returns at once then.
  void serve(const std::stop_token& stop);

 private:
  struct Connection;

  HttpServer(Descriptor listener, int port, Handler handler);
  void accept_all();
  void make_room();
  // False when the connection is over.
  bool advance(Connection& connection);
  bool receive(Connection& connection);
  static bool send(Connection& connection);

  Descriptor listener_, wake_;
  int port_;
  Handler handler_;
  std::vector<std::unique_ptr<Connection>> connections_;  // the oldest first
  bool full_ = false;  // no descriptor is left for another connection
};

}  // namespace hypermile
