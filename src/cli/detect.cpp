// SPDX-License-Identifier: Apache-2.0
//
// `hypermile detect`: finds the iterations of a training job in a recording of its kernel launches
// or of the sensors of NVML. Where the answer is not certain it gives none and says why. A file
// that cannot be read or is broken is an error; a file in which nothing is found is not.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.h"
#include "progress/recording.h"
#include "progress/recording_summary.h"
#include "progress/spectrum/nvml_trace_file.h"
#include "progress/spectrum/spectral_detector.h"

namespace hypermile {
namespace {

// What was found in a recording of either kind; `levels` is empty where nothing was.
struct Detection {
  std::vector<LevelSummary> levels;  // inner to outer
  double iterations = 0;
  double confidence = 0;
  std::vector<double> changes_s;
  std::string reason;
};

Result<Detection> detect_in_launches(const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<Launch> launches, read_launches(path));
  RecordingSummary summary = summarize_recording(launches);
  Detection detection;
  detection.levels = std::move(summary.levels);
  detection.iterations = std::round(summary.iterations);
  detection.confidence = summary.confidence;
  for (const Instant change : summary.changes) {
    detection.changes_s.push_back(change.since_origin().value());
  }
  detection.reason = std::move(summary.reason);
  return detection;
}

Result<Detection> detect_in_sensors(const std::string& path) {
  ASSIGN_OR_RETURN(const NvmlTrace trace, read_nvml_trace(path));
  SpectralAnswer answer = detect_period(trace);
  Detection detection;
  detection.confidence = answer.confidence;
  detection.reason = std::move(answer.reason);
  if (!answer.period) return detection;
  detection.iterations = std::round(answer.iterations);
  detection.levels.push_back({*answer.period, detection.iterations});
  return detection;
}

nlohmann::json json_of(const Detection& detection) {
  const bool resolved = !detection.levels.empty();
  nlohmann::json levels = nlohmann::json::array();
  for (const LevelSummary& level : detection.levels) {
    levels.push_back(
        {{"period_s", level.period.value()}, {"iterations", std::round(level.iterations)}});
  }
  nlohmann::json json = {{"resolved", resolved},
                         {"period_s", nullptr},
                         {"iterations", detection.iterations},
                         {"confidence", detection.confidence},
                         {"levels", std::move(levels)},
                         {"changes_s", detection.changes_s}};
  if (resolved) {
    json["period_s"] = detection.levels.back().period.value();
  } else {
    json["reason"] = detection.reason;
  }
  return json;
}

std::string duration(Seconds time) {
  return time < Seconds(1) ? fmt::format("{:.4g} ms", time.value() * 1e3)
                           : fmt::format("{:.4g} s", time.value());
}

std::string text_of(const Detection& detection) {
  if (detection.levels.empty()) return fmt::format("not resolved: {}\n", detection.reason);
  std::string text =
      fmt::format("{:.0f} iterations of {} (confidence {:.2f})\n", detection.iterations,
                  duration(detection.levels.back().period), detection.confidence);
  for (std::size_t i = 0; i + 1 < detection.levels.size(); ++i) {
    const LevelSummary& level = detection.levels[i];
    text += fmt::format("  each has about {:.0f} steps of {}\n",
                        detection.levels.back().period / level.period, duration(level.period));
  }
  for (const double change : detection.changes_s) {
    text += fmt::format("  another pattern from {:.3f} s on\n", change);
  }
  return text;
}

Result<void> run_detect(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& options = arguments.options;
  if (options.given("launches") == options.given("nvml")) {
    return Error{ErrorCode::kUsage, "detect needs one recording",
                 "give either --launches F.csv or --nvml F.csv"};
  }
  ASSIGN_OR_RETURN(const Detection detection, options.given("launches")
                                                  ? detect_in_launches(options.text("launches"))
                                                  : detect_in_sensors(options.text("nvml")));
  if (options.flag("json")) {
    context.out << json_of(detection).dump() << "\n";
  } else {
    context.out << text_of(detection);
  }
  return {};
}

}  // namespace

const Command kDetectCommand = {
    "detect",
    "find the iterations of a training job in a recording",
    "",
    "  hypermile detect --launches resnet50.csv.gz    kernel launches: columns t_s and kernel\n"
    "  hypermile detect --nvml resnet50.csv --json     power, energy, utilisation over time\n",
    run_detect,
    /*runs_command=*/false,
    /*holds_nothing=*/true,
};

}  // namespace hypermile
