// SPDX-License-Identifier: Apache-2.0
#include "trial/launch_player.h"

#include <algorithm>
#include <bit>
#include <string>

namespace hypermile {
namespace {

constexpr double kEventEvery = static_cast<double>(kLeastSpacingNs) * 1e-9;  // s
constexpr double kSavedUp = 32;  // events that a waiting host saves up there
constexpr double kLongestDark = static_cast<double>(kLongestDarkNs) * 1e-9;  // s

// The part whose kernels include `kernel`, the first where several share it; null for none.
const PartWork* part_of(const Load& load, std::uint32_t kernel) {
  for (std::uint32_t p = 0; p < load.phase_count; ++p) {
    const PhaseWork& phase = load.phases[p];
    for (std::uint32_t i = 0; i < phase.part_count; ++i) {
      const PartWork& part = phase.parts[i];
      if (kernel >= part.first_kernel && kernel < part.first_kernel + part.kernel_kinds) {
        return &part;
      }
    }
  }
  return nullptr;
}

}  // namespace

LaunchPlayer::LaunchPlayer(RingWriter& ring, const Load& load, const CardTime& time,
                           const Terms& terms)
    : ring_(ring), load_(load), time_(time), terms_(terms), emitter_(load, terms.seed) {}

Instant LaunchPlayer::instant(double card_s) const {
  return time_.origin + Seconds((card_s + time_.offset_s) / time_.speed);
}

double LaunchPlayer::card_seconds(Instant time) const {
  return (time - time_.origin).value() * time_.speed - time_.offset_s;
}

std::uint64_t LaunchPlayer::ns(double card_s) const {
  return static_cast<std::uint64_t>(instant(card_s).nanoseconds());
}

// The library looks several times a second.
void LaunchPlayer::look() {
  if (dark_until_s_ && ring_.control().dark_until_ns != heeded_) watch_again(played_s_);
}

// Launches that nobody records need not be made, unless the GPU reaches them later.
void LaunchPlayer::finished(const FinishedUnit& unit) {
  const bool unseen = dark_until_s_ && unit.start_s + unit.duration_s <= *dark_until_s_;
  if (unseen && load_.dispatch_ahead == 0) {
    emitter_.skip(unit);
  } else {
    emitter_.emit(unit, *this);
  }
}

void LaunchPlayer::caught_up(double now_s) {
  if (dark_until_s_ && *dark_until_s_ <= now_s) watch_again(*dark_until_s_);
  played_s_ = now_s;
  write_gpu_times(now_s);
}

void LaunchPlayer::write_gpu_times(double now_s) {
  for (const PendingTime& each : pending_) {
    if (each.gpu_s > now_s) continue;
    const double seconds = (each.gpu_s + time_.offset_s) / time_.speed;
    ring_.put(each.launch, pack_b(RecordKind::kGpuTime, 1, terms_.device),
              std::bit_cast<std::uint64_t>(seconds));
  }
  std::erase_if(pending_, [&](const PendingTime& each) { return each.gpu_s <= now_s; });
}

// A kernel's name contains the name of its part, so that an optimizer's kernels are recognised.
std::uint32_t LaunchPlayer::name_of(std::uint32_t kernel) {
  if (kernel >= names_.size()) names_.resize(kernel + 1);
  std::uint32_t& id = names_[kernel];
  if (id > 0) return id - 1;
  const PartWork* part = part_of(load_, kernel);
  const std::string name = part != nullptr ? part->name.data() : "k";
  id = ring_.intern((name + " " + std::to_string(kernel)).c_str()) + 1;
  return id - 1;
}

// As DarkStretches in the injected library does, except that it acts at once.
void LaunchPlayer::heed_wish(double time_s) {
  heeded_ = ring_.control().dark_until_ns;
  const double until_s =
      card_seconds(Instant::from_nanoseconds(static_cast<std::int64_t>(heeded_)));
  if (until_s <= time_s) return;
  dark_until_s_ = std::min(until_s, time_s + kLongestDark);
  ring_.put(ns(time_s), pack_b(RecordKind::kWatch, 0, 0), 0);
}

void LaunchPlayer::watch_again(double time_s) {
  ring_.put(ns(time_s), pack_b(RecordKind::kWatch, 0, 1), 0);
  dark_until_s_.reset();
}

bool LaunchPlayer::wants_event(std::uint32_t name, double time_s) {
  const RingControl& control = ring_.control();
  const bool anchor = control.events_wanted != 0 && control.kernel == name &&
                      (control.previous == kNoName || control.previous == previous_);
  const double every = kEventEvery * time_.speed;
  if (!terms_.gpu_times || !anchor || time_s < spent_until_s_ - kSavedUp * every) return false;
  spent_until_s_ = std::max(spent_until_s_, time_s) + every;
  return true;
}

void LaunchPlayer::launch(const SimLaunch& launch) {
  if (dark_until_s_) {
    if (launch.time_s < *dark_until_s_) {
      if (!launch.gpu_s) ahead_.emplace_back();
      return;
    }
    watch_again(*dark_until_s_);
  }
  const std::uint32_t name = name_of(launch.kernel);
  const std::uint64_t record =
      ring_.put(ns(launch.time_s), pack_b(RecordKind::kLaunch, 0, name), launch.blocks);
  if (ring_.control().dark_until_ns != heeded_) heed_wish(launch.time_s);
  const bool event = wants_event(name, launch.time_s);
  if (!launch.gpu_s) {
    ahead_.push_back(event ? std::optional(record) : std::nullopt);
  } else if (event) {
    pending_.push_back({record, *launch.gpu_s});
  }
  previous_ = name;
}

void LaunchPlayer::reached(double gpu_s) {
  if (ahead_.front()) pending_.push_back({*ahead_.front(), gpu_s});
  ahead_.pop_front();
}

}  // namespace hypermile
