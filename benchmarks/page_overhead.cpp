// SPDX-License-Identifier: Apache-2.0
//
// The cost of being watched: an event log at 50 Hz (a real run writes one sample per second), the
// server of the live page, a browser's requests every two seconds and a Prometheus scrape every
// five. Prints the processor time as a share of one core, without that of browser and Prometheus,
// which are another process. Fails above 0.5 %.
#include <fmt/format.h>
#include <httplib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "record/event_log.h"
#include "record/serve/page_server.h"

namespace hypermile {
namespace {

constexpr int kHertz = 50;
constexpr double kMost = 0.005;

double cpu_seconds() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// The other process: acts as the page and as Prometheus until it is killed.
[[noreturn]] void ask_forever(int port) {
  for (int second = 0;; ++second) {
    httplib::Client client("127.0.0.1", port);
    if (second % 5 == 0) client.Get("/metrics");
    if (second % 2 == 0) {
      const auto overview = client.Get("/api/overview");
      if (overview && overview->status == 200) {
        const auto runs = nlohmann::json::parse(overview->body).at("runs");
        if (!runs.empty()) {
          const httplib::Params wanted = {{"id", runs[0].at("id").get<std::string>()},
                                          {"seen", ""}};
          client.Get("/api/run", wanted, httplib::Headers());
        }
      }
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

Sample sample_at(int i) {
  Sample sample;
  sample.power_instant = Watts(300 + 20 * std::sin(i / 40.0));
  sample.energy = Joules(6.0 * i);
  sample.sm_clock = Mhz(1700 + 15 * (i % 5));
  sample.memory_clock = Mhz(9251);
  sample.gpu_utilization = 0.97;
  sample.temperature = Celsius(64);
  sample.power_limit = Watts(350);
  sample.reasons = EventReasons{0};
  return sample;
}

int measure(int seconds) {
  const std::string path = "/tmp/hypermile-overhead-" + std::to_string(::getpid()) + ".jsonl";
  auto sink = open_log_file(path);
  PageServerOptions options;
  options.address.port = 0;
  options.logs = {path};
  auto server = PageServer::bind(options);
  if (!sink || !server) return 1;
  const pid_t asker = ::fork();
  if (asker == 0) ask_forever((*server)->address().port);
  const auto clock = make_real_clock();
  EventLog log(std::move(*sink), *clock);
  (*server)->start();
  static_cast<void>(log.append(RunStart{}));
  const double before = cpu_seconds();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < seconds * kHertz; ++i) {
    static_cast<void>(log.append(SampleEvent{GpuUuid("GPU-1"), sample_at(i)}));
    std::this_thread::sleep_until(begin + std::chrono::milliseconds(1000 / kHertz) * (i + 1));
  }
  const double elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double share = (cpu_seconds() - before) / elapsed;
  ::kill(asker, SIGKILL);
  ::waitpid(asker, nullptr, 0);
  std::filesystem::remove(path);
  fmt::print("log at {} Hz, metrics and page for {:.0f} s: {:.3f} % of one core ({} allowed)\n",
             kHertz, elapsed, 100 * share, "0.5 %");
  return share < kMost ? 0 : 1;
}

}  // namespace
}  // namespace hypermile

int main(int count, char** words) {
  return hypermile::measure(count > 1 ? std::atoi(words[1]) : 30);
}
