// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/trusted_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"

namespace hypermile {

Result<std::string> read_trusted_file(const std::string& path, std::size_t most) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    const int code = errno;
    if (code == ENOENT) return Error{ErrorCode::kNotFound, path + ": does not exist"};
    if (code == ELOOP) {
      return Error{ErrorCode::kPermission, path + ": is a symbolic link",
                   "put the file itself there"};
    }
    return Error{ErrorCode::kIo, fmt::format("{}: {}", path, std::strerror(code))};
  }
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Error{ErrorCode::kPermission, path + ": is not a regular file"};
  }
  if ((status.st_uid != 0 && status.st_uid != ::geteuid()) ||
      (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Error{ErrorCode::kPermission, path + ": users other than root may write to it",
                 fmt::format("chown root:root {0} && chmod 644 {0}", path)};
  }
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = ::read(file.get(), buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > most) {
      return Error{ErrorCode::kParse, fmt::format("{}: has more than {} bytes", path, most)};
    }
  }
  if (got < 0) return Error{ErrorCode::kIo, fmt::format("{}: {}", path, std::strerror(errno))};
  return text;
}

}  // namespace hypermile
