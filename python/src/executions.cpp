// SPDX-License-Identifier: Apache-2.0
//
// The calls of library.h about a plan that is carried out: a PlanExecution with its own thread,
// which never needs the interpreter. The training thread only posts boundaries.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "answer.h"
#include "gpus.h"
#include "leases.h"
#include "library.h"
#include "plan/execute/plan_execution.h"
#include "plan/execute/silent_port.h"

namespace hypermile {
namespace {

using Json = nlohmann::json;

// `guardian` is as for a lease; without it, requests change no GPU.
std::unique_ptr<SettingPort> make_port(const std::optional<std::string>& guardian, Clock& clock) {
  if (!guardian) return std::make_unique<SilentPort>();
  return std::make_unique<LeasePort>(python_lease("hypermile.PlanExecutor", *guardian), clock);
}

}  // namespace

class PythonExecution {
 public:
  PythonExecution(PythonGpuHandle card, PlanExecutionOptions options,
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

  PythonGpuHandle card_;
  std::unique_ptr<SettingPort> port_;
  PlanExecution execution_;
  std::jthread thread_;  // last, because it uses everything above
};

namespace {

PlanTrialOptions trial_options(const Json& trial) {
  PlanTrialOptions options;
  options.after_iterations = trial.at("after_iterations").get<std::size_t>();
  options.rounds = trial.at("rounds").get<std::size_t>();
  options.block = Seconds(trial.at("block_s").get<double>());
  options.settle = Seconds(trial.at("settle_s").get<double>());
  options.max_slowdown = trial.at("max_slowdown").get<double>();
  return options;
}

Result<std::unique_ptr<PythonExecution>> start(const PythonGpuHandle& card, const char* text) {
  const Json told = Json::parse(text);
  PlanExecutionOptions options;
  for (const Json& segment : told.at("segments")) {
    ASSIGN_OR_RETURN(const Setting setting, parse_setting(segment.at(0).get<std::string>()));
    options.segments.push_back({setting, Seconds(segment.at(1).get<double>())});
  }
  if (options.segments.empty()) {
    return Error{ErrorCode::kUsage, "a plan needs at least one segment", ""};
  }
  ASSIGN_OR_RETURN(options.uniform, parse_setting(told.at("uniform").get<std::string>()));
  options.latency = Seconds(told.at("latency_s").get<double>());
  options.most_per_second = told.at("most_per_second").get<double>();
  options.trial.reset();
  if (!told.at("trial").is_null()) options.trial = trial_options(told.at("trial"));
  std::optional<std::string> guardian;
  if (!told.at("guardian").is_null()) guardian = told.at("guardian").get<std::string>();
  return std::make_unique<PythonExecution>(card, std::move(options), guardian);
}

Json pair(const ArmRatio& ratio) {
  return Json::array({ratio.mean, ratio.half95});
}

Json to_json(const PlanVerdict& verdict) {
  return {{"kept", to_string(verdict.kept)},
          {"time_s", verdict.time_s},
          {"energy_j", verdict.energy_j},
          {"plan_energy", pair(verdict.plan_energy)},
          {"uniform_energy", pair(verdict.uniform_energy)},
          {"plan_to_uniform", pair(verdict.plan_to_uniform)},
          {"plan_time", pair(verdict.plan_time)},
          {"uniform_time", pair(verdict.uniform_time)}};
}

Json to_json(const ExecutionReport& report) {
  return {{"state", report.state},
          {"reason", report.reason},
          {"arm", to_string(report.arm)},
          {"boundaries", report.boundaries},
          {"dropped", report.dropped},
          {"iterations", report.iterations},
          {"requests", report.requests},
          {"failed", report.failed},
          {"blocks", report.blocks},
          {"verdict", report.verdict ? to_json(*report.verdict) : Json()}};
}

}  // namespace
}  // namespace hypermile

hypermile::PythonExecution* hypermile_python_execution_start(PythonGpuHandle* gpu,
                                                             const char* options) {
  return hypermile::answer_object<hypermile::PythonExecution>(
      [&] { return hypermile::start(*gpu, options); });
}

void hypermile_python_execution_post(hypermile::PythonExecution* execution, std::uint32_t number) {
  execution->post(number);
}

const char* hypermile_python_execution_report(hypermile::PythonExecution* execution) {
  return hypermile::answer_text([&]() -> hypermile::Result<std::string> {
    return hypermile::to_json(execution->report()).dump();
  });
}

void hypermile_python_execution_stop(hypermile::PythonExecution* execution) {
  execution->stop();
}

void hypermile_python_execution_close(hypermile::PythonExecution* execution) {
  delete execution;
}
