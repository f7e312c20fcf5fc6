// SPDX-License-Identifier: Apache-2.0
//
// Makes every later call of an exported function reach another one. CUPTI has room for one
// subscriber; when a profiler asks for it in the middle of the run, we must hear of it first and
// make room, or it would be told that the place is taken and record nothing.
//
// Only data are changed, each by one aligned store: the function's entry in its library's table of
// dynamic symbols (for whoever looks it up later: dlsym, lazy binding, libraries loaded later) and
// the slots of objects that have looked it up already. No code is touched.
#pragma once

namespace hypermile {

// `function` must be exported by a loaded library. False if its entry cannot be changed; then
// nothing is. Not to be undone; call it once per function, while the process is starting.
bool redirect(void* function, void* replacement);

}  // namespace hypermile
