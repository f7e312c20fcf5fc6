// SPDX-License-Identifier: Apache-2.0
//
// Steps from NVTX: every start of a range with the name in HYPERMILE_NVTX_STEP becomes a record.
// NVTX itself loads this library (NVTX_INJECTION64_PATH) when the program first uses NVTX; neither
// CUPTI nor CUDA is needed. The program gets the return values that it would get without a tool.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "inject/mark_step.h"
#include "inject/nvtx_abi.h"
#include "inject/ring_of_process.h"

namespace hypermile {
namespace {

constinit char step_name[kNameLength + 1] = {};

void on_range(const char* text) {
  if (!text || ::strcmp(text, step_name) != 0) return;
  const std::uint64_t now = monotonic_ns();
  if (!open_ring_of_process()) return;  // opens a new ring only in a forked child
  RingWriter& ring = ring_of_process();
  mark_step(ring.put(now, pack_b(RecordKind::kStep, 0, ring.intern(step_name)), 0), now);
}

void on_range(const nvtx::EventAttributes* attributes) {
  if (!attributes || attributes->size < sizeof(nvtx::EventAttributes) || !attributes->message)
    return;
  // The only handle that we give out is the address of the step's name.
  if (attributes->message_type == nvtx::kAscii ||
      (attributes->message_type == nvtx::kRegistered && attributes->message == step_name))
    on_range(static_cast<const char*>(attributes->message));
}

int push_a(const char* text) {
  on_range(text);
  return nvtx::kNoPushPopTracking;
}

int push_ex(const nvtx::EventAttributes* attributes) {
  on_range(attributes);
  return nvtx::kNoPushPopTracking;
}

std::uint64_t start_a(const char* text) {
  on_range(text);
  return nvtx::kNoRange;
}

std::uint64_t start_ex(const nvtx::EventAttributes* attributes) {
  on_range(attributes);
  return nvtx::kNoRange;
}

int domain_push_ex(void*, const nvtx::EventAttributes* attributes) {
  return push_ex(attributes);
}

std::uint64_t domain_start_ex(void*, const nvtx::EventAttributes* attributes) {
  return start_ex(attributes);
}

const void* register_string(void*, const char* text) {
  return text && ::strcmp(text, step_name) == 0 ? step_name : nullptr;
}

struct Handler {
  unsigned function;
  nvtx::FunctionPointer handler;
};

template <class Function>
nvtx::FunctionPointer plain(Function function) {
  return reinterpret_cast<nvtx::FunctionPointer>(function);
}

template <std::size_t kCount>
void handle(const nvtx::CallbacksTable& callbacks, nvtx::Module module,
            const Handler (&handlers)[kCount]) {
  nvtx::FunctionPointer** table = nullptr;
  unsigned size = 0;
  if (callbacks.get_module(module, &table, &size) == 0 || !table) return;
  for (const Handler& each : handlers)
    if (each.function < size && table[each.function]) *table[each.function] = each.handler;
}

// Runs once per process. The name stays empty if no steps are wanted or there is no ring.
void prepare() {
  const char* wanted = ::getenv(kNvtxStepVariable);
  if (!wanted || *wanted == '\0') return;
  const std::size_t length = ::strlen(wanted);
  if (length > kNameLength || !open_ring_of_process()) return;
  ::memcpy(step_name, wanted, length + 1);
}

bool start_steps(nvtx::GetExportTable get_export_table) {
  static constinit pthread_once_t once = PTHREAD_ONCE_INIT;
  ::pthread_once(&once, prepare);
  if (step_name[0] == '\0') return false;
  const auto* callbacks =
      static_cast<const nvtx::CallbacksTable*>(get_export_table(nvtx::kCallbacksTable));
  if (!callbacks || callbacks->struct_size < sizeof *callbacks || !callbacks->get_module)
    return false;
  handle(*callbacks, nvtx::kCore,
         {{nvtx::kRangePushA, plain(push_a)},
          {nvtx::kRangePushEx, plain(push_ex)},
          {nvtx::kRangeStartA, plain(start_a)},
          {nvtx::kRangeStartEx, plain(start_ex)}});
  handle(*callbacks, nvtx::kCore2,
         {{nvtx::kDomainRangePushEx, plain(domain_push_ex)},
          {nvtx::kDomainRangeStartEx, plain(domain_start_ex)},
          {nvtx::kDomainRegisterStringA, plain(register_string)}});
  return true;
}

}  // namespace
}  // namespace hypermile

// NVTX calls this; if it returns 0, NVTX goes on as without a tool. A program may hold several
// copies of NVTX, and each of them calls.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    hypermile::nvtx::GetExportTable get_export_table) {
  return get_export_table && hypermile::start_steps(get_export_table) ? 1 : 0;
}
