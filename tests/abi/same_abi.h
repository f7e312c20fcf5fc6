// SPDX-License-Identifier: Apache-2.0
//
// How a declaration of ours is compared with the vendor's: at compile time, so that a difference
// names its line. The files that use it are never linked; check-abi compiles them.
#pragma once

#include <cstddef>

#define SAME_VALUE(ours, theirs) static_assert(static_cast<long>(ours) == static_cast<long>(theirs))
#define SAME_PLACE(Ours, ours, Theirs, theirs)                     \
  static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs)); \
  static_assert(sizeof(Ours::ours) == sizeof(Theirs::theirs))
#define SAME_SIZE(Ours, Theirs) static_assert(sizeof(Ours) == sizeof(Theirs))
