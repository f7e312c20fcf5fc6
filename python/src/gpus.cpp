// SPDX-License-Identifier: Apache-2.0
//
// hypermile._core.Gpu: a card's sensors, read by the same code as in the programs, so that the
// package needs no other NVML client. Calls release the interpreter's lock while the driver
// answers.
#include "gpus.h"

#include <pybind11/stl.h>

#include <stdexcept>

#include "base/environment_variable.h"
#include "gpu/gpu_name.h"
#include "gpu/nvml/nvml_open.h"
#include "gpu/visible_devices.h"

namespace py = pybind11;

namespace hypermile {
namespace {

constexpr Seconds kListDeadline = Seconds(20);

Result<GpuIdentity> find_gpu(const std::optional<std::string>& name) {
  ASSIGN_OR_RETURN(const GpuList machine, list_gpus_within(kListDeadline));
  if (name) {
    ASSIGN_OR_RETURN(const GpuName parsed, parse_gpu_name(*name));
    return resolve_gpu(parsed, machine.gpus);
  }
  const VisibleDevices visible =
      visible_devices(environment_variable("CUDA_VISIBLE_DEVICES"),
                      environment_variable("CUDA_DEVICE_ORDER"), machine.gpus);
  if (!visible.gpus.empty()) return visible.gpus.front();
  return Error{ErrorCode::kNotFound, "CUDA_VISIBLE_DEVICES shows no GPU", "name one with gpu="};
}

template <class Quantity>
py::object number(const std::optional<Quantity>& quantity) {
  return quantity ? py::object(py::float_(quantity->value())) : py::none();
}

py::dict read(PythonGpu& card) {
  Result<Sample> sample = Error{};
  {
    const py::gil_scoped_release release;
    sample = card.gpu->read(Sensor::kPowerInstant | Sensor::kEnergy | Sensor::kClocks);
  }
  const Sample seen = value_or_throw(std::move(sample));
  py::dict told;
  told["time_s"] = seen.time.since_origin().value();
  told["energy_j"] = number(seen.energy);
  told["power_w"] = number(seen.power_instant);
  told["sm_mhz"] = number(seen.sm_clock);
  told["mem_mhz"] = number(seen.memory_clock);
  return told;
}

std::vector<double> numbers(const std::vector<Mhz>& clocks) {
  std::vector<double> plain;
  for (const Mhz clock : clocks) plain.push_back(clock.value());
  return plain;
}

}  // namespace

Result<std::shared_ptr<PythonGpu>> open_python_gpu(const std::optional<std::string>& name) {
  ASSIGN_OR_RETURN(const GpuIdentity identity, find_gpu(name));
  auto card = std::make_shared<PythonGpu>();
  ASSIGN_OR_RETURN(card->gpu, open_gpu_with_deadlines(identity.uuid, *card->clock, {}));
  return card;
}

void bind_gpus(py::module_& module) {
  py::class_<PythonGpu, std::shared_ptr<PythonGpu>>(module, "Gpu")
      .def(py::init([](const std::optional<std::string>& name) {
             const py::gil_scoped_release release;
             return value_or_throw(open_python_gpu(name));
           }),
           py::arg("name") = py::none())
      .def("read", &read, "time_s, energy_j, power_w, sm_mhz, mem_mhz; None where unknown.")
      .def_property_readonly("uuid",
                             [](const PythonGpu& card) { return card.gpu->identity().uuid.text(); })
      .def_property_readonly("name",
                             [](const PythonGpu& card) { return card.gpu->identity().name; })
      .def_property_readonly(
          "sm_clocks",
          [](const PythonGpu& card) { return numbers(card.gpu->capabilities().sm_clocks); })
      .def_property_readonly("memory_clocks", [](const PythonGpu& card) {
        return numbers(card.gpu->capabilities().memory_clocks);
      });
}

}  // namespace hypermile
