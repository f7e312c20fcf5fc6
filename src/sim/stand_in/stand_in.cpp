// SPDX-License-Identifier: Apache-2.0
#include "sim/stand_in/stand_in.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/whole_file.h"
#include "sim/stand_in/permission.h"

namespace hypermile::stand_in {
namespace {

constexpr std::uintptr_t kFirstHandle = 0x48D0'0010;
constexpr std::uintptr_t kHandleStride = 0x10;

// The library's state in this process; a C interface has no object to hold it.
struct Process {
  std::mutex mutex;
  int initialised = 0;
  std::shared_ptr<Machine> machine;
  FaultScript from_environment;
  FaultScript from_file;
  timespec file_changed = {};
};
Process& process() {
  // Never destroyed, because threads may outlive main.
  static Process* const kProcess = new Process;
  return *kProcess;
}

void complain(const Error& error) {
  std::fprintf(stderr, "hypermile NVML stand-in: %s\n", error.line().c_str());
}

FaultScript script_from(const std::string& text) {
  auto items = parse_faults(text);
  if (items) return FaultScript(std::move(items).value());
  complain(items.error());
  return {};
}

// Reads the fault file again when it changes, so that a tool can break a GPU under running clients.
void follow_fault_file(Process& here) {
  const std::string path = here.machine->state_file() + ".faults";
  struct stat status {};
  const bool there = ::stat(path.c_str(), &status) == 0;
  const timespec changed = there ? status.st_mtim : timespec{};
  if (changed.tv_sec == here.file_changed.tv_sec && changed.tv_nsec == here.file_changed.tv_nsec) {
    return;
  }
  here.file_changed = changed;
  here.from_file = there ? script_from(read_whole_file(path).value_or("")) : FaultScript();
}

[[noreturn]] void hang() {
  while (true) ::pause();
}

nvml::Return open_machine() noexcept {
  return guarded([]() -> nvml::Return {
    Process& here = process();
    const std::lock_guard lock(here.mutex);
    if (here.initialised == 0) {
      Result<MachineOptions> options = machine_options_from_environment();
      Result<std::unique_ptr<Machine>> opened =
          options ? Machine::open(*options) : Result<std::unique_ptr<Machine>>(options.error());
      if (!opened) {
        complain(opened.error());
        return code_of(opened.error());
      }
      here.machine = std::move(opened).value();
      const char* faults = std::getenv("HYPERMILE_SIM_FAULTS");
      here.from_environment = script_from(faults != nullptr ? faults : "");
    }
    ++here.initialised;
    return nvml::kSuccess;
  });
}

}  // namespace

nvml::Return initialise(const char* function) noexcept {
  const nvml::Return opened = open_machine();
  if (opened != nvml::kSuccess) return opened;
  const nvml::Return scripted = on_machine(function, [](Machine&) { return nvml::kSuccess; });
  if (scripted != nvml::kSuccess) shut_down();
  return scripted;
}

nvml::Return shut_down() noexcept {
  return guarded([]() -> nvml::Return {
    Process& here = process();
    const std::lock_guard lock(here.mutex);
    if (here.initialised == 0) return nvml::kUninitialized;
    if (--here.initialised == 0) here.machine.reset();
    return nvml::kSuccess;
  });
}

std::shared_ptr<Machine> machine() noexcept {
  Process& here = process();
  const std::lock_guard lock(here.mutex);
  return here.machine;
}

nvml::Device handle_of(unsigned gpu) noexcept {
  // An opaque handle, not an address.  NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<nvml::Device>(kFirstHandle + kHandleStride * gpu);
}

std::optional<unsigned> index_of(nvml::Device device, const Machine& machine) noexcept {
  const auto number = reinterpret_cast<std::uintptr_t>(device);
  if (number < kFirstHandle || (number - kFirstHandle) % kHandleStride != 0) return std::nullopt;
  const std::uintptr_t index = (number - kFirstHandle) / kHandleStride;
  if (index >= machine.gpu_count()) return std::nullopt;
  return static_cast<unsigned>(index);
}

Fault suffer(const char* function, std::optional<unsigned> gpu) {
  Fault fault;
  {
    Process& here = process();
    const std::lock_guard lock(here.mutex);
    if (here.machine == nullptr) return fault;
    follow_fault_file(here);
    fault = here.from_environment.next(function, gpu);
    const Fault other = here.from_file.next(function, gpu);
    if (other.code) fault.code = other.code;
    fault.delay = std::max(fault.delay, other.delay);
    fault.hang = fault.hang || other.hang;
    fault.ignore = fault.ignore || other.ignore;
  }
  // Outside every lock, so that a hanging call blocks only its own thread.
  if (fault.hang) hang();
  if (fault.delay > Seconds(0)) {
    const double seconds = std::min(fault.delay.value(), 3600.0);
    const timespec time{static_cast<time_t>(seconds),
                        static_cast<long>(std::fmod(seconds, 1.0) * 1e9)};
    ::nanosleep(&time, nullptr);
  }
  return fault;
}

bool may_set(const Machine& machine) {
  return process_may_set(machine.state_file() + ".permissions");
}

nvml::Return code_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kPermission:
      return nvml::kNoPermission;
    case ErrorCode::kTimeout:
      return nvml::kTimeout;
    case ErrorCode::kUsage:
    case ErrorCode::kParse:
    case ErrorCode::kNotFound:
      return nvml::kDriverNotLoaded;
    default:
      return nvml::kOperatingSystem;
  }
}

nvml::Return give_text(std::string_view text, char* out, unsigned length) {
  if (out == nullptr || length == 0) return nvml::kInvalidArgument;
  if (text.size() >= length) return nvml::kInsufficientSize;
  text.copy(out, text.size());
  out[text.size()] = '\0';
  return nvml::kSuccess;
}

}  // namespace hypermile::stand_in
