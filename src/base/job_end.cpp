// SPDX-License-Identifier: Apache-2.0
#include "base/job_end.h"

#include <sys/resource.h>
#include <csignal>

namespace hypermile {

int end_like(const JobEnd& end) {
  if (!end.signal) return end.code;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(*end.signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, *end.signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(*end.signal);
  return end.exit_code();
}

}  // namespace hypermile
