// SPDX-License-Identifier: Apache-2.0
#include "control/job_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/environment_variable.h"

namespace hypermile {
namespace {

// Another batch size launches the same kernels, and takes another time.
constexpr double kSameTime = 0.15;

bool about_equal(Seconds a, Seconds b) {
  return a > Seconds(0) && b > Seconds(0) && std::abs(std::log(a / b)) <= kSameTime;
}

}  // namespace

Result<std::string> default_cache_path() {
  // The XDG specification says that relative paths are to be ignored.
  const std::string_view cache = environment_variable("XDG_CACHE_HOME").value_or("");
  const std::string_view home = environment_variable("HOME").value_or("");
  if (cache.starts_with('/')) return std::string(cache) + "/hypermile/jobs.json";
  if (home.starts_with('/')) return std::string(home) + "/.cache/hypermile/jobs.json";
  return Error{ErrorCode::kNotFound, "neither XDG_CACHE_HOME nor HOME is set to a folder",
               "name a file: --cache jobs.json"};
}

Result<std::string> default_cache_file() {
  ASSIGN_OR_RETURN(const std::string path, default_cache_path());
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (!failure) return path;
  return Error{ErrorCode::kIo,
               fmt::format("cannot make {}: {}", folder.string(), failure.message()),
               "set XDG_CACHE_HOME to a folder that you may write to"};
}

JobCache::JobCache(Files& files, std::string path) : files_(files), path_(std::move(path)) {
  if (const Result<void> done = read(); !done) note_ = done.error().line();
}

// Fails where the file may be good and could not be read: then it must not be replaced either.
Result<void> JobCache::read() {
  jobs_.clear();
  const Result<std::string> text = files_.read(path_, kMostCacheBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return {};
  if (!text && text.error().code != ErrorCode::kParse) return text.error();
  Result<std::vector<CachedJob>> jobs = text ? read_cache(*text) : text.error();
  if (jobs) {
    jobs_ = std::move(*jobs);
    return {};
  }
  const std::string aside = path_ + ".broken";
  note_ = fmt::format("{} cannot be used ({}) and is set aside as {}", path_, jobs.error().message,
                      aside);
  if (const Result<void> moved = files_.rename(path_, aside); !moved) {
    note_ = fmt::format("{} cannot be used ({})", path_, jobs.error().message);
  }
  return {};
}

const CachedJob* JobCache::find(const JobTerms& terms, const JobFingerprint& fingerprint,
                                Seconds default_time) const {
  const CachedJob* best = nullptr;
  double most = kSameJob;
  for (const CachedJob& job : jobs_) {
    if (!same_terms(job.terms, terms) || !about_equal(job.default_time, default_time)) continue;
    const double alike = likeness(job.fingerprint, fingerprint);
    if (alike < most) continue;
    most = alike;
    best = &job;
  }
  return best;
}

Result<void> JobCache::store(CachedJob job) {
  const JobTerms terms = job.terms;
  const JobFingerprint fingerprint = job.fingerprint;
  const Seconds time = job.default_time;
  return replace(terms, fingerprint, time, std::move(job));
}

Result<void> JobCache::forget(const JobTerms& terms, const JobFingerprint& fingerprint,
                              Seconds default_time) {
  return replace(terms, fingerprint, default_time, std::nullopt);
}

Result<void> JobCache::replace(const JobTerms& terms, const JobFingerprint& fingerprint,
                               Seconds default_time, std::optional<CachedJob> job) {
  ASSIGN_OR_RETURN(const auto lock, files_.lock(path_ + ".lock", "hypermile"));
  RETURN_IF_ERROR(read());  // another run may have written meanwhile
  if (const CachedJob* old = find(terms, fingerprint, default_time)) {
    jobs_.erase(jobs_.begin() + (old - jobs_.data()));
  } else if (!job) {
    return {};
  }
  if (job) jobs_.push_back(std::move(*job));
  std::ranges::stable_sort(jobs_, std::ranges::greater{}, &CachedJob::used);
  if (jobs_.size() > kMostCachedJobs) jobs_.resize(kMostCachedJobs);
  return write();
}

Result<void> JobCache::write() const {
  const std::string fresh = path_ + ".new";
  {
    ASSIGN_OR_RETURN(const auto file, files_.create(fresh));
    RETURN_IF_ERROR(file->append(write_cache(jobs_)));
    RETURN_IF_ERROR(file->sync());
  }
  return files_.rename(fresh, path_);
}

}  // namespace hypermile
