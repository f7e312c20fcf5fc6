// SPDX-License-Identifier: Apache-2.0
//
// hypermile._core.Lease: the right to change one GPU's settings, for profiling. A thread renews it.
// It ends with release(), with the object or with the process, and then the daemon or guardian
// restores the GPU.
#include "leases.h"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "gpu/nvml/nvml_setters.h"
#include "gpus.h"

namespace py = pybind11;

namespace hypermile {
namespace {

constexpr std::chrono::milliseconds kLook{2};
constexpr std::chrono::seconds kClaimDeadline{30};
constexpr std::chrono::seconds kAnswerDeadline{20};

// False where the condition was not true in time.
template <class Condition>
bool wait_for(std::chrono::seconds deadline, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

class PythonLease {
 public:
  PythonLease(std::shared_ptr<PythonGpu> card, const std::string& program,
              const std::string& guardian)
      : card_(std::move(card)), port_(python_lease(program, guardian), *card_->clock) {
    const py::gil_scoped_release release;
    port_.claim({card_->gpu->identity().uuid});
    wait_for(kClaimDeadline, [this] { return port_.state() != PortState::kClaiming; });
    if (port_.state() != PortState::kHeld) throw std::runtime_error(problem());
  }

  // Returns the setting that was applied, perhaps clamped to what is allowed.
  std::string set(const std::string& text) {
    const py::gil_scoped_release release;
    const Setting setting = value_or_throw(parse_setting(text));
    if (port_.state() != PortState::kHeld) throw std::runtime_error(problem());
    port_.ask(card_->gpu->identity().uuid, setting);
    std::vector<PortAnswer> answers;
    wait_for(kAnswerDeadline, [&] {
      answers = port_.take_answers();
      return !answers.empty() || port_.state() != PortState::kHeld;
    });
    if (answers.empty()) throw std::runtime_error(problem());
    return to_string(value_or_throw(std::move(answers.back().told)));
  }

  void release() {
    const py::gil_scoped_release release_interpreter;
    if (const Result<void> released = port_.release(); !released) {
      throw std::runtime_error(released.error().line());
    }
  }

 private:
  std::string problem() const {
    const auto problem = port_.problem();
    return problem ? problem->line() : "the GPU does not answer";
  }

  std::shared_ptr<PythonGpu> card_;
  LeasePort port_;
};

}  // namespace

LeasePortOptions python_lease(const std::string& program, const std::string& guardian) {
  LeasePortOptions options;
  options.program = program;
  options.read_only = read_only_mode();
  options.guardian.reset();
  if (!guardian.empty()) options.guardian = GuardianOptions{guardian, false};
  return options;
}

void bind_leases(py::module_& module) {
  py::class_<PythonLease>(module, "Lease")
      .def(py::init<std::shared_ptr<PythonGpu>, const std::string&, const std::string&>(),
           py::arg("gpu"), py::arg("program"), py::arg("guardian") = "")
      .def("set", &PythonLease::set, py::arg("setting"),
           "\"sm=1410MHz mem=1593MHz limit=300W\" or \"default\"; returns the setting that was "
           "applied.")
      .def("release", &PythonLease::release);
  module.def(
      "check_setting",
      [](const std::string& text) { return to_string(value_or_throw(parse_setting(text))); },
      py::arg("text"), "The setting in hypermile's notation; RuntimeError where it is invalid.");
}

}  // namespace hypermile
