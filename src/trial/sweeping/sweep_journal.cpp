// SPDX-License-Identifier: Apache-2.0
#include "trial/sweeping/sweep_journal.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace hypermile {
namespace {

using json = nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kMostBytes = 64U << 20U;

void put(json& j, const char* key, const std::optional<double>& value) {
  if (value) j[key] = *value;
}
std::optional<double> get(const json& j, const char* key) {
  return j.contains(key) ? std::optional(j.at(key).get<double>()) : std::nullopt;
}

std::string line_of(const SweepHeader& header) {
  json settings = json::array();
  for (const Setting& setting : header.settings) settings.push_back(to_string(setting));
  const json j = {{"sweep", kVersion},           {"gpu", header.gpu},       {"uuid", header.uuid},
                  {"workload", header.workload}, {"terms", header.options}, {"settings", settings}};
  return j.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string line_of(const SweepEntry& entry) {
  json j = {{"step", entry.step}, {"run", entry.run}, {"iterations", entry.iterations}};
  if (!entry.setting.empty()) j["setting"] = to_string(entry.setting);
  put(j, "time_s", entry.time_s);
  put(j, "power_w", entry.power_w);
  put(j, "time_error", entry.time_error);
  put(j, "power_error", entry.power_error);
  put(j, "sm_mhz", entry.sm_mhz);
  put(j, "mem_mhz", entry.mem_mhz);
  j["throttled_share"] = entry.throttled_share;
  if (!entry.refused.empty()) j["refused"] = entry.refused;
  if (!entry.features.empty()) j["features"] = entry.features;
  return j.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

// The caller turns the library's exceptions into an Error.
SweepHeader header_from(const json& j) {
  SweepHeader header;
  if (j.at("sweep").get<int>() != kVersion) {
    throw json::other_error::create(501, "another version", &j);
  }
  header.gpu = j.at("gpu").get<std::string>();
  header.uuid = j.at("uuid").get<std::string>();
  header.workload = j.at("workload").get<std::string>();
  header.options = j.at("terms").get<std::string>();
  for (const json& text : j.at("settings")) {
    const Result<Setting> setting = parse_setting(text.get<std::string>());
    if (!setting) throw json::other_error::create(501, setting.error().message, &j);
    header.settings.push_back(*setting);
  }
  return header;
}

SweepEntry entry_from(const json& j) {
  SweepEntry entry;
  entry.step = j.at("step").get<std::size_t>();
  entry.run = j.at("run").get<std::size_t>();
  entry.iterations = j.at("iterations").get<double>();
  if (j.contains("setting")) {
    const Result<Setting> setting = parse_setting(j.at("setting").get<std::string>());
    if (!setting) throw json::other_error::create(501, setting.error().message, &j);
    entry.setting = *setting;
  }
  entry.time_s = get(j, "time_s");
  entry.power_w = get(j, "power_w");
  entry.time_error = get(j, "time_error");
  entry.power_error = get(j, "power_error");
  entry.sm_mhz = get(j, "sm_mhz");
  entry.mem_mhz = get(j, "mem_mhz");
  entry.throttled_share = j.at("throttled_share").get<double>();
  if (j.contains("refused")) entry.refused = j.at("refused").get<std::string>();
  if (j.contains("features")) j.at("features").get_to(entry.features);
  return entry;
}

}  // namespace

Result<SweepJournal> SweepJournal::open(Files& files, const std::string& path) {
  SweepJournal journal(files, path);
  const Result<std::string> text = files.read(path, kMostBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return journal;
  if (!text) return text.error();
  RETURN_IF_ERROR(journal.read(*text));
  return journal;
}

// Reads complete lines only: an incomplete last line was never reported as measured.
Result<void> SweepJournal::read(const std::string& text) {
  std::size_t line = 0;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    ++line;
    try {
      const json j = json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                 text.begin() + static_cast<std::ptrdiff_t>(end));
      if (!header_) {
        header_ = header_from(j);
      } else {
        entries_.push_back(entry_from(j));
      }
    } catch (const json::exception& problem) {
      return Error{ErrorCode::kParse,
                   fmt::format("{}:{}: this is not the journal of a sweep ({})", path_, line,
                               problem.what()),
                   "move it away to sweep anew, or give --out another name"};
    }
  }
  return {};
}

Result<void> SweepJournal::check(const SweepHeader& header) const {
  if (header_ && *header_ != header) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{} belongs to another sweep: {} on {} ({})", path_, header_->workload,
                             header_->gpu, header_->options),
                 "give --out another name, or move the journal away"};
  }
  return {};
}

Result<void> SweepJournal::begin(const SweepHeader& header) {
  RETURN_IF_ERROR(check(header));
  header_ = header;
  return rewrite();
}

// Writes a new file and renames it over the old one, so that an incomplete last line is gone.
Result<void> SweepJournal::rewrite() {
  const std::string fresh = path_ + ".new";
  ASSIGN_OR_RETURN(file_, files_->create(fresh));
  std::string text = line_of(*header_);
  for (const SweepEntry& entry : entries_) text += line_of(entry);
  RETURN_IF_ERROR(file_->append(text));
  RETURN_IF_ERROR(file_->sync());
  RETURN_IF_ERROR(files_->rename(fresh, path_));
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  return files_->sync_folder(folder.empty() ? "." : folder);
}

Result<void> SweepJournal::add(const SweepEntry& entry) {
  RETURN_IF_ERROR(file_->append(line_of(entry)));
  RETURN_IF_ERROR(file_->sync());
  entries_.push_back(entry);
  return {};
}

}  // namespace hypermile
