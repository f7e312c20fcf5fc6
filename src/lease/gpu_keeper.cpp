// SPDX-License-Identifier: Apache-2.0
#include "lease/gpu_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace hypermile {
namespace {

constexpr std::size_t kLongestName = 96;

bool can_name_a_file(std::string_view uuid) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !uuid.empty() && uuid.size() <= kLongestName &&
         std::all_of(uuid.begin(), uuid.end(), plain);
}

// Drivers round a power limit, so nearly equal values are the same.
bool same_limit(double a, double b) {
  return std::abs(a - b) <= std::max(1.0, 0.01 * std::abs(b));
}

Error above_baseline(Knob knob, double wanted, double most) {
  return Error{ErrorCode::kPermission,
               fmt::format("{}={:g} is above {:g}, the value without this lease", to_string(knob),
                           wanted, most),
               "request less: a lease may not exceed what the administrator has set"};
}

}  // namespace

GpuKeeper::GpuKeeper(std::unique_ptr<Gpu> gpu, Files& files, const Clock& clock, Options options)
    : gpu_(std::move(gpu)), files_(files), clock_(clock), options_(std::move(options)) {}

Result<std::unique_ptr<GpuKeeper>> GpuKeeper::make(std::unique_ptr<Gpu> gpu, Files& files,
                                                   const Clock& clock, Options options) {
  if (!can_name_a_file(gpu->identity().uuid.text())) {
    return Error{ErrorCode::kUsage,
                 fmt::format("the GPU's UUID \"{}\" is none", gpu->identity().uuid.text())};
  }
  return std::unique_ptr<GpuKeeper>(
      new GpuKeeper(std::move(gpu), files, clock, std::move(options)));
}

Result<void> GpuKeeper::take_lock() {
  if (lock_) return {};
  const std::string path = options_.folder + "/" + gpu_->identity().uuid.text() + ".lock";
  ASSIGN_OR_RETURN(lock_, files_.lock(path, options_.holder));
  journal_.reset();  // another process may have written it meanwhile
  return {};
}

Result<void> GpuKeeper::take_over() {
  const Result<void> locked = take_lock();
  if (!locked && locked.error().code == ErrorCode::kBusy &&
      options_.keeper_lives(locked.error().message)) {
    return locked;
  }
  if (!journal_) {
    journal_ = Journal::open(files_, options_.folder, gpu_->identity().uuid, options_.epoch);
  }
  return {};
}

Setting GpuKeeper::in_force() const {
  Setting setting;
  if (!journal_) return setting;
  for (const auto& [knob, change] : journal_->changes()) {
    if (!change.requested.empty()) setting.set(knob, change.requested.back());
  }
  return setting;
}

Result<void> GpuKeeper::check_ready(LeaseId lease) const {
  const auto foreign = [&](const auto& entry) { return entry.second.lease != lease; };
  if (!restored_once_ || everything_ ||
      std::any_of(journal_->changes().begin(), journal_->changes().end(), foreign)) {
    return Error{ErrorCode::kNotReady,
                 fmt::format("GPU {} is not restored yet", gpu_->identity().uuid.text())};
  }
  return {};
}

// The value to restore. Locked clocks cannot be read: theirs is the site's value or the driver's
// default.
Result<std::optional<double>> GpuKeeper::find_baseline(Knob knob) {
  if (options_.site.has(knob) || knob != Knob::kPowerLimit) return options_.site.value(knob);
  ASSIGN_OR_RETURN(const Sample sample, gpu_->read(Sensor::kPowerLimit));
  if (!sample.requested_power_limit) {
    return Error{ErrorCode::kUnsupported,
                 "the power limit cannot be read, so it could not be restored",
                 "declare the site's power limit in the daemon's configuration"};
  }
  return std::optional<double>(sample.requested_power_limit->value());
}

Result<std::map<Knob, ChangeRecord>> GpuKeeper::prepare(const SetRequest& request,
                                                        const Setting& setting) {
  std::map<Knob, ChangeRecord> records;
  for (const Knob knob : kAllKnobs) {
    if (!setting.has(knob)) continue;
    ChangeRecord record{gpu_->identity().uuid,
                        knob,
                        {},
                        setting.value(knob),
                        request.lease,
                        request.owner,
                        options_.epoch,
                        clock_.unix_time()};
    const auto changed = journal_->changes().find(knob);
    if (changed != journal_->changes().end()) {
      record.baseline = changed->second.baseline;
    } else {
      ASSIGN_OR_RETURN(record.baseline, find_baseline(knob));
    }
    const std::optional<double> most = record.baseline;
    if (most && *record.requested > *most) {
      if (!request.bounds.clamp) return above_baseline(knob, *record.requested, *most);
      record.requested = most;
    }
    records.emplace(knob, std::move(record));
  }
  return records;
}

Result<SetReply> GpuKeeper::set(const SetRequest& request) {
  if (!journal_) return Error{ErrorCode::kNotReady, "the GPU is not ready for leases yet"};
  if (const Result<void> taken = take_lock(); !taken) {
    return Error{ErrorCode::kIo, "the GPU's lock cannot be taken: " + taken.error().message,
                 "see who holds or protects the files of " + options_.folder};
  }
  RETURN_IF_ERROR(take_over());
  RETURN_IF_ERROR(check_ready(request.lease));
  ASSIGN_OR_RETURN(const Setting bounded,
                   within_bounds(request.setting, request.bounds, gpu_->capabilities()));
  ASSIGN_OR_RETURN(const auto records, prepare(request, bounded));
  Setting setting;
  std::vector<ChangeRecord> list;
  for (const auto& [knob, record] : records) {
    setting.set(knob, *record.requested);
    list.push_back(record);
  }
  SetReply reply;
  if (!list.empty()) {
    note_default_clocks(setting);
    RETURN_IF_ERROR(journal_->record_changes(list));
    for (const ChangeRecord& record : list) given_back_.erase(record.knob);
    reply.outcome = gpu_->apply(setting);
  }
  for (const KnobOutcome& knob : reply.outcome) {
    if (!knob.result) continue;
    journal_->note_applied(knob.knob);
    reply.in_force.set(knob.knob, *setting.value(knob.knob));
  }
  give_back_unnamed(setting, reply.outcome);
  return reply;
}

void GpuKeeper::give_back_unnamed(const Setting& setting, ApplyOutcome& outcome) {
  const std::map<Knob, KnobChange> changes = journal_->changes();
  for (const auto& [knob, change] : changes) {
    if (setting.has(knob)) continue;
    const Result<RestoreHow> restored = restore_knob(knob, change);
    if (restored && *restored == RestoreHow::kReset && knob != Knob::kPowerLimit &&
        !change.requested.empty()) {
      given_back_[knob] = change.requested.back();
    }
    if (restored && settled()) journal_->record_restored(knob);
    outcome.push_back({knob, restored ? Result<void>() : Result<void>(restored.error())});
  }
}

std::map<Knob, KnobChange> GpuKeeper::to_restore() const {
  std::map<Knob, KnobChange> changes = journal_->changes();
  if (!everything_) return changes;
  for (const Knob knob : kAllKnobs) {
    const auto [place, is_new] = changes.try_emplace(knob);
    place->second.requested_known = false;
    place->second.epoch = options_.epoch;
  }
  return changes;
}

RestoreReport GpuKeeper::restore(RestoreScope scope) {
  RestoreReport report;
  if (scope == RestoreScope::kEverything) everything_ = true;
  if (const Result<void> taken = take_over(); !taken) {
    report.problem = taken.error();
    return report;
  }
  if (journal_->damage() && !std::exchange(damage_reported_, true)) {
    report.damage = journal_->damage();
  }
  // Restore the GPU first and write to the disk afterwards, which may be slow or full.
  for (const auto& [knob, change] : to_restore()) {
    report.knobs.push_back({knob, restore_knob(knob, change)});
    if (!report.knobs.back().result && !report.problem) {
      report.problem = report.knobs.back().result.error().in(to_string(knob));
    }
  }
  if (!settled()) {
    if (!report.problem) {
      report.problem = Error{ErrorCode::kTimeout, "an earlier change may still take effect",
                             "the driver or GPU may hang; see dmesg for Xid messages"};
    }
    return report;
  }
  const Setting before = in_force();
  for (const KnobRestore& knob : report.knobs) {
    if (!knob.result) continue;
    if (*knob.result == RestoreHow::kReset && knob.knob != Knob::kPowerLimit &&
        before.has(knob.knob)) {
      given_back_[knob.knob] = *before.value(knob.knob);
    }
    journal_->record_restored(knob.knob);
  }
  if (!report.problem) {
    everything_ = false;
    restored_once_ = true;
  }
  return report;
}

std::optional<double> GpuKeeper::target_of(Knob knob, const KnobChange& change) const {
  if (options_.site.has(knob)) return options_.site.value(knob);
  return everything_ ? std::nullopt : change.baseline;
}

Result<RestoreHow> GpuKeeper::restore_knob(Knob knob, const KnobChange& change) {
  if (surely_over(change.epoch, options_.epoch)) return RestoreHow::kGone;
  const std::optional<double> target = target_of(knob, change);
  if (knob == Knob::kPowerLimit && target && change.requested_known) {
    ASSIGN_OR_RETURN(const auto nothing_to_do, compare_limit(change, *target));
    if (nothing_to_do) return *nothing_to_do;
  }
  Result<RestoreHow> given = give_back(knob, target);
  // A knob that the card lacks and that we never set needs no restore.
  if (!given && given.error().code == ErrorCode::kUnsupported && change.requested.empty()) {
    return RestoreHow::kUntouched;
  }
  return given;
}

Result<std::optional<RestoreHow>> GpuKeeper::compare_limit(const KnobChange& change,
                                                           double target) {
  ASSIGN_OR_RETURN(const Sample sample, gpu_->read(Sensor::kPowerLimit));
  if (!sample.requested_power_limit) return std::optional<RestoreHow>();
  const double now = sample.requested_power_limit->value();
  const auto is_now = [&](double limit) { return same_limit(limit, now); };
  if (std::any_of(change.requested.begin(), change.requested.end(), is_now)) {
    return std::optional<RestoreHow>();
  }
  return std::optional(is_now(target) ? RestoreHow::kUntouched : RestoreHow::kForeign);
}

Result<RestoreHow> GpuKeeper::give_back(Knob knob, std::optional<double> target) {
  const auto checked = [&](std::optional<double> limit) {
    return knob == Knob::kPowerLimit ? check_limit(limit) : Result<void>();
  };
  if (target) {
    Setting setting;
    setting.set(knob, *target);
    const Result<void> applied = all_applied(gpu_->apply(setting));
    if (applied) {
      RETURN_IF_ERROR(checked(target));
      return RestoreHow::kBaseline;
    }
    const ErrorCode code = applied.error().code;
    // The card will never accept this value, so reset to the driver's default instead.
    if (code != ErrorCode::kUsage && code != ErrorCode::kUnsupported) return applied.error();
  }
  RETURN_IF_ERROR(gpu_->reset(knob));
  const std::optional<Watts> usual = gpu_->capabilities().default_power_limit;
  RETURN_IF_ERROR(checked(usual ? std::optional(usual->value()) : std::nullopt));
  return RestoreHow::kReset;
}

Result<void> GpuKeeper::give_back_again() {
  for (const auto& [knob, ceiling] : given_back_) RETURN_IF_ERROR(gpu_->reset(knob));
  return {};
}

// The driver said yes; this asks the card. A limit that cannot be read cannot be checked.
Result<void> GpuKeeper::check_limit(std::optional<double> target) {
  if (!target) return {};
  const Result<Sample> sample = gpu_->read(Sensor::kPowerLimit);
  if (!sample || !sample->requested_power_limit) return {};
  const double now = sample->requested_power_limit->value();
  if (same_limit(now, *target)) return {};
  return Error{ErrorCode::kNotReady,
               fmt::format("the power limit reads {:g} W after it was set to {:g} W", now, *target),
               "another program may set it too; see 'nvidia-smi -q -d POWER'"};
}

}  // namespace hypermile
