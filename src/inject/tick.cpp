// SPDX-License-Identifier: Apache-2.0
//
// libhypermile.so: the ticks of include/hypermile.h. The first tick makes a ring of their own.
// Without HYPERMILE_RING_DIR a tick is one count and one branch. If the injected library is loaded
// too, it is told of each tick, so that it can time the tick on the GPU.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "hypermile.h"
#include "inject/ring_writer.h"
#include "inject/tick.h"
#include "inject/ticks_seen.h"

namespace hypermile {
namespace {

enum State : int { kUntried, kTrying, kListening, kSilent };

constinit RingWriter ring;
constinit int state = kUntried;

// A child that ticks gets its own ring.
void in_forked_child() {
  ring.abandon();
  if (state != kSilent) state = kUntried;
}

// One thread makes the ring; other threads' ticks are dropped until then instead of waiting.
State begin() {
  int untried = kUntried;
  if (!__atomic_compare_exchange_n(&state, &untried, kTrying, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_ACQUIRE))
    return static_cast<State>(untried);
  static constinit pthread_once_t once = PTHREAD_ONCE_INIT;
  ::pthread_once(&once, [] { ::pthread_atfork(nullptr, nullptr, in_forked_child); });
  const bool opened = ring.open(RingSource::kTicks);
  if (opened) ring.set_status(RingStatus::kWatching, "");
  __atomic_store_n(&state, opened ? kListening : kSilent, __ATOMIC_RELEASE);
  return opened ? kListening : kSilent;
}

bool listening() {
  const auto now = static_cast<State>(__atomic_load_n(&state, __ATOMIC_ACQUIRE));
  return now == kListening || (now == kUntried && begin() == kListening);
}

using MarkTick = void (*)(std::uint64_t number, std::uint64_t now_ns);
constinit MarkTick mark_tick = nullptr;

// CUDA may load the injected library at any time, or never, so it is looked up at ticks 1, 2, 4, 8…
void look_for_injected(std::uint64_t tick) {
  if ((tick & (tick - 1)) != 0) return;
  const char* path = ::getenv("CUDA_INJECTION64_PATH");
  void* library = path && *path == '/' ? ::dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (!library) return;
  auto* found = reinterpret_cast<MarkTick>(::dlsym(library, "hypermile_inject_tick"));
  __atomic_store_n(&mark_tick, found, __ATOMIC_RELEASE);
}

constinit std::uint64_t ticks = 0;

void tick(const char* phase) {
  __atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED);
  if (!listening()) return;
  const std::uint64_t now = monotonic_ns();
  const std::uint32_t name = phase && *phase != '\0' ? ring.intern(phase) : kNoName;
  const std::uint64_t number = ring.put(now, pack_b(RecordKind::kTick, 0, name), 0);
  MarkTick mark = __atomic_load_n(&mark_tick, __ATOMIC_ACQUIRE);
  if (!mark) look_for_injected(number);
  if (mark) mark(number, now);
}

__attribute__((destructor)) void at_exit() {
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == kListening) ring.end();
}

}  // namespace

std::uint64_t ticks_seen() {
  return __atomic_load_n(&ticks, __ATOMIC_RELAXED);
}

void listen_again() {
  int silent = kSilent;
  __atomic_compare_exchange_n(&state, &silent, kUntried, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void tell_device(std::uint32_t device) {
  if (listening()) ring.put(monotonic_ns(), pack_b(RecordKind::kContext, 0, device), 0);
}

}  // namespace hypermile

extern "C" {

__attribute__((visibility("default"))) void hypermile_tick(void) {
  hypermile::tick(nullptr);
}

__attribute__((visibility("default"))) void hypermile_tick_phase(const char* phase) {
  hypermile::tick(phase);
}

__attribute__((visibility("default"))) int hypermile_listening(void) {
  return hypermile::listening() ? 1 : 0;
}
}
