// SPDX-License-Identifier: Apache-2.0
#include "base/whole_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace hypermile {
namespace {

Error cannot_write(const std::string& path, int code) {
  return Error{ErrorCode::kIo, fmt::format("{}: cannot be written: {}", path, std::strerror(code)),
               "check the path, its permissions and the space on its disk"};
}

bool write_to(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return !file.fail();
}

bool disk_is_full(int code) {
  return code == ENOSPC || code == EDQUOT;
}

}  // namespace

Result<void> write_whole_file(const std::string& path, std::string_view text) {
  std::error_code problem;
  const std::filesystem::file_status there = std::filesystem::status(path, problem);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    if (!write_to(path, text)) return cannot_write(path, errno);
    return {};
  }
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, problem);
  const std::string whole = problem ? path : target.string(), draft = whole + ".part";
  int code = 0;
  if (write_to(draft, text)) {
    std::filesystem::rename(draft, whole, problem);
    if (!problem) return {};
    code = problem.value();
  } else {
    code = errno;
  }
  std::filesystem::remove(draft, problem);
  // It cannot be replaced: its folder takes no other file, its name is too long for a draft, or it
  // is a mount point.
  if (!disk_is_full(code) && write_to(whole, text)) return {};
  return cannot_write(path, code);
}

}  // namespace hypermile
