// SPDX-License-Identifier: Apache-2.0
#include "record/serve/page_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <pthread.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <ctime>
#include <thread>

#include "record/report_page.h"
#include "record/serve/run_shelf.h"

namespace hypermile {
namespace {

constexpr std::size_t kThreads = 6;
constexpr std::chrono::milliseconds kPoll{1000};
constexpr int kAskDaemonEvery = 2;  // polls
constexpr time_t kPatienceSeconds = 5;
constexpr const char* kJson = "application/json";
constexpr const char* kPlain = "text/plain; charset=utf-8";
constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

Error cannot_listen(const ListenAddress& address, int reason) {
  const bool taken = reason == EADDRINUSE;
  return Error{taken ? ErrorCode::kBusy : ErrorCode::kIo,
               fmt::format("cannot listen on {}:{}: {}", address.host, address.port,
                           reason != 0 ? std::strerror(reason) : "no such address here"),
               taken ? "another program has that port: choose another, or 0 for any free one"
                     : "give an address of this machine and a port above 1023"};
}

void only_reuse_address(int socket) {
  // The library's own options would let two servers share a port without an error.
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

// Threads made while it exists block all signals: these are for the job or the program.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_ = {};
};

}  // namespace

struct PageServer::Inside {
  Inside(PageServerOptions given, Access judge)
      : options(std::move(given)),
        access(std::move(judge)),
        shelf(options.logs, static_cast<double>(std::time(nullptr))),
        page(live_page()) {}

  void route();
  void answer_run(const httplib::Request& request, httplib::Response& response) const;
  httplib::Server::HandlerResponse admit(const httplib::Request& request,
                                         httplib::Response& response) const;
  void watch(const std::stop_token& stop);

  PageServerOptions options;
  Access access;
  RunShelf shelf;
  Result<std::string> page;
  httplib::Server http;
  std::jthread listener;
  std::jthread watcher;
};

void PageServer::Inside::route() {
  http.set_socket_options(only_reuse_address);
  http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  // A connection that stays open would occupy a thread that other clients need.
  http.set_keep_alive_max_count(1);
  http.set_read_timeout(kPatienceSeconds);
  http.set_write_timeout(kPatienceSeconds);
  http.set_payload_max_length(1 << 10);
  http.set_default_headers({{"X-Content-Type-Options", "nosniff"},
                            {"Cache-Control", "no-store"},
                            {"Referrer-Policy", "no-referrer"}});
  http.set_pre_routing_handler(
      [this](const auto& request, auto& response) { return admit(request, response); });
  http.Get("/", [this](const httplib::Request&, httplib::Response& response) {
    if (page) return response.set_content(*page, "text/html; charset=utf-8");
    response.status = 501;
    response.set_content(page.error().line() + "; /metrics is served\n", kPlain);
  });
  http.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
    response.set_content(shelf.metrics_text(), kMetricsType);
  });
  http.Get("/api/overview", [this](const httplib::Request&, httplib::Response& response) {
    response.set_content(shelf.overview_json(), kJson);
  });
  http.Get("/api/run",
           [this](const auto& request, auto& response) { answer_run(request, response); });
  http.set_error_handler([](const httplib::Request&, httplib::Response& response) {
    if (!response.body.empty()) return;
    response.set_content(
        fmt::format("{}: there is nothing here but /, /metrics and /api\n", response.status),
        kPlain);
  });
}

void PageServer::Inside::answer_run(const httplib::Request& request,
                                    httplib::Response& response) const {
  const auto document =
      shelf.run_document(request.get_param_value("id"), request.get_param_value("seen"));
  if (!document) {
    response.status = 404;
    response.set_content("{\"problem\":\"there is no such run\"}", kJson);
  } else if (document->json.empty()) {
    response.status = 204;
  } else {
    response.set_content(document->json, kJson);
  }
}

// The page itself holds no data: it may be read without the token, which it asks a person for.
httplib::Server::HandlerResponse PageServer::Inside::admit(const httplib::Request& request,
                                                           httplib::Response& response) const {
  using Handled = httplib::Server::HandlerResponse;
  const auto verdict =
      access.judge(request.get_header_value("Host"), request.get_header_value("Authorization"));
  if (verdict == Access::Verdict::kAllowed) return Handled::Unhandled;
  if (verdict == Access::Verdict::kStrangeHost) {
    response.status = 403;
    response.set_content("this page is for names of this machine only\n", kPlain);
    return Handled::Handled;
  }
  if (request.path == "/") return Handled::Unhandled;
  response.status = 401;
  response.set_header("WWW-Authenticate", "Bearer");
  response.set_content("a token is needed: Authorization: Bearer TOKEN\n", kPlain);
  return Handled::Handled;
}

void PageServer::Inside::watch(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  for (int round = 0; !stop.stop_requested(); ++round) {
    if (!options.daemon_socket.empty() && round % kAskDaemonEvery == 0) {
      shelf.take(ask_daemon(options.daemon_socket));
    }
    shelf.poll();
    std::unique_lock lock(mutex);
    wake.wait_for(lock, stop, kPoll, [] { return false; });
  }
}

Result<std::unique_ptr<PageServer>> PageServer::bind(PageServerOptions options) {
  ASSIGN_OR_RETURN(Access access, Access::make(options.address, options.token));
  auto inside = std::make_unique<Inside>(std::move(options), std::move(access));
  inside->route();
  ListenAddress& address = inside->options.address;
  errno = 0;
  if (address.port == 0) {
    const int port = inside->http.bind_to_any_port(address.host);
    if (port <= 0) return cannot_listen(address, errno);
    address.port = port;
  } else if (!inside->http.bind_to_port(address.host, address.port)) {
    return cannot_listen(address, errno);
  }
  return std::unique_ptr<PageServer>(new PageServer(std::move(inside)));
}

PageServer::PageServer(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}

PageServer::~PageServer() {
  if (!inside_->listener.joinable()) return;
  inside_->http.stop();
  inside_->watcher.request_stop();
}

void PageServer::start() {
  const NoSignals quiet;
  Inside& inside = *inside_;
  inside.watcher = std::jthread([&inside](const std::stop_token& stop) { inside.watch(stop); });
  inside.listener = std::jthread([&inside] { inside.http.listen_after_bind(); });
  // Before the server runs, a request to stop it has no effect.
  while (!inside.http.is_running()) std::this_thread::yield();
}

const ListenAddress& PageServer::address() const {
  return inside_->options.address;
}

}  // namespace hypermile
