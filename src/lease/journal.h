// SPDX-License-Identifier: Apache-2.0
//
// What may be changed on one GPU, so that whoever comes after a crash can give it back. A file of
// frames, appended to and made durable before each change; docs/reference/daemon-protocol.md has
// the format.
//
// A journal that cannot be read to its end is damaged: its file is kept under another name, and
// every knob of the GPU counts as changed. Opening never fails: what cannot be read is damage, and
// what cannot be written shows when a change is to be recorded, which is then refused. Recording
// that something was given back never stands in the way of giving back.
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
  // What was found before the first change; nullopt: the driver's default, or not known.
  std::optional<double> baseline = {};
  // Any of these may be in force; the newest last.
  std::vector<double> requested = {};
  // False after damage: something else may be in force, too.
  bool requested_known = true;
  LeaseId lease = 0;
  std::string owner = {};
  MachineEpoch epoch = {};
};

class Journal {
 public:
  // `files` must outlive this. The journal is `folder`/`gpu`.journal; with ".new" and ".damaged-N"
  // after it are the names that it uses beside. `now` is the epoch of what damage leaves unknown.
  static std::unique_ptr<Journal> open(Files& files, std::string folder, GpuUuid gpu,
                                       MachineEpoch now);

  const std::map<Knob, KnobChange>& changes() const { return changes_; }
  // What was wrong with the file that open() found.
  const std::optional<Error>& damage() const { return damage_; }

  // Durable when it succeeds; when it fails, the changes must not be made. The baseline of a knob
  // that is changed already stays the one that was recorded first.
  Result<void> record_changes(std::span<const ChangeRecord> records);
  // The newest request succeeded: it alone can be in force. In memory only.
  void note_applied(Knob knob);
  // Also when it cannot be written: then the knob is given back once more after a crash.
  void record_restored(Knob knob);

  static constexpr std::size_t kMostBytes = std::size_t{1024} * 1024;  // a larger file is damaged
  static constexpr std::size_t kCompactBytes = std::size_t{64} * 1024;
  static constexpr std::size_t kMostUncertain = 16;  // requests of one knob that may be in force

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
  bool keep_ = false;                 // the damaged file has no second name yet
  std::unique_ptr<AppendFile> file_;  // null: to be rewritten before the next record
  std::size_t bytes_ = 0;
};

}  // namespace hypermile
