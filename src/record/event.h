// SPDX-License-Identifier: Apache-2.0
//
// What can happen in a run: one type for each event. docs/reference/event-log.md is the
// reference of the format and docs/reference/event-log.schema.json its schema: a change here is a
// change there, and a change of kEventVersion where an old reader would misread it. Reports,
// metrics and plots are made from these events alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/identifiers.h"
#include "base/result.h"
#include "gpu/gpu.h"
#include "gpu/setting.h"
#include "measure/window.h"

namespace hypermile {

inline constexpr int kEventVersion = 1;

struct RunStart {
  RunId run;
  double unix_time = 0;
  std::string program;                             // "hypermile 0.1.0"
  std::vector<std::string> command;                // what was typed
  std::map<std::string, std::string> environment;  // host, kernel, driver, variables that matter
  std::vector<GpuIdentity> gpus;
};

struct SampleEvent {
  GpuUuid gpu;
  Sample sample;
};

struct WindowEvent {
  GpuUuid gpu;  // empty where no GPU could be read: time only
  Window window;
  std::optional<std::int64_t> process = {};  // whose iterations were measured
  // Iterations that the process has run in this phase so far, measured or not.
  std::optional<double> counted = {};
};

// A GPU that the job uses is watched from now on.
struct GpuEvent {
  GpuIdentity gpu;
};

// A process of the job uses CUDA or ticks, or stopped doing so.
struct ProcessEvent {
  std::int64_t process = 0;
  std::string name;
  std::string status;                  // "watching", "no_cupti", …: whether its launches are seen
  std::string reason;                  // why the status is not "watching"
  std::vector<std::uint32_t> devices;  // the GPUs that it uses, by CUDA's numbers
};

// The job's iterations were found, lost, or their pattern changed.
struct ProgressEvent {
  std::int64_t process = 0;
  std::string state;   // "searching", "locked", "idle", "ended"
  std::string source;  // "launches", "nvtx", "ticks", "none"
  std::optional<std::uint32_t> phase;
  bool known_phase = false;  // seen before: its earlier windows may be compared with new ones
  std::optional<double> launches_per_iteration;
  std::optional<double> confidence;
  std::vector<std::uint32_t> inner_iterations;  // in one iteration of each outer level
  std::optional<double> micro_batches;          // in an optimizer step, where it has several
};

struct Decision {
  GpuUuid gpu;
  std::string policy;
  Setting setting;
  std::string reason;                     // in words
  std::optional<double> confidence;       // that the whole job keeps its bound, 0..1
  std::map<std::string, double> numbers;  // what the reason rests on
};

// What the policy expected of one setting when it decided, relative to the default.
struct ForecastPoint {
  Setting setting;
  double slowdown = 0;  // 0.03: 3 % slower
  double slowdown_sd = 0;
  double score = 1;  // of the objective: the energy, where the objective is least energy
  double score_sd = 0;
  double safe = 1;  // probability of keeping the bound
};
struct Forecast {
  GpuUuid gpu;
  std::string policy;
  std::vector<ForecastPoint> points;
  bool exploring = false;  // true where a search begins, false where a setting is held
  std::optional<std::int64_t> process = {};
  std::optional<std::uint32_t> phase = {};
};

// A setting was requested. The `effective` values are what the card showed afterwards.
struct SettingChange {
  GpuUuid gpu;
  Setting requested;
  bool accepted = false;
  std::string problem;  // why the request was not accepted
  std::optional<Mhz> effective_sm_clock;
  std::optional<Mhz> effective_memory_clock;
  std::optional<Watts> effective_power_limit;
};

// The controller is in another state, or in the same state for another reason.
struct StateChange {
  std::string state;  // "warm_up", "baseline", "search", "hold", …: see docs/design/policies.md
  std::string previous;                      // "" at the start
  std::string reason;                        // in words
  std::optional<std::int64_t> process = {};  // the process whose phase this is about
  std::optional<std::uint32_t> phase = {};
  std::map<std::string, double> numbers = {};  // what the reason rests on
};

struct Drift {
  GpuUuid gpu;
  std::string quantity;  // "time_per_iteration", "power", "sm_clock"
  double before = 0;
  double after = 0;
};

// How the job uses a GPU at its default, collected over a baseline (features.h).
struct FeaturesEvent {
  GpuUuid gpu;
  std::optional<std::int64_t> process = {};
  std::optional<std::uint32_t> phase = {};
  // By the names of docs/reference/features.md; unknown values are absent.
  std::map<std::string, double> values;
  std::map<std::string, double> numbers;  // what it cost to collect them
};

struct Throttle {
  GpuUuid gpu;
  EventReasons reasons;  // empty when throttling has ended
};

// How long the driver took for every call on a GPU since the GPU was opened (gpu/call_times.h).
struct DriverCalls {
  GpuUuid gpu;
  CallTimes calls;
};

struct ErrorEvent {
  std::optional<GpuUuid> gpu;
  Error error;
};

struct RunEnd {
  int exit_code = 0;
  std::string reason;
  std::map<std::string, double> totals;   // joules, seconds, iterations, …
  std::vector<std::string> summary = {};  // the lines that the terminal shows at the end
};

using EventBody = std::variant<RunStart, GpuEvent, SampleEvent, WindowEvent, ProcessEvent,
                               ProgressEvent, Decision, Forecast, SettingChange, StateChange, Drift,
                               FeaturesEvent, Throttle, DriverCalls, ErrorEvent, RunEnd>;

struct Event {
  Instant time;
  EventBody body;
};

// The event with every instant in it counted from `origin`.
Event counted_from(Instant origin, Event event);

// One line of JSON without the line break. Never fails: text that is not UTF-8 is replaced.
std::string to_json_line(const Event& event);

// Reads what to_json_line() wrote. kParse says what is missing; unknown keys are passed over,
// unknown types are an error.
Result<Event> parse_event(std::string_view line);

}  // namespace hypermile
