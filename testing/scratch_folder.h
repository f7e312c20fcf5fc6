// SPDX-License-Identifier: Apache-2.0
//
// For tests: an empty folder that no other process knows. It is removed with everything in it at
// the end of its scope. Two runs of the same tests at one time, or the files of a run that was
// killed, cannot disturb each other.
#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace hypermile {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hypermile-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category());
    path_ = name;
  }
  ~ScratchFolder() {
    // A process that ends just now may still write a file there.
    std::error_code problem;
    for (int tries = 0; tries < 100; ++tries) {
      std::filesystem::remove_all(path_, problem);
      if (!problem) return;
    }
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace hypermile
