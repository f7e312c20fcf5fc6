// SPDX-License-Identifier: Apache-2.0
#include "testing/faulty_files.h"

#include <algorithm>
#include <functional>

namespace hypermile {
namespace {

class MemoryLock final : public FileLock {
 public:
  MemoryLock(std::map<std::string, std::string>& locks, std::string path)
      : locks_(locks), path_(std::move(path)) {}
  ~MemoryLock() override { locks_.erase(path_); }

 private:
  std::map<std::string, std::string>& locks_;
  std::string path_;
};

using Names = std::map<std::string, std::shared_ptr<FaultyFiles::Inode>>;

// Copies the files, so that later writes of the dead process are not seen.
Names copy(const Names& names, const std::function<std::size_t(const FaultyFiles::Inode&)>& size) {
  std::map<FaultyFiles::Inode*, std::shared_ptr<FaultyFiles::Inode>> copies;
  Names result;
  for (const auto& [path, inode] : names) {
    auto& copied = copies[inode.get()];
    if (!copied) {
      const std::string data = inode->data.substr(0, size(*inode));
      copied = std::make_shared<FaultyFiles::Inode>(FaultyFiles::Inode{data, data.size()});
    }
    result[path] = copied;
  }
  return result;
}

Error io(const std::string& why) {
  return Error{ErrorCode::kIo, why};
}

}  // namespace

class FaultyAppendFile final : public AppendFile {
 public:
  FaultyAppendFile(FaultyFiles& files, std::shared_ptr<FaultyFiles::Inode> inode)
      : files_(files), inode_(std::move(inode)) {}

  Result<void> append(std::string_view bytes) override {
    const bool was_dead = files_.fate_.dead();
    const Result<void> begun = files_.begin();
    if (begun) {
      inode_->data.append(bytes);
    } else if (!was_dead) {
      const bool died = files_.fate_.dead();
      if (died) files_.fate_.last_append = bytes.size();
      inode_->data.append(
          bytes.substr(0, died ? files_.fate_.torn_after : files_.failure_->torn_after));
    }
    return begun;
  }

  Result<void> sync() override {
    RETURN_IF_ERROR(files_.begin());
    inode_->synced = inode_->data.size();
    return {};
  }

 private:
  FaultyFiles& files_;
  std::shared_ptr<FaultyFiles::Inode> inode_;
};

Result<void> FaultyFiles::begin() {
  if (fate_.operation_fails()) return io("this process is dead");
  const int call = calls_++;
  if (failure_ && call >= failure_->first && call - failure_->first < failure_->times) {
    return io(failure_->why);
  }
  return {};
}

Result<std::string> FaultyFiles::read(const std::string& path, std::size_t most) {
  if (!fail_only_writes) RETURN_IF_ERROR(begin());
  const auto file = disk_.names.find(path);
  if (file == disk_.names.end()) return Error{ErrorCode::kNotFound, path + " is not there"};
  if (file->second->data.size() > most) return Error{ErrorCode::kParse, path + " is too large"};
  return file->second->data;
}

Result<std::unique_ptr<AppendFile>> FaultyFiles::create(const std::string& path) {
  RETURN_IF_ERROR(begin());
  const auto inode = std::make_shared<Inode>();
  disk_.names[path] = inode;
  return std::unique_ptr<AppendFile>(std::make_unique<FaultyAppendFile>(*this, inode));
}

Result<std::unique_ptr<AppendFile>> FaultyFiles::open_append(const std::string& path) {
  RETURN_IF_ERROR(begin());
  const auto file = disk_.names.find(path);
  if (file == disk_.names.end()) return Error{ErrorCode::kNotFound, path + " is not there"};
  return std::unique_ptr<AppendFile>(std::make_unique<FaultyAppendFile>(*this, file->second));
}

Result<void> FaultyFiles::rename(const std::string& from, const std::string& to) {
  RETURN_IF_ERROR(begin());
  auto file = disk_.names.extract(from);
  if (file.empty()) return Error{ErrorCode::kNotFound, from + " is not there"};
  disk_.names[to] = file.mapped();
  return {};
}

Result<void> FaultyFiles::link(const std::string& from, const std::string& to) {
  RETURN_IF_ERROR(begin());
  const auto file = disk_.names.find(from);
  if (file == disk_.names.end()) return Error{ErrorCode::kNotFound, from + " is not there"};
  if (disk_.names.count(to) != 0) return Error{ErrorCode::kBusy, to + " already exists"};
  disk_.names[to] = file->second;
  return {};
}

Result<void> FaultyFiles::sync_folder(const std::string&) {
  RETURN_IF_ERROR(begin());
  disk_.synced_names = disk_.names;
  return {};
}

Result<std::unique_ptr<FileLock>> FaultyFiles::lock(const std::string& path,
                                                    std::string_view holder) {
  RETURN_IF_ERROR(begin());
  const auto [place, is_new] = locks_.try_emplace(path, holder);
  if (!is_new) return Error{ErrorCode::kBusy, place->second};
  return std::unique_ptr<FileLock>(std::make_unique<MemoryLock>(locks_, path));
}

FaultyFiles::Disk FaultyFiles::after_kill() const {
  const Names names = copy(disk_.names, [](const Inode& inode) { return inode.data.size(); });
  return Disk{names, names};
}

FaultyFiles::Disk FaultyFiles::after_power_loss(std::size_t kept, bool names_kept) const {
  const Names names = copy(names_kept ? disk_.names : disk_.synced_names, [&](const Inode& inode) {
    return std::min(inode.synced + kept, inode.data.size());
  });
  return Disk{names, names};
}

}  // namespace hypermile
