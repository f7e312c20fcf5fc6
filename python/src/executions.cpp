// SPDX-License-Identifier: Apache-2.0
//
// hypermile._core.Execution: a PlanExecution with its own thread, which never needs the
// interpreter. Python calls boundary() for a function object for one segment and installs it as a
// hook of modules; calling it only posts to the queue.
#include "executions.h"

#include <pybind11/stl.h>

#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "gpus.h"
#include "leases.h"
#include "plan/execute/plan_execution.h"
#include "plan/execute/silent_port.h"

namespace py = pybind11;

namespace hypermile {
namespace {

// `guardian` is as for a Lease; without it, requests change no GPU.
std::unique_ptr<SettingPort> make_port(const std::optional<std::string>& guardian, Clock& clock) {
  if (!guardian) return std::make_unique<SilentPort>();
  return std::make_unique<LeasePort>(python_lease("hypermile.PlanExecutor", *guardian), clock);
}

class PythonExecution {
 public:
  PythonExecution(std::shared_ptr<PythonGpu> card, PlanExecutionOptions options,
                  const std::optional<std::string>& guardian)
      : card_(std::move(card)),
        port_(make_port(guardian, *card_->clock)),
        execution_(std::move(options), *port_, *card_->gpu, *card_->clock),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}

  void post(std::uint32_t number) { execution_.post(number, card_->clock->now()); }
  ExecutionReport report() const { return execution_.report(); }

  // Returns after the GPU is restored.
  void stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested() && !execution_.done()) {
      card_->clock->sleep_until(execution_.round(), stop);
    }
    execution_.finish();
  }

  std::shared_ptr<PythonGpu> card_;
  std::unique_ptr<SettingPort> port_;
  PlanExecution execution_;
  std::jthread thread_;  // last, because it uses everything above
};

using SharedExecution = std::shared_ptr<PythonExecution>;

// The state of a boundary's function object.
struct PythonBoundary {
  SharedExecution execution;
  std::uint32_t number = 0;
  PyObject* training = nullptr;  // the interned name "training"; set where modules must be asked
};
constexpr const char* kBoundaryName = "hypermile.boundary";

// False for a module in evaluation, which is not part of the iteration.
bool in_training(PyObject* module, PyObject* name) {
  PyObject* training = PyObject_GetAttr(module, name);
  if (training == nullptr) PyErr_Clear();
  const bool evaluates = training == Py_False;
  Py_XDECREF(training);
  return !evaluates;
}

PyObject* pass_boundary(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  auto* boundary = static_cast<PythonBoundary*>(PyCapsule_GetPointer(self, kBoundaryName));
  if (boundary == nullptr) return nullptr;
  const bool ask = boundary->training != nullptr && count > 0;
  if (!ask || in_training(arguments[0], boundary->training)) {
    boundary->execution->post(boundary->number);
  }
  Py_RETURN_NONE;
}

// Needs two casts: CPython stores functions under one signature and distinguishes them by flags.
PyMethodDef boundary_definition = {
    "boundary", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&pass_boundary)),
    METH_FASTCALL, "Says that a segment of the plan begins; ignores the arguments of hooks."};

py::object make_boundary(const SharedExecution& execution, std::uint32_t number, bool of_module) {
  auto boundary = std::make_unique<PythonBoundary>(PythonBoundary{execution, number});
  // Interned names live as long as the interpreter.
  if (of_module) boundary->training = PyUnicode_InternFromString("training");
  const auto capsule = py::reinterpret_steal<py::object>(
      PyCapsule_New(boundary.get(), kBoundaryName, [](PyObject* object) {
        delete static_cast<PythonBoundary*>(PyCapsule_GetPointer(object, kBoundaryName));
      }));
  if (!capsule) throw py::error_already_set();
  static_cast<void>(boundary.release());
  return py::reinterpret_steal<py::object>(
      PyCFunction_NewEx(&boundary_definition, capsule.ptr(), nullptr));
}

py::tuple pair(const ArmRatio& ratio) {
  return py::make_tuple(ratio.mean, ratio.half95);
}

py::dict to_dict(const PlanVerdict& verdict) {
  py::dict told;
  told["kept"] = std::string(to_string(verdict.kept));
  told["time_s"] = verdict.time_s;
  told["energy_j"] = verdict.energy_j;
  told["plan_energy"] = pair(verdict.plan_energy);
  told["uniform_energy"] = pair(verdict.uniform_energy);
  told["plan_to_uniform"] = pair(verdict.plan_to_uniform);
  told["plan_time"] = pair(verdict.plan_time);
  told["uniform_time"] = pair(verdict.uniform_time);
  return told;
}

py::dict to_dict(const ExecutionReport& report) {
  py::dict told;
  told["state"] = report.state;
  told["reason"] = report.reason;
  told["arm"] = std::string(to_string(report.arm));
  told["boundaries"] = report.boundaries;
  told["dropped"] = report.dropped;
  told["iterations"] = report.iterations;
  told["requests"] = report.requests;
  told["failed"] = report.failed;
  told["blocks"] = report.blocks;
  told["verdict"] = report.verdict ? py::object(to_dict(*report.verdict)) : py::none();
  return told;
}

PlanTrialOptions trial_options(const py::dict& trial) {
  PlanTrialOptions options;
  options.after_iterations = trial["after_iterations"].cast<std::size_t>();
  options.rounds = trial["rounds"].cast<std::size_t>();
  options.block = Seconds(trial["block_s"].cast<double>());
  options.settle = Seconds(trial["settle_s"].cast<double>());
  options.max_slowdown = trial["max_slowdown"].cast<double>();
  return options;
}

SharedExecution start(std::shared_ptr<PythonGpu> card,
                      const std::vector<std::pair<std::string, double>>& segments,
                      const std::string& uniform, double latency_s, double most_per_second,
                      const std::optional<py::dict>& trial,
                      const std::optional<std::string>& guardian) {
  PlanExecutionOptions options;
  for (const auto& [setting, seconds] : segments) {
    options.segments.push_back({value_or_throw(parse_setting(setting)), Seconds(seconds)});
  }
  if (options.segments.empty()) throw std::invalid_argument("a plan needs at least one segment");
  options.uniform = value_or_throw(parse_setting(uniform));
  options.latency = Seconds(latency_s);
  options.most_per_second = most_per_second;
  options.trial = trial ? std::optional(trial_options(*trial)) : std::nullopt;
  return std::make_shared<PythonExecution>(std::move(card), std::move(options), guardian);
}

}  // namespace

void bind_executions(py::module_& module) {
  py::class_<PythonExecution, SharedExecution>(module, "Execution")
      .def(py::init(&start), py::arg("gpu"), py::arg("segments"), py::arg("uniform"),
           py::arg("latency_s"), py::arg("most_per_second"), py::arg("trial") = py::none(),
           py::arg("guardian") = py::none(), "Without `guardian`, no GPU is changed.")
      .def("boundary", &make_boundary, py::arg("number"), py::arg("of_module") = false,
           "A function to call where segment `number` begins. With `of_module`, its first argument "
           "is "
           "the module, as in hooks, and it does nothing while the module evaluates.")
      .def("report", [](const PythonExecution& execution) { return to_dict(execution.report()); })
      .def("stop", &PythonExecution::stop, py::call_guard<py::gil_scoped_release>());
}

}  // namespace hypermile
