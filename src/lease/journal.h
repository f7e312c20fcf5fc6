// SPDX-License-Identifier: Apache-2.0
//
// Lists what may be changed on one GPU, so that the next process can restore it after a crash. It
// is a file of frames; each record is durable before the change it describes.
// docs/reference/daemon-protocol.md has the format. GpuKeeper uses it on its thread.
//
// A journal that cannot be read to its end is damaged: the file is kept under another name, and
// every knob of the GPU counts as changed. Opening never fails: an unreadable file counts as
// damage, and an unwritable one makes record_changes() fail, so that the change is refused. A
// failure to record a restore never prevents the restore.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "gpu/setting.h"
#include "lease/journal_record.h"
#include "lease/machine_epoch.h"

namespace hypermile {

// A knob that may be changed.
struct KnobChange {
  // The value found before the first change; nullopt: the driver's default, or unknown.
  std::optional<double> baseline = {};
  // Any of these values may be in force; the newest is last.
  std::vector<double> requested = {};
  // False after damage: another value may be in force as well.
  bool requested_known = true;
  LeaseId lease = 0;
  std::string owner = {};
  MachineEpoch epoch = {};
};

class Journal {
 public:
  // `files` must outlive this. The journal is `folder`/`gpu`.journal; it also uses that name with
  // ".new" and ".damaged-N" appended. `now` is the epoch recorded for knobs that damage left
  // unknown.
  static std::unique_ptr<Journal> open(Files& files, std::string folder, GpuUuid gpu,
                                       MachineEpoch now);

  const std::map<Knob, KnobChange>& changes() const { return changes_; }
  // What was wrong with the file that open() found.
  const std::optional<Error>& damage() const { return damage_; }

  // The records are durable on success; on failure the changes must not be made. A knob that is
  // already changed keeps the baseline that was recorded first.
  Result<void> record_changes(std::span<const ChangeRecord> records);
  // The newest request succeeded, so no other value can be in force. Affects memory only.
  void note_applied(Knob knob);
  // Counts the knob as restored even if the file cannot be written; after a crash it is then
  // restored once more.
  void record_restored(Knob knob);

  static constexpr std::size_t kMostBytes = std::size_t{1024} * 1024;  // a larger file is damaged
  static constexpr std::size_t kCompactBytes = std::size_t{64} * 1024;
  static constexpr std::size_t kMostUncertain = 16;  // requests for one knob that may be in force

 private:
  Journal(Files& files, std::string folder, GpuUuid gpu);
  Result<void> replay(std::string_view bytes);
  Result<void> replay_record(const JournalRecord& record, bool first);
  void count_all_as_changed(const MachineEpoch& now);
  void merge(const ChangeRecord& record);
  Result<void> check_room(std::span<const ChangeRecord> records) const;
  Result<void> append(std::string_view bytes, bool durable);
  Result<void> rewrite();
  Result<void> keep_damaged();
  std::string snapshot() const;

  Files& files_;
  std::string folder_;
  GpuUuid gpu_;
  std::string path_;
  std::map<Knob, KnobChange> changes_;
  std::optional<Error> damage_;
  bool keep_ = false;                 // the damaged file still has to be kept under another name
  std::unique_ptr<AppendFile> file_;  // null: the file must be rewritten before the next record
  std::size_t bytes_ = 0;
};

}  // namespace hypermile
