// SPDX-License-Identifier: Apache-2.0
//
// The checks that every exported function of the stand-in makes: is the library initialised, is the
// handle valid, does a scripted fault apply, may the caller change settings. Handles are numbers
// that are never dereferenced, so an invalid one is only an invalid argument. The callers are C, so
// no exception leaves these functions. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "gpu/nvml/nvml_abi.h"
#include "sim/stand_in/fault_script.h"
#include "sim/stand_in/machine.h"

#define NVML_EXPORT extern "C" __attribute__((visibility("default")))

namespace hypermile::stand_in {

// Calls are counted, as NVML's are. The first one opens the machine; a failure prints one line on
// stderr, because a return code cannot name the wrong variable.
nvml::Return initialise(const char* function) noexcept;
nvml::Return shut_down() noexcept;
// Null when not initialised. The caller's copy keeps the machine alive during a concurrent
// shutdown.
std::shared_ptr<Machine> machine() noexcept;

nvml::Device handle_of(unsigned gpu) noexcept;
std::optional<unsigned> index_of(nvml::Device device, const Machine& machine) noexcept;

// Counts the call in the fault script and carries out delays and hangs.
Fault suffer(const char* function, std::optional<unsigned> gpu);
bool may_set(const Machine& machine);
nvml::Return code_of(const Error& error);

// Runs `body` and turns any exception into a return code.
template <class Body>
nvml::Return guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return nvml::kMemory;
  } catch (...) {
    return nvml::kUnknown;
  }
}

// For a function of the whole library: body(Machine&).
template <class Body>
nvml::Return on_machine(const char* function, Body body) noexcept {
  return guarded([&]() -> nvml::Return {
    const std::shared_ptr<Machine> here = machine();
    if (here == nullptr) return nvml::kUninitialized;
    const Fault fault = suffer(function, std::nullopt);
    if (fault.code) return *fault.code;
    return body(*here);
  });
}

// For a function of one GPU, with a fault that does not make it fail: body(Machine&, index, const
// Fault&).
template <class Body>
nvml::Return on_faulty_gpu(const char* function, nvml::Device device, Body body) noexcept {
  return guarded([&]() -> nvml::Return {
    const std::shared_ptr<Machine> here = machine();
    if (here == nullptr) return nvml::kUninitialized;
    const std::optional<unsigned> gpu = index_of(device, *here);
    if (!gpu) return nvml::kInvalidArgument;
    const Fault fault = suffer(function, gpu);
    if (fault.code) return *fault.code;
    return body(*here, *gpu, fault);
  });
}

// For constant facts about one GPU: body(Machine&, index).
template <class Body>
nvml::Return on_gpu(const char* function, nvml::Device device, Body body) noexcept {
  return on_faulty_gpu(function, device,
                       [&](Machine& here, unsigned gpu, const Fault&) { return body(here, gpu); });
}

// For the present sensors and settings of one GPU: body(const GpuView&, Machine&, index).
template <class Body>
nvml::Return look_at(const char* function, nvml::Device device, Body body) noexcept {
  return on_gpu(function, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    const Result<GpuView> view = here.look(gpu);
    if (!view) return code_of(view.error());
    return body(*view, here, gpu);
  });
}

// For a setter, if the caller may set: body(Machine&, index) returns Result<void> or a code.
template <class Body>
nvml::Return set_on(const char* function, nvml::Device device, Body body) noexcept {
  return on_faulty_gpu(function, device,
                       [&](Machine& here, unsigned gpu, const Fault& fault) -> nvml::Return {
                         if (!may_set(here)) return nvml::kNoPermission;
                         return fault.ignore ? nvml::kSuccess : body(here, gpu);
                       });
}

// Stores one number in *out.
template <class Number>
nvml::Return give(Number* out, Number value) {
  if (out == nullptr) return nvml::kInvalidArgument;
  *out = value;
  return nvml::kSuccess;
}

// Copies a text with its terminating zero to `out`, which has room for `length` bytes.
nvml::Return give_text(std::string_view text, char* out, unsigned length);

// Copies a list as NVML does: *count holds the available room and receives the needed one.
template <class Item, class Items>
nvml::Return give_list(const Items& items, unsigned* count, Item* out) {
  if (count == nullptr) return nvml::kInvalidArgument;
  const unsigned room = *count;
  *count = static_cast<unsigned>(items.size());
  if (room < items.size()) return nvml::kInsufficientSize;
  if (out == nullptr && !items.empty()) return nvml::kInvalidArgument;
  for (std::size_t i = 0; i < items.size(); ++i) out[i] = items[i];
  return nvml::kSuccess;
}

}  // namespace hypermile::stand_in
