/* SPDX-License-Identifier: Apache-2.0
 *
 * hypermile for C, C++ and anything that can call C: where iterations begin (ticks), and what a
 * stretch of a program took and cost (windows). Link with -lhypermile (pkg-config hypermile, or
 * CMake's find_package(hypermile) and hypermile::hypermile), or load libhypermile.so.0 at run time.
 * The library needs nothing but the C library; no call prints, throws, exits or changes a GPU, and
 * any thread may make it.
 *
 *   for (...) { hypermile_tick(); train_one_iteration(); }
 *
 * Within a major version functions and members are only added, members at the end.
 */
#ifndef HYPERMILE_H
#define HYPERMILE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Ticks. Under `hypermile run` or `hypermile attach` they win over everything that hypermile
 * would find by itself; anywhere else a call costs a few nanoseconds and is only counted. They
 * never fail or wait. */

/* An iteration begins here. Call it at the same place of every iteration. */
void hypermile_tick(void);

/* The same, of a phase with a name ("train", "eval"): iterations of different phases are not
 * compared with one another. Names are told apart by their text; a few dozen are reasonable. A null
 * pointer is as hypermile_tick(). */
void hypermile_tick_phase(const char* phase);

/* 1 when somebody may be listening, 0 when ticks go nowhere. */
int hypermile_listening(void);

/* ---- Windows: what happened between two places of the program, with or without `hypermile run`.
 *
 *   hypermile_window* window = hypermile_window_begin(NULL);
 *   train_one_epoch();                            // waits for the GPU at its end
 *   hypermile_measured cost;
 *   if (hypermile_window_end(window, &cost, sizeof cost))
 *     printf("%.1f J in %.2f s\n", cost.joules, cost.seconds);
 *   else
 *     printf("%s\n", cost.reason);
 *
 * Both calls read each GPU's energy counter through NVML, which takes 2 to 4 ms a GPU on an H200;
 * the first window also loads NVML. GPUs work behind the program's back: synchronise before both
 * calls, or take windows so long that it does not matter. Windows may overlap. */

typedef struct hypermile_window hypermile_window;

typedef struct hypermile_measured {
  double seconds;      /* by the host's clock; always known */
  double iterations;   /* ticks of this process in the window; 0 where it does not tick */
  double joules;       /* whole boards, all GPUs of the window together; 0 where not known */
  double joules_error; /* standard error of that: the counters move only every 100 ms or so */
  unsigned gpus;       /* how many were read */
  char reason[192];    /* why joules are not known; "" where they are */
} hypermile_measured;

/* `gpus`: indices or UUIDs with commas between, as in CUDA_VISIBLE_DEVICES (indices as nvidia-smi
 * counts them). A null pointer: what that variable names, else the GPUs on which NVML sees this
 * process, else the first. Whatever is wrong is told at the window's end. A null pointer is
 * returned only where there is no memory, and may be given to hypermile_window_end. */
hypermile_window* hypermile_window_begin(const char* gpus);

/* Fills `measured`, of which the caller knows `size` bytes (sizeof), and frees the window. 1 where
 * joules are known, else 0 and the reason. `measured` may be null: the window is only freed. */
int hypermile_window_end(hypermile_window* window, hypermile_measured* measured, size_t size);

#ifdef __cplusplus
}
#endif

#endif
