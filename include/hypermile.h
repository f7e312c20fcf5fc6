/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells hypermile where iterations begin, from C or anything that can call C.
 *
 *   for (...) { hypermile_tick(); train_one_iteration(); }
 *
 * Link with -lhypermile, or load libhypermile.so at run time. Under `hypermile run` or `hypermile
 * attach` ticks win over everything that hypermile would find by itself; anywhere else a call costs
 * a few nanoseconds and does nothing. No call fails, waits, prints or throws; any thread may make
 * it.
 */
#ifndef HYPERMILE_H
#define HYPERMILE_H

#ifdef __cplusplus
extern "C" {
#endif

/* An iteration begins here. Call it at the same place of every iteration. */
void hypermile_tick(void);

/* The same, of a phase with a name ("train", "eval"): iterations of different phases are not
 * compared with one another. Names are told apart by their text; a few dozen are reasonable. A null
 * pointer is as hypermile_tick(). */
void hypermile_tick_phase(const char* phase);

/* 1 when somebody may be listening, 0 when ticks go nowhere. */
int hypermile_listening(void);

#ifdef __cplusplus
}
#endif

#endif
