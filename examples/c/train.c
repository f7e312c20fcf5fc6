/* SPDX-License-Identifier: Apache-2.0
 *
 * A training loop in C that tells hypermile where its iterations begin and measures the time and
 * energy of each epoch. Build it with either of
 *
 *   cc train.c $(pkg-config --cflags --libs hypermile) -o train
 *   cmake -B build && cmake --build build
 *
 * and run it alone, or as `hypermile run -- ./train`. train_one_iteration() only sleeps; put your
 * own GPU work there.
 */
#include <hypermile.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kIterations = 40, kIterationMs = 25 };

static void train_one_iteration(void) {
  const struct timespec work = {0, kIterationMs * 1000000L};
  nanosleep(&work, NULL);
}

int main(int argc, char** argv) {
  const int epochs = argc > 1 ? atoi(argv[1]) : 2;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    hypermile_window* window = hypermile_window_begin(NULL);
    for (int i = 0; i < kIterations; ++i) {
      hypermile_tick_phase("train");
      train_one_iteration();
    }
    /* A real trainer synchronises with its GPU here. */
    hypermile_measured cost;
    if (hypermile_window_end(window, &cost, sizeof cost)) {
      printf("epoch %d: %.0f iterations, %.3f s, %.1f J (standard error %.1f J) on %u GPU(s)\n", epoch,
             cost.iterations, cost.seconds, cost.joules, cost.joules_error, cost.gpus);
    } else {
      printf("epoch %d: %.0f iterations, %.3f s, energy not known: %s\n", epoch, cost.iterations,
             cost.seconds, cost.reason);
    }
  }
  return 0;
}
