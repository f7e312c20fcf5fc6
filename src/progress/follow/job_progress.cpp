// SPDX-License-Identifier: Apache-2.0
#include "progress/follow/job_progress.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace hypermile {
namespace {

constexpr Seconds kLookForEnds = milliseconds(100);  // two system calls for each ring
// Power buffers are drained once a second, and a driver call may take two until it is given up.
constexpr Seconds kReadingsCome = Seconds(5);

bool gone(pid_t pid) {
  return ::kill(pid, 0) != 0 && errno == ESRCH;
}

// How much a process did, to compare it with others.
std::pair<std::uint64_t, double> work_of(const ProcessProgress& process) {
  double iterations = 0;
  for (const PhaseProgress& phase : process.phases()) iterations += phase.iterations;
  return {process.launches(), iterations};
}

}  // namespace

JobProgress::JobProgress(RingFolder& folder, ProgressSink& sink, const ProgressDelays& delays)
    : folder_(folder), sink_(sink), delays_(delays) {}

void JobProgress::attend(const Attention& attention) {
  attention_ = attention;
  for (const auto& process : processes_) process->attend(attention);
}

void JobProgress::poll(Instant now) {
  look_for_processes();
  for (const auto& process : processes_) process->poll(now);
  if (!looked_ || now - *looked_ >= kLookForEnds) {
    looked_ = now;
    look_for_ends(now);
  }
}

void JobProgress::look_for_processes() {
  for (RingReader* ring : folder_.discover()) {
    const Result<RingInfo> info = ring->info();
    if (!info) continue;
    // The tick library and the injected library each have a ring in the same process. After an
    // exec, the same pid is another program.
    const auto same = std::ranges::find_if(processes_, [&](const auto& process) {
      return process->pid() == info->pid && !process->over() && !process->has(info->source);
    });
    ProcessProgress* process = nullptr;
    if (same != processes_.end()) {
      process = same->get();
    } else {
      processes_.push_back(std::make_unique<ProcessProgress>(info->pid, sink_, delays_));
      process = processes_.back().get();
      process->attend(attention_);
    }
    process->attach(*ring, *info);
    held_.push_back({ring, process});
  }
}

// A process that was killed leaves no record of its end, so its pid is checked too. Its rings are
// removed, because their number is limited and a job may start thousands of processes.
void JobProgress::look_for_ends(Instant now) {
  for (Held& held : held_) {
    const Result<RingInfo> info = held.ring->info();
    held.ended = !info || info->status == RingStatus::kEnded || gone(held.process->pid());
  }
  for (const Held& held : held_) {
    if (held.ended) held.process->finish(now);
  }
  for (Held& held : held_) {
    if (held.process->over()) folder_.forget(std::exchange(held.ring, nullptr));
  }
  std::erase_if(held_, [](const Held& held) { return held.ring == nullptr; });
  settle_ended(now);
  while (settled_ > kKeptEnded) forget_least();
}

void JobProgress::settle_ended(Instant now) {
  for (const auto& process : processes_) {
    const std::optional<Instant> ended = process->ended();
    if (!ended || process->settled() || now - *ended < kReadingsCome) continue;
    process->settle();
    sink_.settled(*process);
    ++settled_;
  }
}

// Of the processes whose end was settled, drops the one that did least.
void JobProgress::forget_least() {
  auto least = processes_.end();
  for (auto at = processes_.begin(); at != processes_.end(); ++at) {
    if (!(*at)->settled()) continue;
    if (least == processes_.end() || work_of(**at) < work_of(**least)) least = at;
  }
  ++forgotten_.processes;
  forgotten_.launches += (*least)->launches();
  sink_.forgotten(**least);
  processes_.erase(least);
  --settled_;
}

void JobProgress::finish(Instant now) {
  look_for_processes();
  for (const auto& process : processes_) process->finish(now);
}

const ProcessProgress* JobProgress::main_process() const {
  const auto most = std::ranges::max_element(processes_, {},
                                             [](const auto& process) { return work_of(*process); });
  return most != processes_.end() ? most->get() : nullptr;
}

}  // namespace hypermile
