/* SPDX-License-Identifier: Apache-2.0
 *
 * hypermile for C, C++ and anything that can call C. Ticks tell hypermile where iterations begin;
 * windows measure the time and energy of a part of a program. Link with -lhypermile (pkg-config
 * hypermile, or CMake's find_package(hypermile) and hypermile::hypermile), or load
 * libhypermile.so.0 at run time. The library needs nothing but the C library. No call prints,
 * throws, exits or changes a GPU, and any thread may make it.
 *
 *   for (...) { hypermile_tick(); train_one_iteration(); }
 *
 * Within a major version, functions and members are only added, new members at the end.
 */
#ifndef HYPERMILE_H
#define HYPERMILE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Ticks. Under `hypermile run` or `hypermile attach`, ticks replace the iterations that
 * hypermile would detect by itself; otherwise a tick is only counted and costs a few nanoseconds.
 * Ticks never fail or wait. */

/* An iteration begins here. Call it at the same place in every iteration. */
void hypermile_tick(void);

/* The same for an iteration of a named phase ("train", "eval"): iterations of different phases are
 * not compared with each other. Names are compared by their text; use a few dozen at most. A null
 * pointer means the same as hypermile_tick(). */
void hypermile_tick_phase(const char* phase);

/* Returns 1 if hypermile may be listening to ticks, 0 if nobody does. */
int hypermile_listening(void);

/* ---- Windows measure what happens between two calls, with or without `hypermile run`.
 *
 *   hypermile_window* window = hypermile_window_begin(NULL);
 *   train_one_epoch();                            // must wait for the GPU at its end
 *   hypermile_measured cost;
 *   if (hypermile_window_end(window, &cost, sizeof cost))
 *     printf("%.1f J in %.2f s\n", cost.joules, cost.seconds);
 *   else
 *     printf("%s\n", cost.reason);
 *
 * Both calls read each GPU's energy counter through NVML, which takes 2 to 4 ms per GPU on an H200;
 * the first window also loads NVML. GPUs work asynchronously: synchronise before both calls, or
 * make windows so long that it does not matter. Windows may overlap. */

typedef struct hypermile_window hypermile_window;

typedef struct hypermile_measured {
  double seconds;      /* by the host's clock; always known */
  double iterations;   /* ticks of this process in the window; 0 if it does not tick */
  double joules;       /* of the whole boards, summed over the window's GPUs; 0 if not known */
  double joules_error; /* standard error of joules: counters are updated about every 100 ms */
  unsigned gpus;       /* how many GPUs were read */
  char reason[192];    /* why joules are not known; "" if they are */
} hypermile_measured;

/* `gpus` lists indices or UUIDs separated by commas, as in CUDA_VISIBLE_DEVICES (indices as
 * nvidia-smi counts them). A null pointer means the GPUs which that variable names, else those on
 * which NVML sees this process, else the first. Problems are reported by hypermile_window_end. The
 * result is a null pointer only if there is no memory; hypermile_window_end accepts it. */
hypermile_window* hypermile_window_begin(const char* gpus);

/* Fills `measured`, whose size the caller gives as `size` (sizeof), and frees the window. Returns 1
 * if joules are known, else 0 with the reason. With a null `measured` the window is only freed. */
int hypermile_window_end(hypermile_window* window, hypermile_measured* measured, size_t size);

#ifdef __cplusplus
}
#endif

#endif
