// SPDX-License-Identifier: Apache-2.0
//
// What every exported function of the stand-in goes through: is the library initialised, is the
// handle one of ours, does a scripted fault strike, may the caller set. Handles are numbers that
// are never dereferenced, so a wild one is an invalid argument and nothing worse. No exception
// leaves through here: the callers are C.
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

// Counted, as NVML's are. The first one opens the machine; a failure prints its one line on stderr,
// because a return code cannot say which variable was wrong.
nvml::Return initialise(const char* function) noexcept;
nvml::Return shut_down() noexcept;
// Null when not initialised. A caller's copy keeps the machine through a concurrent shutdown.
std::shared_ptr<Machine> machine() noexcept;

nvml::Device handle_of(unsigned gpu) noexcept;
std::optional<unsigned> index_of(nvml::Device device, const Machine& machine) noexcept;

// Counts the call in the fault script and suffers delays and hangs here.
Fault suffer(const char* function, std::optional<unsigned> gpu);
bool may_set(const Machine& machine);
nvml::Return code_of(const Error& error);

// Runs `body`, and turns whatever it throws into a return code.
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

// A function of the whole library: body(Machine&).
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

// A function of one GPU, under a fault that does not fail it: body(Machine&, index, const Fault&).
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

// What does not change about one GPU: body(Machine&, index).
template <class Body>
nvml::Return on_gpu(const char* function, nvml::Device device, Body body) noexcept {
  return on_faulty_gpu(function, device,
                       [&](Machine& here, unsigned gpu, const Fault&) { return body(here, gpu); });
}

// Its sensors and settings now: body(const GpuView&, Machine&, index).
template <class Body>
nvml::Return look_at(const char* function, nvml::Device device, Body body) noexcept {
  return on_gpu(function, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    const Result<GpuView> view = here.look(gpu);
    if (!view) return code_of(view.error());
    return body(*view, here, gpu);
  });
}

// A setter, for those who may: body(Machine&, index) returns Result<void> or a code.
template <class Body>
nvml::Return set_on(const char* function, nvml::Device device, Body body) noexcept {
  return on_faulty_gpu(function, device,
                       [&](Machine& here, unsigned gpu, const Fault& fault) -> nvml::Return {
                         if (!may_set(here)) return nvml::kNoPermission;
                         return fault.ignore ? nvml::kSuccess : body(here, gpu);
                       });
}

// One number into *out.
template <class Number>
nvml::Return give(Number* out, Number value) {
  if (out == nullptr) return nvml::kInvalidArgument;
  *out = value;
  return nvml::kSuccess;
}

// A text and its terminating zero into `out`, which has room for `length`.
nvml::Return give_text(std::string_view text, char* out, unsigned length);

// A list as NVML gives it: *count says how much room there is and learns how much is needed.
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
