// SPDX-License-Identifier: Apache-2.0
//
// `hypermile demo`: a GPU being driven, on a machine without one. Replays a small synthetic sweep
// under the default and two fixed Settings in virtual time, writes an event log, and shows what
// that log says.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/data_file.h"
#include "cli/command.h"
#include "cli/summary_table.h"
#include "measure/window_meter.h"
#include "record/environment.h"
#include "record/event_log.h"
#include "record/setting_summary.h"
#include "sim/replay_gpu.h"

namespace hypermile {
namespace {

constexpr const char* kSweep = "workloads/demo_sweep.csv";
constexpr const char* kCurve = "Demo GPU/resnet50/train";
constexpr int kWindows = 12;
constexpr double kIterations = 30;  // a Window
constexpr Seconds kSettle = Seconds(0.5);
constexpr Seconds kPoll = milliseconds(20);
// On a terminal a Window takes this long to watch; in virtual time it takes none.
constexpr Seconds kPace = milliseconds(80);

// One replayed job on its own virtual clock, logging what it does.
class Tour {
 public:
  Tour(Curve curve, std::uint64_t seed, std::unique_ptr<LineSink> sink, CommandContext& context)
      : clock_(context.clock.unix_time()),
        gpu_(std::move(curve), clock_, options(seed)),
        log_(std::move(sink), clock_),
        context_(context) {}

  Result<void> run(const std::vector<Setting>& settings) {
    RETURN_IF_ERROR(log_.append(describe_run(clock_, {"hypermile", "demo"}, {gpu_.identity()})));
    for (const Setting& setting : settings) {
      RETURN_IF_ERROR(visit(setting));
      if (context_.stop.stop_requested()) break;
    }
    RETURN_IF_ERROR(change_to({}));
    if (context_.terminal) context_.err << "\r\033[K" << std::flush;
    return log_.append(RunEnd{0, "the demo is over", {{"iterations", gpu_.iterations()}}});
  }

 private:
  static ReplayOptions options(std::uint64_t seed) {
    ReplayOptions options;
    options.seed = seed;
    return options;
  }

  Result<void> change_to(const Setting& setting) {
    SettingChange change{gpu_.identity().uuid, setting, true, "", {}, {}, {}};
    for (const Knob knob : kAllKnobs) {
      if (!setting.has(knob)) RETURN_IF_ERROR(gpu_.reset(knob));
    }
    RETURN_IF_ERROR(all_applied(gpu_.apply(setting)));
    clock_.advance(kSettle);
    ASSIGN_OR_RETURN(const Sample sample, gpu_.read(Sensor::kClocks));
    change.effective_sm_clock = sample.sm_clock;
    return log_.append(change);
  }

  Result<void> visit(const Setting& setting) {
    RETURN_IF_ERROR(change_to(setting));
    for (int i = 0; i < kWindows && !context_.stop.stop_requested(); ++i) {
      ASSIGN_OR_RETURN(const Window window, measure(setting));
      RETURN_IF_ERROR(log_.append(WindowEvent{gpu_.identity().uuid, window}));
      show(window);
    }
    return {};
  }

  Result<Window> measure(const Setting& setting) {
    WindowMeter meter(setting, clock_.now(), gpu_.iterations());
    const double end = gpu_.iterations() + kIterations;
    while (gpu_.iterations() < end) {
      ASSIGN_OR_RETURN(const Sample sample, gpu_.read(SensorSet::all()));
      meter.add(sample);
      clock_.advance(kPoll);
    }
    return meter.close(clock_.now(), gpu_.iterations());
  }

  void show(const Window& window) {
    if (!context_.terminal || !window.usable()) return;
    context_.err
        << fmt::format(
               "\r\033[K{:>8.1f} s  {:<11} {:6.1f} ms/iteration {:7.1f} W  {:6.2f} J/iteration",
               clock_.now().since_origin().value(), to_string(window.setting),
               window.time_per_iteration->value() * 1e3, window.power->value(),
               (*window.power * *window.time_per_iteration).value())
        << std::flush;
    context_.clock.sleep_for(kPace, context_.stop);
  }

  VirtualClock clock_;
  ReplayGpu gpu_;
  EventLog log_;
  CommandContext& context_;
};

Result<Curve> load_curve() {
  ASSIGN_OR_RETURN(const std::string path, find_data_file(kSweep));
  ASSIGN_OR_RETURN(const SweepFile file, read_sweep(path));
  const CurveSet set = make_curves(file, {});
  ASSIGN_OR_RETURN(const Curve* curve, find_curve(set.curves, kCurve));
  return *curve;
}

// A log of its own for a demo that was not asked to keep one.
class ScratchLog {
 public:
  ScratchLog()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("hypermile-demo-{}.jsonl", ::getpid())) {}
  ScratchLog(const ScratchLog&) = delete;
  ScratchLog& operator=(const ScratchLog&) = delete;
  ~ScratchLog() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// The events of the last run in a log that may hold several.
Result<std::vector<Event>> last_run(const std::string& path) {
  ASSIGN_OR_RETURN(EventLogContent content, read_event_log(path));
  std::vector<Event>& events = content.events;
  const auto start = std::find_if(events.rbegin(), events.rend(), [](const Event& event) {
    return std::holds_alternative<RunStart>(event.body);
  });
  return std::vector<Event>(start == events.rend() ? events.begin() : start.base() - 1,
                            events.end());
}

Result<void> run_demo(const CommandArguments& arguments, CommandContext& context) {
  const ScratchLog scratch;
  const std::string path =
      arguments.options.given("log") ? arguments.options.text("log") : scratch.path();
  ASSIGN_OR_RETURN(Curve curve, load_curve());
  ASSIGN_OR_RETURN(auto sink, open_log_file(path));
  const auto seed = static_cast<std::uint64_t>(arguments.options.integer("seed"));
  const bool json = arguments.options.flag("json");
  if (!json) {
    context.out << "A replayed GPU (" << curve.key.gpu << ", a synthetic sweep) trains "
                << curve.key.workload
                << " at three Settings; the figures come from the event log.\n\n";
  }
  RETURN_IF_ERROR(Tour(std::move(curve), seed, std::move(sink), context)
                      .run({{}, {.sm_clock = Mhz(1680)}, {.sm_clock = Mhz(1200)}}));
  ASSIGN_OR_RETURN(const std::vector<Event> events, last_run(path));
  const std::vector<SettingSummary> summaries = summarize_settings(events);
  if (json) {
    context.out << summary_json(summaries).dump() << "\n";
    return {};
  }
  context.out
      << summary_table(summaries)
      << "\nReplayed, not measured on this machine. A lower clock saves energy and costs time: "
         "hypermile's work is\nto find the Setting that saves most within the slowdown you allow.\n"
         "Next: 'hypermile doctor' shows what this machine has, 'hypermile monitor' watches a "
         "GPU.\n";
  return {};
}

}  // namespace

const Command kDemoCommand = {
    "demo",
    "see a GPU being driven: a replayed one, in seconds, no GPU needed",
    "",
    "  hypermile demo\n"
    "  hypermile demo --log demo.jsonl      keep the event log\n"
    "  hypermile demo --json | python3 -m json.tool\n",
    run_demo,
};

}  // namespace hypermile
