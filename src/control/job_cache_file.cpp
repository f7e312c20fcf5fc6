// SPDX-License-Identifier: Apache-2.0
#include "control/job_cache_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace hypermile {
namespace {

using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kMostText = 256;
constexpr std::size_t kMostGpus = 64;

Error broken(const std::string& what) {
  return Error{ErrorCode::kParse, what};
}

json to_json(const JobTerms& terms) {
  json knobs = json::array();
  for (const Knob knob : terms.knobs) knobs.push_back(to_string(knob));
  const Objective& objective = terms.objective;
  json j = {{"gpus", terms.gpus},
            {"driver", terms.driver},
            {"knobs", knobs},
            {"objective", to_string(objective)},
            {"host_watts", objective.host_power.value()}};
  j["max_slowdown"] = objective.max_slowdown ? json(*objective.max_slowdown) : json(nullptr);
  j["power_budget"] =
      objective.power_budget ? json(objective.power_budget->value()) : json(nullptr);
  return j;
}

json to_json(const CachedJob& job) {
  json kernels = json::array();
  for (const KernelOfJob& kernel : job.fingerprint.kernels) {
    kernels.push_back({kernel.name, kernel.count});
  }
  return {
      {"terms", to_json(job.terms)},
      {"kernels", kernels},
      {"default", {{"time_s", job.default_time.value()}, {"power_w", job.default_power.value()}}},
      {"kept",
       {{"setting", to_string(job.kept)},
        {"time_ratio", job.time_ratio},
        {"power_ratio", job.power_ratio}}},
      {"probes", job.probes},
      {"used", job.used}};
}

// Reads one entry; the first problem is kept, and everything after it gives nothing.
class EntryReader {
 public:
  const std::optional<std::string>& problem() const { return problem_; }

  CachedJob read(const json& j) {
    CachedJob job;
    job.terms = terms(member(j, "terms"));
    job.fingerprint = kernels(member(j, "kernels"));
    const json& normal = member(j, "default");
    job.default_time = Seconds(number(member(normal, "time_s"), 1e-9, 1e9));
    job.default_power = Watts(number(member(normal, "power_w"), 1e-3, 1e9));
    const json& kept = member(j, "kept");
    job.kept = setting(member(kept, "setting"));
    job.time_ratio = number(member(kept, "time_ratio"), 0.1, 100);
    job.power_ratio = number(member(kept, "power_ratio"), 0.01, 100);
    job.probes = static_cast<std::size_t>(number(member(j, "probes"), 0, 1e6));
    job.used = number(member(j, "used"), 0, 1e12);
    return job;
  }

 private:
  const json& member(const json& j, const char* name) {
    static const json kNothing;
    const auto found = j.is_object() ? j.find(name) : j.end();
    if (found != j.end()) return *found;
    fail(fmt::format("'{}' is missing", name));
    return kNothing;
  }

  double number(const json& j, double least, double most) {
    const double value = j.is_number() ? j.get<double>() : std::nan("");
    if (value >= least && value <= most) return value;
    fail(fmt::format("expected a number from {} to {}", least, most));
    return least;
  }

  std::optional<double> number_or_null(const json& j, double least, double most) {
    if (j.is_null()) return std::nullopt;
    return number(j, least, most);
  }

  std::string text(const json& j) {
    if (j.is_string() && j.get_ref<const std::string&>().size() <= kMostText) {
      return j.get<std::string>();
    }
    fail("expected a short text");
    return {};
  }

  const json& list(const json& j, std::size_t most) {
    static const json kNothing = json::array();
    if (j.is_array() && j.size() <= most) return j;
    fail(fmt::format("expected a list of {} at most", most));
    return kNothing;
  }

  Setting setting(const json& j) {
    const auto parsed = parse_setting(text(j));
    if (parsed && !parsed->empty()) return *parsed;
    fail("expected a Setting");
    return {};
  }

  JobTerms terms(const json& j) {
    JobTerms terms;
    for (const json& gpu : list(member(j, "gpus"), kMostGpus)) terms.gpus.push_back(text(gpu));
    terms.driver = text(member(j, "driver"));
    for (const json& name : list(member(j, "knobs"), std::size(kAllKnobs))) {
      const std::string wanted = text(name);
      const auto knob =
          std::ranges::find_if(kAllKnobs, [&](Knob k) { return to_string(k) == wanted; });
      if (knob == std::end(kAllKnobs)) {
        fail("expected a knob");
      } else {
        terms.knobs.push_back(*knob);
      }
    }
    const auto objective = parse_objective(text(member(j, "objective")));
    if (!objective) fail("expected an objective");
    if (objective) terms.objective = *objective;
    terms.objective.max_slowdown = number_or_null(member(j, "max_slowdown"), 0, 100);
    terms.objective.host_power = Watts(number(member(j, "host_watts"), 0, 1e9));
    const auto budget = number_or_null(member(j, "power_budget"), 0, 1e9);
    if (budget) terms.objective.power_budget = Watts(*budget);
    return terms;
  }

  JobFingerprint kernels(const json& j) {
    JobFingerprint print;
    for (const json& pair : list(j, kMostKernels)) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned() ||
          pair[0].get<std::uint64_t>() > UINT32_MAX) {
        fail("expected a kernel");
        return print;
      }
      print.kernels.push_back({pair[0].get<std::uint32_t>(), number(pair[1], 1e-6, 1e9)});
    }
    const auto unordered = [](const KernelOfJob& a, const KernelOfJob& b) {
      return a.name >= b.name;
    };
    if (std::ranges::adjacent_find(print.kernels, unordered) != print.kernels.end()) {
      fail("the kernels are not in order");
    }
    return print;
  }

  void fail(std::string what) {
    if (!problem_) problem_ = std::move(what);
  }

  std::optional<std::string> problem_;
};

}  // namespace

bool same_terms(const JobTerms& a, const JobTerms& b) {
  return a.gpus == b.gpus && a.driver == b.driver && a.knobs == b.knobs &&
         to_string(a.objective) == to_string(b.objective) &&
         a.objective.max_slowdown == b.objective.max_slowdown &&
         a.objective.host_power == b.objective.host_power &&
         a.objective.power_budget == b.objective.power_budget;
}

std::string write_cache(const std::vector<CachedJob>& jobs) {
  json entries = json::array();
  for (const CachedJob& job : jobs) entries.push_back(to_json(job));
  // Names come from drivers: what is not UTF-8 is replaced, not thrown at the caller.
  return json{{"hypermile_jobs", kVersion}, {"jobs", entries}}.dump(
             -1, ' ', false, json::error_handler_t::replace) +
         "\n";
}

Result<std::vector<CachedJob>> read_cache(std::string_view text) {
  if (text.size() > kMostCacheBytes) return broken("it is too large");
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("hypermile_jobs")) {
    return broken("it is no list of jobs");
  }
  if (document["hypermile_jobs"] != kVersion) {
    return broken(fmt::format("it is of version {}, this is for {}",
                              document["hypermile_jobs"].dump(), kVersion));
  }
  const auto jobs = document.find("jobs");
  if (jobs == document.end() || !jobs->is_array() || jobs->size() > kMostCachedJobs) {
    return broken("'jobs' is no list of the size that is kept");
  }
  std::vector<CachedJob> result;
  for (const json& entry : *jobs) {
    EntryReader reader;
    result.push_back(reader.read(entry));
    if (reader.problem()) {
      return broken(fmt::format("job {}: {}", result.size(), *reader.problem()));
    }
  }
  return result;
}

}  // namespace hypermile
