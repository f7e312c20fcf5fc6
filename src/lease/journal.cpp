// SPDX-License-Identifier: Apache-2.0
#include "lease/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lease/frame.h"

namespace hypermile {
namespace {

constexpr int kMostDamagedFiles = 100;
constexpr const char* kRemedy = "check that the disk of the journals has free space and no errors";

template <class... Kinds>
struct Overload : Kinds... {
  using Kinds::operator()...;
};
template <class... Kinds>
Overload(Kinds...) -> Overload<Kinds...>;

Error damaged(std::string why) {
  return Error{ErrorCode::kParse, std::move(why)};
}

}  // namespace

Journal::Journal(Files& files, std::string folder, GpuUuid gpu)
    : files_(files),
      folder_(std::move(folder)),
      gpu_(std::move(gpu)),
      path_(folder_ + "/" + gpu_.text() + ".journal") {}

std::unique_ptr<Journal> Journal::open(Files& files, std::string folder, GpuUuid gpu,
                                       MachineEpoch now) {
  std::unique_ptr<Journal> journal(new Journal(files, std::move(folder), std::move(gpu)));
  const Result<std::string> bytes = files.read(journal->path_, kMostBytes);
  if (!bytes && bytes.error().code == ErrorCode::kNotFound) return journal;
  const Result<void> read = bytes ? journal->replay(*bytes) : Result<void>(bytes.error());
  if (!read) {
    journal->damage_ = read.error().in(journal->path_);
    journal->damage_->remedy = "the file is kept as .damaged-N, and the whole GPU is given back";
    journal->keep_ = true;
    journal->count_all_as_changed(now);
    return journal;
  }
  Result<std::unique_ptr<AppendFile>> file = files.open_append(journal->path_);
  if (file) journal->file_ = std::move(file).value();
  journal->bytes_ = bytes->size();
  return journal;
}

Result<void> Journal::replay(std::string_view bytes) {
  const std::size_t total = bytes.size();
  if (bytes.empty()) return damaged("the file is empty");
  while (!bytes.empty()) {
    const CutFrame frame = cut_frame(bytes);
    const std::size_t at = total - bytes.size();
    if (frame.state == CutFrame::State::kIncomplete) {
      return damaged(fmt::format("byte {}: the file ends in the middle of a record", at));
    }
    if (frame.state == CutFrame::State::kBroken) {
      return damaged(fmt::format("byte {}: {}", at, frame.why));
    }
    Result<JournalRecord> record = parse_record(frame.body);
    if (!record) return record.error().in(fmt::format("byte {}", at));
    if (const auto read = replay_record(*record, at == 0); !read) {
      return read.error().in(fmt::format("byte {}", at));
    }
    bytes.remove_prefix(frame.bytes);
  }
  return {};
}

Result<void> Journal::replay_record(const JournalRecord& record, bool first) {
  if (std::holds_alternative<HeaderRecord>(record) != first) {
    return damaged("a journal must have exactly one header, at its start");
  }
  const GpuUuid& gpu = std::visit([](const auto& r) -> const GpuUuid& { return r.gpu; }, record);
  if (gpu != gpu_) return damaged(fmt::format("a record belongs to another GPU, {}", gpu.text()));
  std::visit(
      Overload{[](const HeaderRecord&) {}, [this](const ChangeRecord& change) { merge(change); },
               [this](const RestoredRecord& restored) { changes_.erase(restored.knob); }},
      record);
  return {};
}

void Journal::count_all_as_changed(const MachineEpoch& now) {
  for (const Knob knob : kAllKnobs) {
    KnobChange& change = changes_[knob];
    change.requested_known = false;
    change.epoch = now;
  }
}

// Keeps the baseline that was recorded first: a later one may have been read after our change.
void Journal::merge(const ChangeRecord& record) {
  const auto [place, is_new] = changes_.try_emplace(record.knob);
  KnobChange& change = place->second;
  if (is_new) change.baseline = record.baseline;
  if (record.requested) {
    change.requested.push_back(*record.requested);
  } else {
    change.requested_known = false;
  }
  change.lease = record.lease;
  change.owner = record.owner;
  change.epoch = record.epoch;
}

Result<void> Journal::check_room(std::span<const ChangeRecord> records) const {
  for (const ChangeRecord& record : records) {
    const auto change = changes_.find(record.knob);
    if (change != changes_.end() && change->second.requested.size() >= kMostUncertain) {
      return Error{ErrorCode::kNotReady,
                   fmt::format("too many changes of {} have failed", to_string(record.knob)),
                   "release the lease, so that the GPU is restored"};
    }
  }
  return {};
}

Result<void> Journal::record_changes(std::span<const ChangeRecord> records) {
  RETURN_IF_ERROR(check_room(records));
  std::string bytes;
  for (const ChangeRecord& record : records) bytes += to_frame(record);
  // As long as the file can still be appended to, a failed rewrite does no harm.
  const bool must = !file_ || bytes_ + bytes.size() > kMostBytes;
  if (must || bytes_ > kCompactBytes) {
    const Result<void> rewritten = rewrite();
    if (!rewritten && (must || !file_)) return rewritten;
  }
  RETURN_IF_ERROR(append(bytes, true));
  for (const ChangeRecord& record : records) merge(record);
  return {};
}

void Journal::note_applied(Knob knob) {
  const auto change = changes_.find(knob);
  if (change == changes_.end() || change->second.requested.empty()) return;
  std::vector<double>& requested = change->second.requested;
  requested.erase(requested.begin(), requested.end() - 1);
}

// This need not be durable: if the machine loses it, power failed and all settings are gone.
void Journal::record_restored(Knob knob) {
  if (changes_.erase(knob) == 0) return;
  const bool short_enough = bytes_ <= kCompactBytes;
  if (file_ && short_enough && append(to_frame(RestoredRecord{gpu_, knob}), false)) return;
  // A failed rewrite is repeated before the next change.
  (void)rewrite();
}

// After a failure the file may end in part of a record, so nothing more is appended to it.
Result<void> Journal::append(std::string_view bytes, bool durable) {
  Result<void> written = file_->append(bytes);
  if (written && durable) written = file_->sync();
  if (!written) {
    file_.reset();
    return Error{ErrorCode::kIo, "the journal cannot be written: " + written.error().message,
                 kRemedy};
  }
  bytes_ += bytes.size();
  return {};
}

std::string Journal::snapshot() const {
  std::string bytes = to_frame(HeaderRecord{1, gpu_});
  for (const auto& [knob, change] : changes_) {
    ChangeRecord record{gpu_, knob, change.baseline, {}, change.lease, change.owner, change.epoch};
    if (!change.requested_known) bytes += to_frame(record);
    for (const double requested : change.requested) {
      record.requested = requested;
      bytes += to_frame(record);
    }
  }
  return bytes;
}

// At every instant the path names a complete journal: the old one until the new one is durable.
Result<void> Journal::rewrite() {
  const auto attempt = [this]() -> Result<void> {
    RETURN_IF_ERROR(keep_damaged());
    const std::string bytes = snapshot();
    ASSIGN_OR_RETURN(auto file, files_.create(path_ + ".new"));
    RETURN_IF_ERROR(file->append(bytes));
    RETURN_IF_ERROR(file->sync());
    RETURN_IF_ERROR(files_.rename(path_ + ".new", path_));
    file_.reset();  // the open file is no longer the journal
    RETURN_IF_ERROR(files_.sync_folder(folder_));
    file_ = std::move(file);
    bytes_ = bytes.size();
    return {};
  };
  const Result<void> done = attempt();
  if (done) return done;
  return Error{ErrorCode::kIo, "the journal cannot be written: " + done.error().message, kRemedy};
}

Result<void> Journal::keep_damaged() {
  if (!keep_) return {};
  for (int n = 1; n <= kMostDamagedFiles; ++n) {
    const Result<void> linked = files_.link(path_, fmt::format("{}.damaged-{}", path_, n));
    if (!linked && linked.error().code == ErrorCode::kBusy) continue;
    if (!linked) return linked;
    break;  // a hundred damaged files are kept; this one is dropped
  }
  keep_ = false;
  return {};
}

}  // namespace hypermile
