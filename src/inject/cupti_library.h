// SPDX-License-Identifier: Apache-2.0
//
// CUPTI, found at run time. The copy that the program has loaded already is the right one, since
// a profiler in it would use the same; only where there is none another is loaded, first the one
// that the launcher found (HYPERMILE_CUPTI).
#pragma once

#include <cstdint>

#include "inject/cuda_abi.h"

namespace hypermile {

constexpr const char* kCuptiVariable = "HYPERMILE_CUPTI";

struct CuptiLibrary {
  int (*subscribe)(cupti::Subscriber*, cupti::Callback, void* user) = nullptr;
  int (*subscribe_v2)(cupti::Subscriber*, cupti::Callback, void* user, void* params) = nullptr;
  int (*unsubscribe)(cupti::Subscriber) = nullptr;
  int (*enable)(std::uint32_t on, cupti::Subscriber, cupti::Domain,
                std::uint32_t function) = nullptr;
  int (*get_version)(std::uint32_t*) = nullptr;

  // What is wrong, or null. Only subscribe_v2 may stay null.
  const char* load();
};

}  // namespace hypermile
