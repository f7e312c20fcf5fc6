// SPDX-License-Identifier: Apache-2.0
//
// Memory that a long-running process holds though it does not use it any more: opening GPUs and
// reading models touches code and tables of many libraries once. `run` and `attach` give it back
// while they watch. Cannot fail: where the kernel says nothing, nothing is given back.
#pragma once

namespace hypermile {

// Gives freed heap, and pages of files as they are on disk, back to the system. Whatever is needed
// again comes back by itself, from the page cache. Any thread, at any time, though not while
// another unmaps files of its own; takes milliseconds.
void give_back_unused_memory();

}  // namespace hypermile
