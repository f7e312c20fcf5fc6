// SPDX-License-Identifier: Apache-2.0
//
// Makes every later call of an exported function reach another function. CUPTI has room for one
// subscriber. When a profiler subscribes during the run, we must know beforehand and make room, or
// CUPTI would refuse the profiler and it would record nothing.
//
// Only data is changed, each time with one aligned store: the function's entry in its library's
// dynamic symbol table (for later dlsym, lazy binding and libraries) and the slots of objects that
// have already looked it up. No code is changed.
#pragma once

namespace hypermile {

// `function` must be exported by a loaded library. Returns false, and changes nothing, if its entry
// cannot be changed. There is no undo. Call it once per function while the process starts.
bool redirect(void* function, void* replacement);

}  // namespace hypermile
