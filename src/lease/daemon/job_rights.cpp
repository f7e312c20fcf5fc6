// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/job_rights.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "base/descriptor.h"
#include "lease/daemon/trusted_file.h"

namespace hypermile {
namespace {

constexpr std::size_t kMostBytes = 8 << 10;  // a GPU takes 45 bytes
constexpr std::size_t kMostJobs = 1024;      // on one node

std::string folder_of(const std::string& state) {
  return state + "/jobs";
}

// A name that cannot lead out of the folder, nor be a file that is being written.
bool is_job(const std::string& job) {
  return !job.empty() && job.size() <= 64 && std::ranges::all_of(job, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

Error cannot(const char* what, const std::string& path) {
  return Error{ErrorCode::kIo, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno))};
}

Result<JobRight> read_right(const std::string& folder, const std::string& job) {
  ASSIGN_OR_RETURN(const std::string text, read_trusted_file(folder + "/" + job, kMostBytes));
  JobRight right;
  right.job = job;
  std::istringstream words(text);
  std::string key, value;
  bool user = false;
  while (words >> key >> value) {
    if (key == "uid") {
      user = !value.empty() && value.size() < 11 && std::ranges::all_of(value, ::isdigit);
      if (user) right.uid = static_cast<uid_t>(std::stoul(value));
    }
    if (key == "gpu") right.gpus.insert(GpuUuid(value));
  }
  if (!user) return Error{ErrorCode::kParse, fmt::format("{}/{} names no user", folder, job)};
  return right;
}

std::vector<JobRight> all_rights(const std::string& state) {
  std::vector<JobRight> all;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(state), ignored)) {
    const std::string job = entry.path().filename().string();
    if (!is_job(job) || all.size() >= kMostJobs) continue;
    if (Result<JobRight> right = read_right(folder_of(state), job)) all.push_back(*right);
  }
  return all;
}

}  // namespace

Result<void> grant_job(const std::string& state, const JobRight& right) {
  if (!is_job(right.job)) {
    return Error{ErrorCode::kUsage, fmt::format("'{}' is no job's name", right.job)};
  }
  const std::string folder = folder_of(state);
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, problem);
  std::string text = fmt::format("uid {}\n", right.uid);
  for (const GpuUuid& gpu : right.gpus) text += fmt::format("gpu {}\n", gpu.text());
  const std::string path = folder + "/" + right.job, fresh = path + ".new";
  {
    const Descriptor file(
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return cannot("write", fresh);
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      return cannot("write", fresh);
    }
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) return cannot("write", path);
  return {};
}

Result<JobRight> revoke_job(const std::string& state, const std::string& job) {
  if (!is_job(job)) return Error{ErrorCode::kUsage, fmt::format("'{}' is no job's name", job)};
  Result<JobRight> right = read_right(folder_of(state), job);
  // A file that cannot be read goes as well.
  const std::string path = folder_of(state) + "/" + job;
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return cannot("remove", path);
  return right;
}

std::set<GpuUuid> shared_gpus(const std::string& state, const JobRight& right) {
  std::set<GpuUuid> shared;
  for (const JobRight& other : all_rights(state)) {
    if (other.job == right.job) continue;
    std::ranges::set_intersection(right.gpus, other.gpus, std::inserter(shared, shared.end()));
  }
  return shared;
}

bool job_allows(const std::string& state, uid_t uid, const GpuUuid& gpu) {
  bool allowed = false;
  int jobs = 0;
  for (const JobRight& right : all_rights(state)) {
    if (!right.gpus.contains(gpu)) continue;
    ++jobs;
    allowed = allowed || right.uid == uid;
  }
  return allowed && jobs == 1;
}

}  // namespace hypermile
