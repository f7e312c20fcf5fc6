// SPDX-License-Identifier: Apache-2.0
//
// hypermile._core.Gpu, registered by module.cpp. Called on Python threads; errors become
// RuntimeError.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "gpu/gpu.h"

namespace hypermile {

// A real card, and the clock that times its calls.
struct PythonGpu {
  std::unique_ptr<Clock> clock = make_real_clock();
  std::unique_ptr<Gpu> gpu;  // last, because it uses the clock
};

// `name` is as for --gpu; without it, opens the first GPU that CUDA shows to this process.
Result<std::shared_ptr<PythonGpu>> open_python_gpu(const std::optional<std::string>& name);

// Throws an exception that Python sees as a RuntimeError with the error's line.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().line());
  return std::move(result).value();
}

// Registers the class Gpu, with a card's identity and sensors.
void bind_gpus(pybind11::module_& module);

}  // namespace hypermile
