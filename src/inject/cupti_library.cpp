// SPDX-License-Identifier: Apache-2.0
#include "inject/cupti_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

namespace hypermile {
namespace {

// Names for the dynamic linker, newest first, then the toolkit's usual path.
constexpr const char* kCandidates[] = {
    "libcupti.so.13",
    "libcupti.so.12",
    "libcupti.so.11.8",
    "libcupti.so",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
};

struct LoadedPath {
  const char* prefix;
  char path[PATH_MAX];
};

int match_object(dl_phdr_info* object, std::size_t, void* user) {
  auto* wanted = static_cast<LoadedPath*>(user);
  const char* path = object->dlpi_name;
  if (!path) return 0;
  const std::size_t length = ::strlen(path);
  if (length >= sizeof wanted->path) return 0;
  const char* slash = ::strrchr(path, '/');
  const char* base = slash ? slash + 1 : path;
  if (::strncmp(base, wanted->prefix, ::strlen(wanted->prefix)) != 0) return 0;
  ::memcpy(wanted->path, path, length + 1);
  return 1;
}

// The handle of a loaded object whose file name begins with `prefix`.
void* loaded(const char* prefix) {
  LoadedPath found{prefix, ""};
  if (::dl_iterate_phdr(match_object, &found) == 0) return nullptr;
  return ::dlopen(found.path, RTLD_NOW | RTLD_NOLOAD);
}

void* load_one() {
  const char* named = ::getenv(kCuptiVariable);
  if (named && *named == '/')
    if (void* library = ::dlopen(named, RTLD_NOW | RTLD_LOCAL)) return library;
  for (const char* candidate : kCandidates)
    if (void* library = ::dlopen(candidate, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

template <class Function>
bool find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  return into != nullptr;
}

}  // namespace

const char* CuptiLibrary::load() {
  void* library = loaded("libcupti.so");
  // A PyTorch without a libcupti.so has CUPTI linked into itself. We could not give our place to
  // its profiler, because we would not see it subscribe.
  if (!library && loaded("libtorch_cpu.so"))
    return "this PyTorch contains its own CUPTI, which is left to its profiler";
  if (!library) library = load_one();
  if (!library) return "no CUPTI library was found; install cuda-cupti or nvidia-cuda-cupti";
  find(library, "cuptiSubscribe_v2", subscribe_v2);
  if (!find(library, "cuptiSubscribe", subscribe) ||
      !find(library, "cuptiUnsubscribe", unsubscribe) ||
      !find(library, "cuptiEnableCallback", enable) ||
      !find(library, "cuptiGetVersion", get_version))
    return "the CUPTI library lacks functions that hypermile needs";
  return nullptr;
}

}  // namespace hypermile
