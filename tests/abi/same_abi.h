// SPDX-License-Identifier: Apache-2.0
//
// Compares our declarations with NVIDIA's at compile time, so that a difference names its line. The
// files that use it are never linked; check-abi only compiles them.
#pragma once

#include <cstddef>

#define SAME_VALUE(ours, theirs) static_assert(static_cast<long>(ours) == static_cast<long>(theirs))
#define SAME_PLACE(Ours, ours, Theirs, theirs)                     \
  static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs)); \
  static_assert(sizeof(Ours::ours) == sizeof(Theirs::theirs))
#define SAME_SIZE(Ours, Theirs) static_assert(sizeof(Ours) == sizeof(Theirs))
