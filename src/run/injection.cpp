// SPDX-License-Identifier: Apache-2.0
#include "run/injection.h"

#include <fmt/format.h>

#include <filesystem>

#include "inject/cupti_library.h"
#include "inject/ring.h"

namespace hypermile {
namespace {

constexpr const char* kLibrary = "libhypermile_inject.so";
constexpr const char* kCudaVariable = "CUDA_INJECTION64_PATH";
constexpr const char* kNvtxVariable = "NVTX_INJECTION64_PATH";
// Relative to the program's folder: in a build, in an unpacked archive, and in an installation with
// or without Debian's folder for the architecture.
constexpr const char* kPlaces[] = {"../lib",
                                   ".",
                                   "../lib/hypermile",
                                   "../lib/x86_64-linux-gnu/hypermile",
                                   "../lib/aarch64-linux-gnu/hypermile",
                                   "../../lib"};

std::string taken(const char* variable, const std::string& by, const char* lost) {
  return fmt::format("{} is set to {} and is left alone: {}", variable, by, lost);
}

}  // namespace

Result<std::string> find_injected_library() {
  namespace fs = std::filesystem;
  std::error_code problem;
  const fs::path program = fs::read_symlink("/proc/self/exe", problem);
  for (const char* place : kPlaces) {
    const fs::path path = fs::weakly_canonical(program.parent_path() / place / kLibrary, problem);
    if (!problem && fs::exists(path, problem)) return path.string();
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("{} was not found beside {} nor in ../lib", kLibrary, program.string()),
               "install hypermile completely, or build all targets"};
}

std::vector<std::string> inject(const Injection& injection, Environment& environment) {
  std::vector<std::string> notes;
  environment.set(kRingDirVariable, injection.ring_folder);
  if (injection.library) {
    if (const auto other = environment.get(kCudaVariable); other && !other->empty()) {
      notes.push_back(taken(kCudaVariable, *other, "launches are not seen"));
    } else {
      environment.set(kCudaVariable, *injection.library);
    }
    if (injection.cupti && !environment.has(kCuptiVariable)) {
      environment.set(kCuptiVariable, *injection.cupti);
    }
  }
  if (!injection.nvtx_step) return notes;
  environment.set(kNvtxStepVariable, *injection.nvtx_step);
  if (const auto other = environment.get(kNvtxVariable); other && !other->empty()) {
    notes.push_back(taken(kNvtxVariable, *other, "NVTX steps are not seen"));
  } else if (injection.library) {
    environment.set(kNvtxVariable, *injection.library);
  }
  return notes;
}

}  // namespace hypermile
