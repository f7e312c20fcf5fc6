// SPDX-License-Identifier: Apache-2.0
#include "inject/ring_of_process.h"

#include <pthread.h>

namespace hypermile {
namespace {

constinit RingWriter ring;
constinit pthread_once_t once = PTHREAD_ONCE_INIT;

}  // namespace

bool open_ring_of_process() {
  ::pthread_once(&once, [] { ring.open(RingSource::kLaunches); });
  return ring.is_open();
}

RingWriter& ring_of_process() {
  return ring;
}

}  // namespace hypermile
