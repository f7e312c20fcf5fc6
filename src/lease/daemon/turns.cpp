// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace hypermile {
namespace {

constexpr double kPauseShare = 0.1;  // of the longest lease
// For a holder whose process cannot be seen, so that its end cannot be either.
constexpr Seconds kUnseenHold = Seconds(3600);

bool process_lives(pid_t pid) {
  return ::kill(pid, 0) == 0 || errno == EPERM;
}

}  // namespace

Turns::Turns(const Clock& clock, Lives lives)
    : clock_(clock), lives_(lives ? std::move(lives) : process_lives) {}

void Turns::forget_the_past(Gpu& gpu, bool free) {
  const Instant now = clock_.now();
  const auto left = [&](const Waiting& user) { return now - user.asked > kPatience; };
  std::erase_if(gpu.line, left);
  if (!free || gpu.line.empty()) {
    gpu.turn.reset();
  } else if (!gpu.turn) {
    gpu.turn = now;
  }
  // Whoever lets a turn pass has to ask again, and then stands at the end.
  while (gpu.turn && now - *gpu.turn > kTurn && !gpu.line.empty()) {
    gpu.line.pop_front();
    *gpu.turn = *gpu.turn + kTurn;
  }
  if (gpu.line.empty()) gpu.turn.reset();
  std::erase_if(gpu.pauses, [&](const auto& pause) { return pause.second <= now; });
  std::erase_if(gpu.barred, [&](const Barred& entry) {
    return entry.until ? *entry.until <= now : !lives_(static_cast<pid_t>(entry.pid));
  });
}

Result<void> Turns::check_barred(const Gpu& gpu, const GpuUuid& uuid, const Owner& owner) const {
  const auto entry = std::ranges::find_if(gpu.barred, [&](const Barred& candidate) {
    return candidate.uid == owner.uid && (candidate.until || candidate.pid == owner.pid);
  });
  if (entry == gpu.barred.end()) return {};
  const std::string how_long =
      entry->until ? fmt::format("for another {:.0f} s", (*entry->until - clock_.now()).value())
                   : std::string("for as long as this process runs");
  return Error{ErrorCode::kPermission,
               fmt::format("the administrator has taken GPU {} back, {}", uuid.text(), how_long),
               "ask the administrator, who can run 'hypermile reset --reopen'"};
}

Result<void> Turns::may_take(const GpuUuid& uuid, const Owner& owner, bool free) {
  const auto found = gpus_.find(uuid);
  if (found == gpus_.end()) return {};
  Gpu& gpu = found->second;
  forget_the_past(gpu, free);
  RETURN_IF_ERROR(check_barred(gpu, uuid, owner));
  if (const auto pause = gpu.pauses.find(owner.uid); pause != gpu.pauses.end()) {
    return Error{ErrorCode::kNotReady,
                 fmt::format("user {} has had GPU {} for the longest time allowed, and pauses for "
                             "another {:.1f} s",
                             owner.uid, uuid.text(), (pause->second - clock_.now()).value()),
                 "try again after that"};
  }
  if (!gpu.line.empty() && gpu.line.front().uid != owner.uid) {
    const Waiting& next = gpu.line.front();
    return Error{ErrorCode::kBusy,
                 fmt::format("user {} is next on GPU {}, having waited {:.0f} s", next.uid,
                             uuid.text(), (clock_.now() - next.since).value()),
                 "ask again: whoever asks stays in line"};
  }
  return {};
}

void Turns::refused(const GpuUuid& uuid, const Owner& owner) {
  Gpu& gpu = gpus_[uuid];
  const auto place = std::ranges::find(gpu.line, owner.uid, &Waiting::uid);
  if (place != gpu.line.end()) {
    place->asked = clock_.now();
  } else if (gpu.line.size() < kMostInLine) {
    gpu.line.push_back({owner.uid, clock_.now(), clock_.now()});
  }
}

void Turns::took(const GpuUuid& uuid, const Owner& owner) {
  const auto found = gpus_.find(uuid);
  if (found == gpus_.end()) return;
  Gpu& gpu = found->second;
  std::erase_if(gpu.line, [&](const Waiting& user) { return user.uid == owner.uid; });
  gpu.turn.reset();
}

void Turns::reached_longest(const GpuUuid& uuid, const Owner& owner, Seconds longest) {
  const Seconds pause = std::clamp(longest * kPauseShare, kShortestPause, kLongestPause);
  gpus_[uuid].pauses[owner.uid] = clock_.now() + pause;
}

void Turns::took_back(const GpuUuid& uuid, const Owner& owner, std::optional<Seconds> hold) {
  if (!hold && owner.pid <= 0) hold = kUnseenHold;
  Barred entry{owner.uid, owner.pid, {}};
  if (hold) entry.until = clock_.now() + *hold;
  gpus_[uuid].barred.push_back(entry);
}

void Turns::forgive() {
  for (auto& [uuid, gpu] : gpus_) gpu.barred.clear();
}

}  // namespace hypermile
