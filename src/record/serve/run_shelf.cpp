// SPDX-License-Identifier: Apache-2.0
#include "record/serve/run_shelf.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/terminal_text.h"
#include "base/version.h"
#include "record/nodes_report.h"
#include "record/report_data.h"

namespace hypermile {
namespace {

using json = nlohmann::json;

constexpr std::size_t kMostLogs = 200;
// The live page is drawn again every two seconds, so it gets fewer points than a report.
constexpr DigestSize kLiveSize = {.points = 480, .lines = 120, .runs = 8};

std::string id_of(const LogTail& log, const RunDigest& run) {
  return fmt::format("{}#{}", log.path(), run.start().run.text());
}

// The newest runs of several logs that are one step of one job, each on a node of its own.
json jobs_json(const std::map<std::string, std::unique_ptr<LogTail>>& logs) {
  std::map<std::string, std::vector<NodeRun>> steps;
  for (const auto& [path, log] : logs) {
    if (log->runs().empty()) continue;
    const RunDigest& run = *log->runs().back();
    if (const std::string step = step_of(run); !step.empty()) {
      steps[step].push_back({node_of(run, path), &run});
    }
  }
  json jobs = json::array();
  for (const auto& [step, nodes] : steps) {
    if (nodes.size() > 1) jobs.push_back(nodes_json(nodes));
  }
  return jobs;
}

std::string text_of(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

json lease_json(const wire::LeaseEntry& lease) {
  json gpus = json::array();
  for (const wire::LeasedGpu& gpu : lease.gpus) {
    gpus.push_back({{"uuid", gpu.gpu.text()},
                    {"setting", {{"label", to_string(gpu.requested)}}},
                    {"restoring", gpu.restoring}});
  }
  json j = {{"gpus", std::move(gpus)}};
  if (lease.lease == 0) return j;
  j.update({{"lease", lease.lease},
            {"program", lease.program},
            {"job", lease.job},
            {"uid", lease.uid},
            {"pid", lease.pid},
            {"since_unix", lease.since_unix},
            {"expires_in_s", lease.expires_in.value()}});
  return j;
}

json daemon_json(const DaemonView& daemon) {
  json leases = json::array();
  for (const wire::LeaseEntry& lease : daemon.leases.leases) leases.push_back(lease_json(lease));
  json j = {{"reached", daemon.status.has_value()}, {"leases", std::move(leases)}};
  if (!daemon.status) {
    j["problem"] = daemon.problem;
    return j;
  }
  j["version"] = daemon.status->version;
  j["closed"] = daemon.status->closed;
  return j;
}

// Runs that go on come first, then the newest.
bool before(const RunDigest& a, const RunDigest& b) {
  if (a.end().has_value() != b.end().has_value()) return !a.end().has_value();
  return a.start().unix_time > b.start().unix_time;
}

}  // namespace

RunShelf::RunShelf(std::vector<std::string> paths, double start_unix)
    : paths_(std::move(paths)), session_(fmt::format("{:.3f}", start_unix)) {
  refresh();
}

void RunShelf::find_logs() {
  logs_left_out_ = 0;
  const auto add = [this](const std::string& path) {
    if (logs_.contains(path)) return;
    if (logs_.size() >= kMostLogs) {
      ++logs_left_out_;
    } else {
      logs_.emplace(path, std::make_unique<LogTail>(path, kLiveSize));
    }
  };
  for (const std::string& path : paths_) {
    std::error_code failed;
    if (!std::filesystem::is_directory(path, failed)) {
      add(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path, failed)) {
      if (entry.path().extension() == ".jsonl") found.push_back(entry.path().string());
    }
    std::ranges::sort(found);
    for (const std::string& each : found) add(each);
  }
}

void RunShelf::poll(const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  find_logs();
  for (const auto& [path, log] : logs_) {
    if (stop.stop_requested()) return;
    const Result<bool> polled = log->poll();
    if (!polled) {
      problems_[path] = polled.error().message;
    } else if (log->events() == 0 && log->unreadable_lines() > 0) {
      problems_[path] = path + ": no line of it is an event of hypermile";
    } else if (log->unreadable_lines() > 0) {
      problems_[path] = fmt::format("{}: {} not readable, everything else is shown", path,
                                    counted(log->unreadable_lines(), "line"));
    } else {
      problems_.erase(path);
    }
  }
  refresh();
}

void RunShelf::take(DaemonView daemon) {
  const std::lock_guard lock(mutex_);
  daemon_ = std::move(daemon);
}

void RunShelf::refresh() {
  std::vector<const RunDigest*> newest, all;
  for (const auto& [path, log] : logs_) {
    if (!log->runs().empty()) newest.push_back(log->runs().back().get());
    for (const auto& run : log->runs()) all.push_back(run.get());
  }
  metrics_ = std::make_shared<const Metrics>(newest, all, daemon_, problems_.size());
}

std::string RunShelf::overview_json() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<const LogTail*, const RunDigest*>> shown;
  for (const auto& [path, log] : logs_) {
    for (const auto& run : log->runs()) shown.emplace_back(log.get(), run.get());
  }
  std::ranges::stable_sort(
      shown, [](const auto& a, const auto& b) { return before(*a.second, *b.second); });
  json runs = json::array();
  for (const auto& [log, run] : shown) {
    runs.push_back(run_line_json(*run, id_of(*log, *run), log->path()));
  }
  json problems = json::array();
  for (const auto& [path, problem] : problems_) problems.push_back(problem);
  if (logs_left_out_ > 0)
    problems.push_back(fmt::format("{} more logs are left out", logs_left_out_));
  return text_of({{"version", kVersion},
                  {"runs", std::move(runs)},
                  {"jobs", jobs_json(logs_)},
                  {"problems", std::move(problems)},
                  {"daemon", daemon_json(daemon_)}});
}

std::optional<RunDocument> RunShelf::run_document(const std::string& id,
                                                  const std::string& seen) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [path, log] : logs_) {
    for (const auto& run : log->runs()) {
      if (id_of(*log, *run) != id) continue;
      RunDocument document{fmt::format("{}-{}", session_, run->events()), ""};
      if (document.version != seen) {
        document.json =
            text_of({{"version", document.version}, {"run", run_json(*run, id, log->path())}});
      }
      return document;
    }
  }
  return std::nullopt;
}

std::string RunShelf::metrics_text() const {
  std::shared_ptr<const Metrics> metrics;
  {
    const std::lock_guard lock(mutex_);
    metrics = metrics_;
  }
  return metrics->text();
}

std::size_t RunShelf::logs() const {
  const std::lock_guard lock(mutex_);
  return logs_.size();
}

}  // namespace hypermile
