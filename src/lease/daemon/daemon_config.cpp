// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/daemon_config.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <charconv>

#include "base/parse.h"
#include "base/toml_reader.h"
#include "lease/daemon/trusted_file.h"

namespace hypermile {
namespace {

constexpr std::size_t kMostEntries = 256;
constexpr std::size_t kLargestFile = 1 << 20;
constexpr double kHighestClock = 20'000;  // MHz
constexpr double kHighestLimit = 10'000;  // W

// A number is taken as the id; any other text is looked up on this machine.
template <class Id>
std::optional<Id> identifier(const std::string& text,
                             const std::function<std::optional<Id>(const std::string&)>& lookup) {
  Id number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc() && stop == end) return number;
  return lookup(text);
}

class ConfigLoader {
 public:
  ConfigLoader(const std::string& file, const AccountNames& names) : file_(file), names_(names) {}

  Result<DaemonConfig> load(const toml::table& top) {
    TomlReader reader(top, file_, "", problem_);
    read_limits(reader.table("limits", false));
    TomlReader administrators = reader.table("administrators", false);
    config_.allow.administrators = subjects(administrators);
    administrators.done();
    for (TomlReader& rule : reader.tables("allow", 0, kMostEntries)) read_rule(rule);
    if (reader.has("slurm")) {
      TomlReader slurm = reader.table("slurm", false);
      config_.job_rights = read_rights(slurm);
      slurm.done();
    }
    for (TomlReader& entry : reader.tables("baseline", 0, kMostEntries)) read_baseline(entry);
    reader.done();
    if (problem_) return *problem_;
    return std::move(config_);
  }

 private:
  void read_limits(TomlReader limits) {
    const auto count = [&](std::string_view key, std::size_t otherwise) {
      return static_cast<std::size_t>(
          limits.number(key, 1, 100'000, static_cast<double>(otherwise)));
    };
    config_.connections = count("connections", config_.connections);
    config_.connections_per_user = count("connections_per_user", config_.connections_per_user);
    config_.longest_ttl = duration(limits, "longest_ttl", config_.longest_ttl, Seconds(3600));
    limits.done();
  }

  void read_rule(TomlReader& reader) {
    Rule rule;
    rule.subjects = subjects(reader);
    if (reader.has("everyone")) rule.subjects.everyone = reader.flag("everyone", false);
    rule.gpus = gpus(reader);
    rule.rights = read_rights(reader);
    reader.done();
    config_.allow.rules.push_back(std::move(rule));
  }

  Rights read_rights(TomlReader& reader) {
    Rights rights;
    rights.bounds.sm_clock = range(reader, "sm_clock", kHighestClock);
    rights.bounds.memory_clock = range(reader, "memory_clock", kHighestClock);
    rights.bounds.power_limit = range(reader, "power_limit", kHighestLimit);
    rights.longest_lease =
        duration(reader, "longest_lease", rights.longest_lease, Seconds(366 * 24 * 3600.0));
    const std::string beyond = reader.text("beyond", "deny");
    if (beyond != "deny" && beyond != "clamp") {
      reader.complain("beyond must be \"deny\" or \"clamp\"", "beyond");
    }
    rights.bounds.clamp = beyond == "clamp";
    return rights;
  }

  void read_baseline(TomlReader& reader) {
    Baseline entry;
    entry.gpus = gpus(reader);
    const auto take = [&](std::string_view key, Knob knob, double highest) {
      if (reader.has(key)) entry.setting.set(knob, reader.number(key, 1, highest));
    };
    take("sm_clock", Knob::kSmClock, kHighestClock);
    take("memory_clock", Knob::kMemoryClock, kHighestClock);
    take("power_limit", Knob::kPowerLimit, kHighestLimit);
    reader.done();
    config_.baselines.push_back(std::move(entry));
  }

  Subjects subjects(TomlReader& reader) {
    Subjects result;
    for (const std::string& name : reader.texts("users")) {
      const auto id = identifier<uid_t>(name, names_.user);
      if (id) result.users.insert(*id);
      if (!id) warn("user", name);
    }
    for (const std::string& name : reader.texts("groups")) {
      const auto id = identifier<gid_t>(name, names_.group);
      if (id) result.groups.insert(*id);
      if (!id) warn("group", name);
    }
    return result;
  }

  void warn(std::string_view what, const std::string& name) {
    config_.warnings.push_back(fmt::format(
        "{}: there is no {} '{}' on this machine; rules for it have no effect", file_, what, name));
  }

  // Required, so that an omission never means "all".
  std::set<GpuUuid> gpus(TomlReader& reader) {
    if (!reader.has("gpus")) reader.complain("has no gpus: a list of UUIDs, or [\"all\"]");
    std::set<GpuUuid> result;
    const std::vector<std::string> texts = reader.texts("gpus");
    if (texts.size() == 1 && texts.front() == "all") return result;
    for (const std::string& text : texts) {
      if (!text.starts_with("GPU-")) {
        reader.complain(fmt::format("gpus names '{}', must be whole UUIDs (GPU-…, see 'hypermile "
                                    "doctor') or \"all\" alone",
                                    text),
                        "gpus");
      }
      result.insert(GpuUuid(text));
    }
    if (result.empty()) reader.complain("gpus is empty", "gpus");
    return result;
  }

  // Reads [low, high]; an absent range allows nothing.
  std::optional<KnobRange> range(TomlReader& reader, std::string_view key, double highest) {
    if (!reader.has(key)) return std::nullopt;
    const std::vector<double> pair = reader.numbers(key, 2);
    if (pair.size() != 2 || pair[0] > pair[1] || pair[1] > highest) {
      reader.complain(fmt::format("{} must be [lowest, highest]", key), key);
      return std::nullopt;
    }
    return KnobRange{pair[0], pair[1]};
  }

  Seconds duration(TomlReader& reader, std::string_view key, Seconds otherwise, Seconds longest) {
    if (!reader.has(key)) return otherwise;
    const Result<Seconds> parsed = parse_duration(reader.text(key));
    if (!parsed || !(*parsed >= milliseconds(100)) || *parsed > longest) {
      reader.complain(
          fmt::format("{} must be a duration from \"100ms\" to \"{:g}s\"", key, longest.value()),
          key);
      return otherwise;
    }
    return *parsed;
  }

  const std::string& file_;
  const AccountNames& names_;
  std::optional<Error> problem_;
  DaemonConfig config_;
};

}  // namespace

Setting DaemonConfig::baseline(const GpuUuid& gpu) const {
  const auto entry = std::ranges::find_if(baselines, [&](const Baseline& candidate) {
    return candidate.gpus.empty() || candidate.gpus.contains(gpu);
  });
  return entry != baselines.end() ? entry->setting : Setting{};
}

// The non-reentrant functions suffice, because only one thread reads the configuration.
AccountNames machine_accounts() {
  AccountNames names;
  names.user = [](const std::string& name) -> std::optional<uid_t> {
    const passwd* entry = ::getpwnam(name.c_str());  // NOLINT(concurrency-mt-unsafe)
    return entry != nullptr ? std::optional(entry->pw_uid) : std::nullopt;
  };
  names.group = [](const std::string& name) -> std::optional<gid_t> {
    const group* entry = ::getgrnam(name.c_str());  // NOLINT(concurrency-mt-unsafe)
    return entry != nullptr ? std::optional(entry->gr_gid) : std::nullopt;
  };
  return names;
}

Result<DaemonConfig> parse_daemon_config(std::string_view text, const std::string& file,
                                         const AccountNames& names) {
  ASSIGN_OR_RETURN(const toml::table top, parse_toml(text, file));
  return ConfigLoader(file, names).load(top);
}

Result<DaemonConfig> read_daemon_config(const std::string& path, const AccountNames& names) {
  const Result<std::string> text = read_trusted_file(path, kLargestFile);
  if (text) return parse_daemon_config(*text, path, names);
  if (text.error().code == ErrorCode::kNotFound) return DaemonConfig{};
  return text.error();
}

}  // namespace hypermile
