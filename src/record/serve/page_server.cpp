// SPDX-License-Identifier: Apache-2.0
#include "record/serve/page_server.h"

#include <pthread.h>

#include <condition_variable>
#include <csignal>
#include <ctime>
#include <mutex>
#include <optional>
#include <thread>

#include "record/report_page.h"
#include "record/serve/http_server.h"
#include "record/serve/run_shelf.h"

namespace hypermile {
namespace {

constexpr std::chrono::milliseconds kPoll{1000};
constexpr int kAskDaemonEvery = 2;  // polls
constexpr const char* kJson = "application/json";
constexpr const char* kPlain = "text/plain; charset=utf-8";
constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

std::string value_of(const HttpRequest& request, const char* name) {
  const auto found = request.query.find(name);
  return found != request.query.end() ? found->second : "";
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

  HttpResponse answer(const HttpRequest& request) const;
  HttpResponse answer_page() const;
  HttpResponse answer_run(const HttpRequest& request) const;
  std::optional<HttpResponse> refuse(const HttpRequest& request) const;
  void watch(const std::stop_token& stop);

  PageServerOptions options;
  Access access;
  RunShelf shelf;
  Result<std::string> page;
  std::unique_ptr<HttpServer> http;
  std::jthread listener;
  std::jthread watcher;
};

HttpResponse PageServer::Inside::answer(const HttpRequest& request) const {
  if (auto refused = refuse(request)) return std::move(*refused);
  if (request.path == "/") return answer_page();
  if (request.path == "/metrics") return {200, kMetricsType, shelf.metrics_text()};
  if (request.path == "/api/overview") return {200, kJson, shelf.overview_json()};
  if (request.path == "/api/run") return answer_run(request);
  return {404, kPlain, "404: there is nothing here but /, /metrics and /api\n"};
}

HttpResponse PageServer::Inside::answer_page() const {
  if (page) return {200, "text/html; charset=utf-8", *page};
  return {501, kPlain, page.error().line() + "; /metrics is served\n"};
}

HttpResponse PageServer::Inside::answer_run(const HttpRequest& request) const {
  const auto document = shelf.run_document(value_of(request, "id"), value_of(request, "seen"));
  if (!document) return {404, kJson, "{\"problem\":\"there is no such run\"}"};
  if (document->json.empty()) return {204, kJson, ""};
  return {200, kJson, document->json};
}

// The page itself holds no data: it may be read without the token, which it asks a person for.
std::optional<HttpResponse> PageServer::Inside::refuse(const HttpRequest& request) const {
  switch (access.judge(request.host, request.authorization)) {
    case Access::Verdict::kAllowed:
      return std::nullopt;
    case Access::Verdict::kStrangeHost:
      return HttpResponse{403, kPlain, "this page is for names of this machine only\n"};
    case Access::Verdict::kNoToken:
      break;
  }
  if (request.path == "/") return std::nullopt;
  return HttpResponse{401,
                      kPlain,
                      "a token is needed: Authorization: Bearer TOKEN\n",
                      {{"WWW-Authenticate", "Bearer"}}};
}

void PageServer::Inside::watch(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  for (int round = 0; !stop.stop_requested(); ++round) {
    if (!options.daemon_socket.empty() && round % kAskDaemonEvery == 0) {
      shelf.take(ask_daemon(options.daemon_socket));
    }
    shelf.poll(stop);
    std::unique_lock lock(mutex);
    wake.wait_for(lock, stop, kPoll, [] { return false; });
  }
}

Result<std::unique_ptr<PageServer>> PageServer::bind(PageServerOptions options) {
  ASSIGN_OR_RETURN(Access access, Access::make(options.address, options.token));
  auto inside = std::make_unique<Inside>(std::move(options), std::move(access));
  ListenAddress& address = inside->options.address;
  ASSIGN_OR_RETURN(inside->http,
                   HttpServer::bind(address, [of = inside.get()](const HttpRequest& request) {
                     return of->answer(request);
                   }));
  address.port = inside->http->port();
  return std::unique_ptr<PageServer>(new PageServer(std::move(inside)));
}

PageServer::PageServer(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}

// Both threads are asked before either is waited for.
PageServer::~PageServer() {
  inside_->listener.request_stop();
  inside_->watcher.request_stop();
}

void PageServer::start() {
  const NoSignals quiet;
  Inside& inside = *inside_;
  inside.watcher = std::jthread([&inside](const std::stop_token& stop) { inside.watch(stop); });
  inside.listener =
      std::jthread([&inside](const std::stop_token& stop) { inside.http->serve(stop); });
}

const ListenAddress& PageServer::address() const {
  return inside_->options.address;
}

}  // namespace hypermile
