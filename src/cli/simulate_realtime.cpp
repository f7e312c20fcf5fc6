// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_realtime.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/nearest.h"
#include "base/parse.h"
#include "cli/simulate_ranks.h"
#include "cli/simulated_launches.h"
#include "sim/stand_in/machine.h"
#include "sim/workload.h"

namespace hypermile {
namespace {

constexpr Seconds kBeat = milliseconds(50);            // real time between two signs of life
constexpr Seconds kShortestSleep = milliseconds(0.5);  // a shorter sleep costs more than it gives
constexpr std::uint64_t kJobMemory = 4ULL << 30;       // bytes on the GPU, as a small job has

Result<std::unique_ptr<Machine>> open_machine() {
  ASSIGN_OR_RETURN(const MachineOptions options, machine_options_from_environment());
  return Machine::open(options);
}

Result<unsigned> find_gpu(const Machine& machine, const std::string& name) {
  std::vector<std::string> known;
  for (unsigned i = 0; i < machine.gpu_count(); ++i) {
    if (name == std::to_string(i) || name == machine.facts(i).uuid) return i;
    known.push_back(std::to_string(i));
    known.emplace_back(machine.facts(i).uuid);
  }
  return Error{ErrorCode::kUsage, fmt::format("the stand-in has no GPU '{}'", name),
               suggestion(name, known)};
}

// One job from start to end. A GPU gives up a job that was stopped (SIGSTOP) for long. Then the job
// starts on the GPU again and goes on counting.
class RealtimeJob {
 public:
  RealtimeJob(Machine& machine, unsigned gpu, const Workload& workload,
              const RealtimeJobOptions& options, CommandContext& context)
      : machine_(machine),
        gpu_(gpu),
        workload_(workload),
        options_(options),
        context_(context),
        start_s_(machine.now_s()),
        launches_(machine, gpu, workload.load, context.clock.now()) {}

  Result<void> run() {
    RETURN_IF_ERROR(begin());
    while (!over()) {
      if (options_.paced) {
        RETURN_IF_ERROR(take_pace());
        if (input_ended_) break;
      }
      context_.clock.sleep_for(until_next_look(), context_.stop);
      RETURN_IF_ERROR(look());
    }
    RETURN_IF_ERROR(machine_.end_job(gpu_));
    print();
    return {};
  }

 private:
  Result<void> begin() {
    RETURN_IF_ERROR(
        machine_.start_job(gpu_, {workload_.load, kJobMemory, options_.group, options_.ranks,
                                  static_cast<std::uint64_t>(finished_before_)}));
    ASSIGN_OR_RETURN(const GpuView view, machine_.beat(gpu_));
    energy_before_j_ = view.now.totals.energy_j;
    launches_.begin(view);
    return {};
  }

  Result<void> look() {
    const Result<GpuView> view = machine_.beat(gpu_);
    if (!view && view.error().code == ErrorCode::kNotFound) {
      // A rank goes back to the start of its iteration, because the others wait for a whole one.
      finished_before_ = options_.group != 0 ? std::floor(iterations_) : iterations_;
      energy_j_before_ = energy_j_;
      return begin();
    }
    if (!view) return view.error();
    elapsed_s_ = view->time_s - start_s_;
    iterations_ = finished_before_ + view->now.iterations;
    iteration_s_ = view->record.sim.job.iteration_s;
    energy_j_ = energy_j_before_ + view->now.totals.energy_j - energy_before_j_;
    launches_.advance(*view);
    if (options_.ticks) print_ticks();
    return {};
  }

  // Waits for a line unless an iteration is under way. The job shows signs of life meanwhile.
  Result<void> take_pace() {
    if (iterations_ < static_cast<double>(allowed_)) return {};
    pollfd input{STDIN_FILENO, POLLIN, 0};
    while (::poll(&input, 1, static_cast<int>(kBeat.value() * 1e3)) == 0) {
      if (over()) return {};
      RETURN_IF_ERROR(look());
    }
    char line = 0;
    ssize_t got = 0;
    while ((got = ::read(STDIN_FILENO, &line, 1)) == 1 && line != '\n') {
    }
    input_ended_ = got != 1;
    if (input_ended_) return {};
    ++allowed_;
    RETURN_IF_ERROR(machine_.allow_iteration(gpu_));
    return look();
  }

  bool over() const {
    return context_.stop.stop_requested() || elapsed_s_ >= options_.length.value() ||
           (options_.iterations && iterations_ >= static_cast<double>(*options_.iterations)) ||
           !context_.out.good();
  }

  // A tick is to be printed when it happens. Without ticks only the next sign of life is due.
  Seconds until_next_look() const {
    const double left = options_.length.value() - elapsed_s_;
    const double keeping = SimulatedLaunches::kept().value() / 2;
    double seconds = std::min(kBeat.value(), std::min(left, keeping) / machine_.speed());
    if (options_.ticks && iterations_ > 0) {
      // A paced job also waits; only the iteration under way says how long one takes.
      const double one = options_.paced ? iteration_s_ : elapsed_s_ / iterations_;
      seconds = std::min(seconds, (1 - std::fmod(iterations_, 1.0)) * one / machine_.speed());
    }
    return std::max(kShortestSleep, Seconds(seconds));
  }

  void print_ticks() {
    const auto whole = static_cast<std::uint64_t>(iterations_);
    while (ticks_ < whole) context_.out << fmt::format("{} {:.6f}\n", ++ticks_, elapsed_s_);
    context_.out << std::flush;
  }

  void print() const {
    const bool any = iterations_ > 0;
    if (options_.json) {
      nlohmann::json j = {{"gpu", machine_.facts(gpu_).uuid},
                          {"workload", workload_.key},
                          {"seconds", elapsed_s_},
                          {"iterations", iterations_},
                          {"energy_j", energy_j_}};
      j["time_per_iteration_s"] = any ? nlohmann::json(elapsed_s_ / iterations_) : nullptr;
      j["energy_per_iteration_j"] = any ? nlohmann::json(energy_j_ / iterations_) : nullptr;
      context_.out << j.dump() << "\n";
      return;
    }
    context_.out << fmt::format("{} on {}: {:.1f} iterations in {:.1f} s", workload_.key,
                                machine_.facts(gpu_).name, iterations_, elapsed_s_);
    if (any) {
      context_.out << fmt::format(", {:.2f} ms and {:.2f} J each", 1e3 * elapsed_s_ / iterations_,
                                  energy_j_ / iterations_);
    }
    context_.out << "\n";
  }

  Machine& machine_;
  unsigned gpu_;
  const Workload& workload_;
  const RealtimeJobOptions& options_;
  CommandContext& context_;
  double start_s_;
  double elapsed_s_ = 0;
  double iterations_ = 0, finished_before_ = 0;
  double energy_j_ = 0, energy_j_before_ = 0, energy_before_j_ = 0;
  double iteration_s_ = 0;
  std::uint64_t ticks_ = 0, allowed_ = 0;
  bool input_ended_ = false;
  SimulatedLaunches launches_;
};

nlohmann::json mhz_or_null(const ClockLock& lock) {
  return lock.high != 0 ? nlohmann::json(lock.high) : nlohmann::json(nullptr);
}

nlohmann::json status_of(const Machine& machine, unsigned gpu, const GpuView& view) {
  const Watts limit =
      view.record.sim.requested.power_limit.value_or(machine.constants(gpu).limit.normal);
  return {{"uuid", machine.facts(gpu).uuid},
          {"name", machine.facts(gpu).name},
          {"sm_lock_mhz", mhz_or_null(view.record.sm_lock)},
          {"mem_lock_mhz", mhz_or_null(view.record.memory_lock)},
          {"power_limit_w", limit.value()},
          {"sm_mhz", view.now.sm_reported.value()},
          {"mem_mhz", view.now.memory.value()},
          {"power_w", view.record.sim.sensors.shown_power_w}};
}

std::string cell(const nlohmann::json& value) {
  return value.is_null() ? "-" : fmt::format("{:.0f}", value.get<double>());
}

}  // namespace

Result<void> run_realtime_job(const RealtimeJobOptions& options, CommandContext& context) {
  ASSIGN_OR_RETURN(const Workload workload, load_workload(options.workload));
  ASSIGN_OR_RETURN(const auto machine, open_machine());
  ASSIGN_OR_RETURN(const unsigned gpu, find_gpu(*machine, options.gpu));
  return RealtimeJob(*machine, gpu, workload, options, context).run();
}

Result<void> print_status(bool json, CommandContext& context) {
  ASSIGN_OR_RETURN(const auto machine, open_machine());
  nlohmann::json gpus = nlohmann::json::array();
  for (unsigned gpu = 0; gpu < machine->gpu_count(); ++gpu) {
    ASSIGN_OR_RETURN(const GpuView view, machine->look(gpu));
    gpus.push_back(status_of(*machine, gpu, view));
  }
  if (json) {
    context.out << nlohmann::json{{"gpus", gpus}}.dump() << "\n";
    return {};
  }
  context.out << fmt::format("{:<32} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "GPU", "SM lock",
                             "mem lock", "limit W", "SM MHz", "mem MHz", "W");
  for (const nlohmann::json& gpu : gpus) {
    context.out << fmt::format("{:<32} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
                               gpu["name"].get<std::string>(), cell(gpu["sm_lock_mhz"]),
                               cell(gpu["mem_lock_mhz"]), cell(gpu["power_limit_w"]),
                               cell(gpu["sm_mhz"]), cell(gpu["mem_mhz"]), cell(gpu["power_w"]));
  }
  return {};
}

bool wants_stand_in(const OptionValues& values) {
  return values.flag("realtime") || values.flag("status");
}

Result<void> use_stand_in(const OptionValues& values, CommandContext& context) {
  if (values.flag("status")) return print_status(values.flag("json"), context);
  if (values.given("ranks")) return run_ranks(values, context);
  RealtimeJobOptions options;
  RETURN_IF_ERROR(join_group(options));
  options.workload = values.text("workload");
  options.ticks = values.flag("ticks");
  options.paced = values.flag("paced");
  options.json = values.flag("json");
  if (options.paced) {
    // A group that is never complete: the job stops before every iteration.
    options.group = 1 + static_cast<std::uint64_t>(::getpid());
    options.ranks = 2;
    options.ticks = true;
  }
  if (values.given("gpu")) options.gpu = values.text("gpu");
  if (values.given("seconds")) options.length = values.duration("seconds");
  if (values.given("iterations")) {
    options.iterations = static_cast<std::uint64_t>(values.integer("iterations"));
  }
  if (options.json && options.ticks) {
    return Error{ErrorCode::kUsage, "--ticks prints lines and --json one document",
                 "leave one of them out"};
  }
  return run_realtime_job(options, context);
}

}  // namespace hypermile
