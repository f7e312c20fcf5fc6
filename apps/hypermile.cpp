// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/cli.h"
#include "run/stop_signals.h"

int main(int argc, char** argv) {
  const auto clock = hypermile::make_real_clock();
  hypermile::StopSignals signals;
  hypermile::CommandContext context{std::cout, std::cerr,       ::isatty(STDERR_FILENO) == 1,
                                    *clock,    signals.token(), &signals};
  const int code = hypermile::run_cli({argv + 1, argv + argc}, context);
  if (!context.job_end) return code;
  std::cout.flush();
  return hypermile::end_like(*context.job_end);
}
