// SPDX-License-Identifier: Apache-2.0
//
// The calls of library.h about a lease: the right to change one GPU's settings, for profiling. A
// thread renews it. It ends with its release, with the object or with the process, and then the
// daemon or guardian restores the GPU.
#include "leases.h"

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "answer.h"
#include "gpu/nvml/nvml_setters.h"
#include "gpus.h"
#include "library.h"

namespace hypermile {
namespace {

constexpr std::chrono::milliseconds kLook{2};
constexpr std::chrono::seconds kClaimDeadline{30};
constexpr std::chrono::seconds kAnswerDeadline{20};

// Returns when the condition is true, or after the deadline.
template <class Condition>
void wait_for(std::chrono::seconds deadline, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!condition() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

class PythonLease {
 public:
  static Result<std::unique_ptr<PythonLease>> open(PythonGpuHandle card, const std::string& program,
                                                   const std::string& guardian) {
    auto lease = std::unique_ptr<PythonLease>(new PythonLease(std::move(card), program, guardian));
    LeasePort& port = lease->port_;
    port.claim({lease->card_->gpu->identity().uuid});
    wait_for(kClaimDeadline, [&] { return port.state() != PortState::kClaiming; });
    if (port.state() != PortState::kHeld) return lease->problem();
    return lease;
  }

  Result<std::string> set(const char* text) {
    ASSIGN_OR_RETURN(const Setting setting, parse_setting(text));
    if (port_.state() != PortState::kHeld) return problem();
    port_.ask(card_->gpu->identity().uuid, setting);
    std::vector<PortAnswer> answers;
    wait_for(kAnswerDeadline, [&] {
      answers = port_.take_answers();
      return !answers.empty() || port_.state() != PortState::kHeld;
    });
    if (answers.empty()) return problem();
    ASSIGN_OR_RETURN(const Setting told, std::move(answers.back().told));
    return to_string(told);
  }

  Result<std::string> release() {
    RETURN_IF_ERROR(port_.release());
    return std::string();
  }

 private:
  PythonLease(PythonGpuHandle card, const std::string& program, const std::string& guardian)
      : card_(std::move(card)), port_(python_lease(program, guardian), *card_->clock) {}

  Error problem() const {
    const auto problem = port_.problem();
    return problem ? *problem : Error{ErrorCode::kTimeout, "the GPU does not answer", ""};
  }

  PythonGpuHandle card_;
  LeasePort port_;
};

LeasePortOptions python_lease(const std::string& program, const std::string& guardian) {
  LeasePortOptions options;
  options.program = program;
  options.read_only = read_only_mode();
  options.guardian.reset();
  if (!guardian.empty()) options.guardian = GuardianOptions{guardian, false};
  return options;
}

}  // namespace hypermile

hypermile::PythonLease* hypermile_python_lease_open(PythonGpuHandle* gpu, const char* program,
                                                    const char* guardian) {
  return hypermile::answer_object<hypermile::PythonLease>(
      [&] { return hypermile::PythonLease::open(*gpu, program, guardian); });
}

const char* hypermile_python_lease_set(hypermile::PythonLease* lease, const char* setting) {
  return hypermile::answer_text([&] { return lease->set(setting); });
}

int hypermile_python_lease_release(hypermile::PythonLease* lease) {
  return hypermile::answer_text([&] { return lease->release(); }) == nullptr ? 0 : 1;
}

void hypermile_python_lease_close(hypermile::PythonLease* lease) {
  delete lease;
}

const char* hypermile_python_check_setting(const char* text) {
  return hypermile::answer_text([&]() -> hypermile::Result<std::string> {
    ASSIGN_OR_RETURN(const hypermile::Setting setting, hypermile::parse_setting(text));
    return to_string(setting);
  });
}
