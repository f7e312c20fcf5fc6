// SPDX-License-Identifier: Apache-2.0
#include "inject/dark_stretches.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

namespace hypermile {
namespace {

// How often the thread checks whether the controller wants launches again.
constexpr std::uint64_t kLookNs = 50'000'000;
constexpr std::size_t kStack = std::size_t{256} * 1024;

void sleep_until(std::uint64_t ns) {
  const timespec when{static_cast<time_t>(ns / 1'000'000'000U),
                      static_cast<long>(ns % 1'000'000'000U)};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {
  }
}

// The controller's current wish, or `otherwise` while the controller is writing.
std::uint64_t dark_until(const RingControl& control, std::uint64_t otherwise) {
  const std::uint64_t revision = __atomic_load_n(&control.revision, __ATOMIC_ACQUIRE);
  const std::uint64_t until = __atomic_load_n(&control.dark_until_ns, __ATOMIC_ACQUIRE);
  const bool whole =
      (revision & 1) == 0 && __atomic_load_n(&control.revision, __ATOMIC_RELAXED) == revision;
  return whole ? until : otherwise;
}

}  // namespace

void DarkStretches::start(Switch turn, RingWriter& ring) {
  turn_ = turn;
  ring_ = &ring;
  ::sem_init(&wishes_, 0, 0);
}

void DarkStretches::read_control(const RingControl& control, std::uint64_t now_ns) {
  const std::uint64_t seen = __atomic_load_n(&seen_until_, __ATOMIC_RELAXED);
  const std::uint64_t until = dark_until(control, seen);
  if (until == seen) return;
  __atomic_store_n(&seen_until_, until, __ATOMIC_RELAXED);
  if (until <= now_ns || !turn_ || !start_thread()) return;
  const std::uint64_t latest = now_ns + kLongestDarkNs;
  __atomic_store_n(&until_ns_, until < latest ? until : latest, __ATOMIC_RELEASE);
  ::sem_post(&wishes_);
}

bool DarkStretches::start_thread() {
  int state = 0;
  if (!__atomic_compare_exchange_n(&thread_, &state, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return state == 1;
  // Blocks all signals, so that no signal for the job is delivered to our thread.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, kStack);
  pthread_t thread;
  const bool started = ::pthread_create(&thread, &attributes, run, this) == 0;
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) __atomic_store_n(&thread_, 2, __ATOMIC_RELEASE);
  return started;
}

void* DarkStretches::run(void* self) {
  auto& dark = *static_cast<DarkStretches*>(self);
  while (true) {
    if (::sem_wait(&dark.wishes_) != 0) continue;
    dark.be_dark(__atomic_load_n(&dark.until_ns_, __ATOMIC_ACQUIRE));
  }
  return nullptr;
}

// The two records enclose every launch that may be missing: the first is written before the
// callbacks are turned off, the second after they are on again.
void DarkStretches::be_dark(std::uint64_t until_ns) {
  const std::uint64_t begin = monotonic_ns();
  if (until_ns <= begin) return;
  ring_->put(begin, pack_b(RecordKind::kWatch, 0, 0), 0);
  if (turn_(false)) {
    const std::uint64_t wish = __atomic_load_n(&seen_until_, __ATOMIC_RELAXED);
    std::uint64_t now = begin;
    while (now < until_ns && dark_until(ring_->control(), wish) == wish) {
      sleep_until(now + kLookNs < until_ns ? now + kLookNs : until_ns);
      now = monotonic_ns();
    }
    turn_(true);
  }
  const std::uint64_t end = monotonic_ns();
  __atomic_fetch_add(&ring_->header().dark_ns, end - begin, __ATOMIC_RELAXED);
  ring_->put(end, pack_b(RecordKind::kWatch, 0, 1), 0);
}

}  // namespace hypermile
