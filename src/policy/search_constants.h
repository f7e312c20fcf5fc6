// SPDX-License-Identifier: Apache-2.0
//
// Every number that the policy "hypermile" decides by, in one place. docs/evidence/search.md has
// the tables that fix them; they were chosen on every second measured curve and checked on the
// others. docs/evidence/ablation.md says what each part is worth.
#pragma once

namespace hypermile {

struct SearchConstants {
  // Full windows at the default before anything else: two give a first idea of the noise.
  double start_windows = 2;
  // Standard errors of the default's pace by which the whole job is planned to stay below its
  // bound: 1 of 160 jobs would end over it if the error were all there is.
  double surely = 2.5;
  // Ratio of neighbouring numbers of windows at the default among which the plan chooses.
  double plan_steps = 1.3;
  // The default is seen again after so many full windows without it, and after this share of what
  // the job has run: often enough to notice a job that changes its pace, seldom enough to cost
  // little.
  double default_windows = 40;
  double default_share = 0.1;
  // Slowest Setting that is ever kept, in bounds: nobody likes a job that crawls for a while.
  double crawl = 2;
  // Least saving worth leaving the default for, as a share of its price: switching clocks for less
  // is not what a user wants.
  double least_gain = 0.004;
  // Least expected fall of the mix's price for which a look is worth the disturbance.
  double least_look = 0.001;
  // A look must promise this many times what it costs, since promises of many Settings are compared
  // and the luckiest is taken.
  double look_pays = 3;
  // Share of the time that may still be lost which one look may lose at worst (two standard
  // deviations slower than expected).
  double look_risk = 0.2;
  // The same for a memory clock (one standard deviation), which no small step can approach; a look
  // there is cut when it is plainly too slow.
  double memory_risk = 0.5;
  // Iterations after which a look that is plainly too slow is cut, beside those of settling.
  double cut_iterations = 4;
  // Standard errors of the mean so far by which it must be too slow for that.
  double plainly = 3;
  // Full windows at one Setting of the mix at a time, and at least as many times the iterations of
  // settling: a switch is not free on a real card.
  double dwell_windows = 2;
  double dwell_settles = 10;
  // Advantage for which a steady job changes the one Setting that it keeps, as a share of the
  // default's price.
  double steady_gain = 0.005;
  // Windows at a Setting that cannot be used, in a row, before it is left alone.
  int bad_windows = 3;
};

}  // namespace hypermile
