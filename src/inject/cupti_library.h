// SPDX-License-Identifier: Apache-2.0
//
// Finds CUPTI at run time. A copy that the program has already loaded is preferred, because a
// profiler in the program would use the same copy. Otherwise the one that the launcher found
// (HYPERMILE_CUPTI) is tried first. Called once, by the injected library.
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

  // Returns what is wrong, or null on success. Only subscribe_v2 may stay null.
  const char* load();
};

}  // namespace hypermile
