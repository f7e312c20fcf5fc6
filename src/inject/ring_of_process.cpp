// SPDX-License-Identifier: Apache-2.0
#include "inject/ring_of_process.h"

#include <pthread.h>
#include <unistd.h>

namespace hypermile {
namespace {

constinit RingWriter ring;
constinit pthread_once_t once = PTHREAD_ONCE_INIT;

// In a forked child the ring belongs to the parent. The child, alone in its process, leaves a kFork
// record there and may make its own ring.
void in_forked_child() {
  once = PTHREAD_ONCE_INIT;
  if (!ring.is_open()) return;
  __atomic_fetch_add(&ring.header().forks, 1, __ATOMIC_RELAXED);
  ring.put(monotonic_ns(), pack_b(RecordKind::kFork, 0, static_cast<std::uint32_t>(::getpid())), 0);
  ring.abandon();
}

void open_once() {
  static constinit pthread_once_t registered = PTHREAD_ONCE_INIT;
  ::pthread_once(&registered, [] { ::pthread_atfork(nullptr, nullptr, in_forked_child); });
  ring.open(RingSource::kLaunches);
}

__attribute__((destructor)) void at_exit() {
  if (ring.is_open()) ring.end();
}

}  // namespace

bool open_ring_of_process() {
  ::pthread_once(&once, open_once);
  return ring.is_open();
}

RingWriter& ring_of_process() {
  return ring;
}

}  // namespace hypermile
