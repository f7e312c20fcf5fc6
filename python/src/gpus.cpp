// SPDX-License-Identifier: Apache-2.0
//
// The calls of library.h about one GPU: a card's identity and sensors, read by the same code as in
// the programs, so that the package needs no other NVML client.
#include "gpus.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "answer.h"
#include "base/environment_variable.h"
#include "gpu/gpu_name.h"
#include "gpu/nvml/nvml_open.h"
#include "gpu/visible_devices.h"
#include "library.h"

namespace hypermile {
namespace {

constexpr Seconds kListDeadline = Seconds(20);

Result<GpuIdentity> find_gpu(const char* name) {
  ASSIGN_OR_RETURN(const GpuList machine, list_gpus_within(kListDeadline));
  if (name != nullptr) {
    ASSIGN_OR_RETURN(const GpuName parsed, parse_gpu_name(name));
    return resolve_gpu(parsed, machine.gpus);
  }
  const VisibleDevices visible =
      visible_devices(environment_variable("CUDA_VISIBLE_DEVICES"),
                      environment_variable("CUDA_DEVICE_ORDER"), machine.gpus);
  if (!visible.gpus.empty()) return visible.gpus.front();
  return Error{ErrorCode::kNotFound, "CUDA_VISIBLE_DEVICES shows no GPU", "name one with gpu="};
}

Result<std::unique_ptr<PythonGpuHandle>> open_handle(const char* name) {
  ASSIGN_OR_RETURN(const GpuIdentity identity, find_gpu(name));
  auto card = std::make_shared<PythonGpu>();
  ASSIGN_OR_RETURN(card->gpu, open_gpu_with_deadlines(identity.uuid, *card->clock, {}));
  return std::make_unique<PythonGpuHandle>(std::move(card));
}

template <class Quantity>
nlohmann::json number(const std::optional<Quantity>& quantity) {
  return quantity ? nlohmann::json(quantity->value()) : nlohmann::json();
}

nlohmann::json numbers(const std::vector<Mhz>& clocks) {
  nlohmann::json plain = nlohmann::json::array();
  for (const Mhz clock : clocks) plain.push_back(clock.value());
  return plain;
}

Result<std::string> read_sensors(Gpu& gpu) {
  ASSIGN_OR_RETURN(const Sample seen,
                   gpu.read(Sensor::kPowerInstant | Sensor::kEnergy | Sensor::kClocks));
  return nlohmann::json{{"time_s", seen.time.since_origin().value()},
                        {"energy_j", number(seen.energy)},
                        {"power_w", number(seen.power_instant)},
                        {"sm_mhz", number(seen.sm_clock)},
                        {"mem_mhz", number(seen.memory_clock)}}
      .dump();
}

Result<std::string> describe(const Gpu& gpu) {
  return nlohmann::json{{"uuid", gpu.identity().uuid.text()},
                        {"name", gpu.identity().name},
                        {"sm_clocks", numbers(gpu.capabilities().sm_clocks)},
                        {"memory_clocks", numbers(gpu.capabilities().memory_clocks)}}
      .dump();
}

}  // namespace
}  // namespace hypermile

PythonGpuHandle* hypermile_python_gpu_open(const char* name) {
  return hypermile::answer_object<PythonGpuHandle>([&] { return hypermile::open_handle(name); });
}

const char* hypermile_python_gpu_facts(PythonGpuHandle* gpu) {
  return hypermile::answer_text([&] { return hypermile::describe(*(*gpu)->gpu); });
}

const char* hypermile_python_gpu_read(PythonGpuHandle* gpu) {
  return hypermile::answer_text([&] { return hypermile::read_sensors(*(*gpu)->gpu); });
}

void hypermile_python_gpu_close(PythonGpuHandle* gpu) {
  delete gpu;
}
