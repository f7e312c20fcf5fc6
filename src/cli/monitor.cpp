// SPDX-License-Identifier: Apache-2.0
//
// `hypermile monitor`: prints power, clocks, energy and throttling of one GPU, and iterations where
// they are known, one line per interval. Only reads. A Sampler decides when sensors are polled.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.h"
#include "measure/sampler.h"
#include "measure/window_meter.h"
#include "record/event_log.h"
#include "record/machine_facts.h"
#include "run/gpu_access.h"

namespace hypermile {
namespace {

// The energy counter is read twice per line, so that every line has steps of its own.
SamplerOptions sampler_options(Seconds interval) {
  SamplerOptions options;
  options.cheap = Sensor::kPowerInstant | Sensor::kPowerAverage | Sensor::kClocks |
                  Sensor::kUtilization | Sensor::kTemperature | Sensor::kEventReasons;
  options.counter_period = std::min(options.counter_period, interval / 2);
  options.drain_period = Seconds(0);
  return options;
}
constexpr int kHeaderEvery = 20;

template <class Value>
std::string shown(const std::optional<Value>& value, double scale = 1, int digits = 0) {
  if (!value) return "-";
  if constexpr (std::is_same_v<Value, double>) {
    return fmt::format("{:.{}f}", *value * scale, digits);
  } else {
    return fmt::format("{:.{}f}", value->value() * scale, digits);
  }
}

class Monitor {
 public:
  Monitor(OpenedGpu gpu, const OptionValues& options, CommandContext& context)
      : gpu_(std::move(gpu)),
        context_(context),
        json_(options.flag("json")),
        interval_(options.duration("interval")),
        start_(context.clock.now()),
        sampler_(*gpu_.gpu, context.clock, sampler_options(interval_)) {
    if (options.given("seconds")) end_ = start_ + options.duration("seconds");
  }

  Result<void> open_log(const std::string& path) {
    ASSIGN_OR_RETURN(auto sink, open_log_file(path));
    log_ = std::make_unique<EventLog>(std::move(sink), context_.clock);
    log_or_warn(describe_run(context_.clock, {"hypermile", "monitor"}, {gpu_.gpu->identity()}));
    return {};
  }

  Result<void> run() {
    const GpuIdentity& identity = gpu_.gpu->identity();
    if (!json_) context_.out << fmt::format("{} ({})\n", identity.name, identity.uuid.text());
    Result<void> result;
    while (result && !over()) result = line();
    log_or_warn(RunEnd{result ? 0 : 1,
                       result ? "monitor ended" : result.error().line(),
                       {{"joules", energy().value()}, {"seconds", elapsed().value()}}});
    if (!result) return result;
    finish();
    return {};
  }

 private:
  Seconds elapsed() const { return context_.clock.now() - start_; }
  bool over() const {
    return context_.stop.stop_requested() || (end_ && context_.clock.now() >= *end_);
  }
  Joules energy() const {
    const auto mean = total_.mean_power();
    return mean ? mean->power * elapsed() : Joules(0);
  }
  double iterations() const { return gpu_.iterations ? gpu_.iterations() : 0; }

  // A new step of the energy counter, if there is one, and the other sensors.
  static std::vector<Sample> parts_of(const SamplerReading& reading) {
    std::vector<Sample> parts;
    if (reading.step) {
      parts.emplace_back().time = reading.step->time;
      parts.back().energy = reading.step->energy;
    }
    parts.push_back(reading.sample);
    parts.back().energy.reset();
    return parts;
  }

  // Polls for one interval, then prints one line from one window.
  Result<void> line() {
    const Instant begin = context_.clock.now();
    WindowMeter meter({}, begin, iterations());
    const Instant end = begin + interval_;
    Sample last;
    std::optional<Sample> logged;  // the last sample that holds the energy counter
    do {
      ASSIGN_OR_RETURN(const SamplerReading reading, sampler_.poll());
      last = reading.sample;
      if (last.energy) logged = last;
      // Only steps of the counter are used, because they carry the time of the change.
      last.energy.reset();
      for (const Sample& sample : parts_of(reading)) {
        meter.add(sample);
        total_.add(sample);
      }
      watch_throttling(last);
      context_.clock.sleep_until(std::min(sampler_.due(), end), context_.stop);
    } while (context_.clock.now() < end && !context_.stop.stop_requested());
    const Window window = meter.close(context_.clock.now(), iterations());
    log_or_warn(SampleEvent{gpu_.gpu->identity().uuid, logged.value_or(last)});
    if (json_) {
      remember(window, last);
    } else {
      print(window, last);
    }
    return {};
  }

  void watch_throttling(const Sample& sample) {
    if (!sample.reasons || sample.reasons->throttled() == throttled_) return;
    throttled_ = sample.reasons->throttled();
    log_or_warn(Throttle{gpu_.gpu->identity().uuid, throttled_ ? *sample.reasons : EventReasons{}});
  }

  void print(const Window& window, const Sample& last) {
    if (lines_++ % kHeaderEvery == 0) {
      context_.out << fmt::format("{:>9} {:>8} {:>10} {:>7} {:>7} {:>5} {:>5} {:>5} {:>9}  {}\n",
                                  "time s", "W", "energy J", "SM MHz", "mem MHz", "GPU %", "mem %",
                                  "°C", "ms/iter", "throttling");
    }
    context_.out << fmt::format(
                        "{:>9.1f} {:>8} {:>10.0f} {:>7} {:>7} {:>5} {:>5} {:>5} {:>9}  {}\n",
                        elapsed().value(), shown(window.power, 1, 1), energy().value(),
                        shown(last.sm_clock), shown(last.memory_clock),
                        shown(last.gpu_utilization, 100), shown(last.memory_utilization, 100),
                        shown(last.temperature), shown(window.time_per_iteration, 1e3, 2),
                        throttling(last))
                 << std::flush;
  }

  static std::string throttling(const Sample& sample) {
    if (!sample.reasons) return "-";
    return sample.reasons->throttled() ? to_string(*sample.reasons) : "none";
  }

  void remember(const Window& window, const Sample& last) {
    nlohmann::json j = {{"t_s", elapsed().value()}};
    if (window.power) j["power_w"] = window.power->value();
    if (last.sm_clock) j["sm_mhz"] = last.sm_clock->value();
    if (last.memory_clock) j["mem_mhz"] = last.memory_clock->value();
    if (last.gpu_utilization) j["gpu_utilization"] = *last.gpu_utilization;
    if (last.temperature) j["temperature_c"] = last.temperature->value();
    if (last.reasons) j["throttled"] = last.reasons->throttled();
    if (window.time_per_iteration) j["time_per_iteration_s"] = window.time_per_iteration->value();
    intervals_.push_back(std::move(j));
  }

  void finish() {
    const GpuIdentity& identity = gpu_.gpu->identity();
    if (json_) {
      context_.out << nlohmann::json{{"gpu", identity.uuid.text()},
                                     {"name", identity.name},
                                     {"seconds", elapsed().value()},
                                     {"energy_j", energy().value()},
                                     {"intervals", intervals_}}
                          .dump()
                   << "\n";
      return;
    }
    context_.out << fmt::format("{:.1f} J in {:.1f} s, {:.1f} W on average\n", energy().value(),
                                elapsed().value(), (energy() / elapsed()).value());
  }

  void log_or_warn(EventBody body) {
    if (!log_) return;
    if (const Result<void> written = log_->append(std::move(body)); !written) {
      context_.err << "hypermile: " << written.error().line() << "\n";
    }
  }

  OpenedGpu gpu_;
  CommandContext& context_;
  bool json_;
  Seconds interval_;
  Instant start_;
  Sampler sampler_;
  std::optional<Instant> end_;
  std::unique_ptr<EventLog> log_;
  EnergyMeter total_;  // over the whole run, which is exact even where lines are short
  bool throttled_ = false;
  int lines_ = 0;
  nlohmann::json intervals_ = nlohmann::json::array();
};

Result<void> run_monitor(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& options = arguments.options;
  if (options.duration("interval") < milliseconds(100)) {
    return Error{ErrorCode::kUsage,
                 "--interval: sensors change every 100 ms, so a shorter interval shows nothing new",
                 "use 100ms or more"};
  }
  const auto seed = static_cast<std::uint64_t>(options.integer("seed"));
  ASSIGN_OR_RETURN(OpenedGpu gpu, options.given("gpu")
                                      ? open_named_gpu(options.text("gpu"), context.clock, seed)
                                      : open_first_visible_gpu(context.clock));
  Monitor monitor(std::move(gpu), options, context);
  if (options.given("log")) RETURN_IF_ERROR(monitor.open_log(options.text("log")));
  return monitor.run();
}

}  // namespace

const Command kMonitorCommand = {
    "monitor",
    "watch power, clocks, energy, throttling and iterations of a GPU",
    "",
    "  hypermile monitor                       the first GPU visible to CUDA, until interrupted\n"
    "  hypermile monitor --gpu 1 --seconds 30s --interval 500ms\n"
    "  hypermile monitor --gpu 'replay:sweep.csv#A100/bert' --seconds 10s --json\n",
    run_monitor,
};

}  // namespace hypermile
