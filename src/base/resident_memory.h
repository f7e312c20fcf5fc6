// SPDX-License-Identifier: Apache-2.0
//
// Opening GPUs and reading models touches code and tables of many libraries once, and a
// long-running process then keeps that memory without using it. `run` and `attach` give it back
// while they watch a job. This cannot fail: if /proc cannot be read, nothing is given back.
#pragma once

namespace hypermile {

// Returns freed heap, and unchanged pages of mapped files, to the system; pages that are needed
// again come back from the page cache. Takes milliseconds. Any thread may call it, but not while
// another thread unmaps files that it mapped itself.
void give_back_unused_memory();

}  // namespace hypermile
