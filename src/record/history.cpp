// SPDX-License-Identifier: Apache-2.0
#include "record/history.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/descriptor.h"
#include "base/environment_variable.h"
#include "record/event_words.h"
#include "record/figures_json.h"
#include "record/figures_text.h"

namespace hypermile {
namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;

// FNV-1a with 32 bits: enough to tell a person's jobs apart, and short to read.
std::string fingerprint(const std::string& text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 16777619U;
  }
  return fmt::format("{:08x}", hash);
}

std::string kept_words(const RunFigures& figures) {
  const std::vector<JobPhase> phases = figures.job_phases();
  if (phases.empty() || !phases.front().kept) return "default";
  const JobPhase& phase = phases.front();
  return phase.shares.empty() ? to_string(phase.kept->setting) : mix_text(phase);
}

RememberedRun run_from(const json& j) {
  RememberedRun run;
  run.run = j.at("run").get<std::string>();
  run.unix_time = j.at("unix_time").get<double>();
  run.host = j.value("host", "");
  run.command = j.value("command", "");
  run.job = j.value("job", "");
  run.gpus = j.value("gpus", std::vector<std::string>());
  run.policy = j.value("policy", "");
  run.kept = j.value("kept", "");
  run.log = j.value("log", "");
  run.simulated = j.value("simulated", false);
  if (j.contains("exit_code")) run.exit_code = j.at("exit_code").get<int>();
  run.figures = j.at("figures").get<json::object_t>();
  run.figures.value("currency", "");  // throws where it is no text
  return run;
}

}  // namespace

std::optional<double> RememberedRun::figure(const char* name) const {
  const auto found = figures.find(name);
  if (found == figures.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

RememberedRun remembered(const EndedRun& run) {
  const auto told = [&](const char* key) {
    const auto found = run.start.environment.find(key);
    return found != run.start.environment.end() ? found->second : std::string();
  };
  RememberedRun entry;
  entry.run = run.start.run.text();
  entry.unix_time = run.start.unix_time;
  entry.host = told("host");
  entry.command = job_words(run.start);
  entry.job = fingerprint(run.folder + "\n" + entry.command);
  entry.simulated = told("simulated") == "true";
  for (const GpuIdentity& gpu : run.gpus) {
    entry.gpus.push_back(gpu.name);
    entry.simulated = entry.simulated || is_simulated(gpu);
  }
  entry.policy = told("policy");
  entry.kept = kept_words(run.figures);
  entry.log = run.log;
  if (run.end) entry.exit_code = run.end->exit_code;
  entry.figures = job_json(run.figures);
  return entry;
}

RememberedRun remembered(const RunDigest& run, const std::string& folder, const std::string& log) {
  EndedRun ended{run.start(), run.end(), run.figures()};
  for (const auto& gpu : run.gpus()) ended.gpus.push_back(gpu->identity);
  ended.folder = folder;
  ended.log = log;
  return remembered(ended);
}

std::optional<std::string> default_history_path() {
  const auto base = environment_variable("XDG_STATE_HOME");
  const auto home = environment_variable("HOME");
  if (!base && !home) return std::nullopt;
  const fs::path folder = base ? fs::path(*base) : fs::path(*home) / ".local" / "state";
  return (folder / "hypermile" / "history.jsonl").string();
}

nlohmann::json to_json(const RememberedRun& run) {
  json j = {{"run", run.run},
            {"unix_time", run.unix_time},
            {"host", run.host},
            {"command", run.command},
            {"job", run.job},
            {"gpus", run.gpus},
            {"policy", run.policy},
            {"kept", run.kept},
            {"simulated", run.simulated},
            {"figures", run.figures}};
  if (!run.log.empty()) j["log"] = run.log;
  if (run.exit_code) j["exit_code"] = *run.exit_code;
  return j;
}

Result<void> remember(const std::string& path, const RememberedRun& run) {
  constexpr mode_t kOwnerOnly = 0600;
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, kOwnerOnly));
  // One write, so that runs that end together do not mix their lines.
  const std::string line = to_json(run).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  if (file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size())) {
    return {};
  }
  return Error{ErrorCode::kIo,
               fmt::format("{}: this run is not remembered: {}", path, std::strerror(errno)),
               "--history no asks for that"};
}

Result<History> read_history(const std::string& path) {
  History history;
  std::ifstream in(path);
  if (!in) {
    if (!fs::exists(path)) return history;
    return Error{ErrorCode::kIo, path + ": cannot be read"};
  }
  for (std::string line; std::getline(in, line);) {
    // The library throws for a file that somebody else has written.
    try {
      history.runs.push_back(run_from(json::parse(line)));
    } catch (const json::exception&) {
      ++history.unreadable;
    }
  }
  return history;
}

}  // namespace hypermile
