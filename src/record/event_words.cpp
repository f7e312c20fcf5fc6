// SPDX-License-Identifier: Apache-2.0
#include "record/event_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace hypermile {
namespace {

using Words = std::optional<EventWords>;

std::string because(const std::string& reason) {
  return reason.empty() ? "" : ": " + reason;
}

bool flag(const std::map<std::string, double>& numbers, const char* name) {
  const auto found = numbers.find(name);
  return found != numbers.end() && found->second != 0;
}

// The name of a state without underscores.
std::string plain(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string unit_of(const std::string& quantity) {
  if (quantity == "power") return " W";
  return quantity == "sm_clock" ? " MHz" : " s";
}

struct Teller {
  const std::string& decided;  // the reason of the decision before; it is not told again

  Words operator()(const RunStart&) const { return {}; }
  Words operator()(const SampleEvent&) const { return {}; }
  Words operator()(const Forecast&) const { return {}; }
  Words operator()(const DriverCalls&) const { return {}; }
  Words operator()(const FeaturesEvent& e) const {
    return EventWords{"job", fmt::format("{} features of the job are known", e.values.size())};
  }

  Words operator()(const WindowEvent& e) const {
    if (e.window.aborted) {
      return EventWords{"change", fmt::format("{} is plainly too slow: its window was cut short",
                                              to_string(e.window.setting))};
    }
    if (e.window.unusable.empty()) return {};
    return EventWords{"problem", fmt::format("a window at {} cannot be used: {}",
                                             to_string(e.window.setting), e.window.unusable)};
  }
  Words operator()(const GpuEvent& e) const {
    return EventWords{"job", fmt::format("the job uses {}", e.gpu.name)};
  }
  Words operator()(const ProcessEvent& e) const {
    const std::string name =
        e.name.empty() ? fmt::format("{}", e.process) : fmt::format("{} ({})", e.process, e.name);
    return EventWords{"job",
                      fmt::format("process {} is {}{}", name, plain(e.status), because(e.reason))};
  }
  Words operator()(const ProgressEvent& e) const {
    if (e.state == "locked" && e.phase) {
      return EventWords{"job", fmt::format("iterations are known from {}, phase {}{}", e.source,
                                           *e.phase, e.known_phase ? ", seen before" : "")};
    }
    if (e.state == "ended") return {};
    return EventWords{"job", e.state == "idle" ? "the job is paused" : "looking for iterations"};
  }
  Words operator()(const Decision& e) const {
    if (e.policy == "truth") return {};
    const bool exploring = flag(e.numbers, "exploring");
    const std::string name = to_string(e.setting);
    const std::string what = e.setting.empty()
                                 ? (exploring ? "measure the default" : "stay at the default")
                                 : (exploring ? "try " : "keep ") + name;
    // A reason that begins with the setting's name would say it twice.
    const bool named = !e.setting.empty() && e.reason.starts_with(name + " ");
    const std::string why = named ? ", which" + e.reason.substr(name.size()) : because(e.reason);
    const std::string sure =
        e.confidence && !e.setting.empty() && e.policy == "hypermile"
            ? fmt::format(" ({:.0f} % sure that the whole job keeps its bound)",
                          100 * *e.confidence)
            : "";
    return EventWords{"decision", what + why + sure};
  }
  Words operator()(const SettingChange& e) const {
    if (e.accepted) return {};
    return EventWords{"problem", fmt::format("{} was not accepted{}", to_string(e.requested),
                                             because(e.problem))};
  }
  Words operator()(const StateChange& e) const {
    const bool moved = e.previous != e.state;
    const bool told = !e.reason.empty() && e.reason == decided;
    if (!moved && (told || e.reason.empty())) return {};
    const std::string from = moved && !e.previous.empty() ? plain(e.previous) + " → " : "";
    return EventWords{"state", from + plain(e.state) + (told ? "" : because(e.reason))};
  }
  Words operator()(const Drift& e) const {
    return EventWords{"change",
                      fmt::format("{} changed for good, from {:.4g} to {:.4g}{}", plain(e.quantity),
                                  e.before, e.after, unit_of(e.quantity))};
  }
  Words operator()(const Throttle& e) const {
    if (e.reasons.bits == 0) return EventWords{"change", "throttling has ended"};
    return EventWords{"change", "the card is held back: " + to_string(e.reasons)};
  }
  Words operator()(const ErrorEvent& e) const { return EventWords{"problem", e.error.line()}; }
  Words operator()(const RunEnd& e) const {
    return EventWords{"job", fmt::format("{}, exit code {}", e.reason, e.exit_code)};
  }
};

}  // namespace

std::optional<EventWords> words_of(const EventBody& body, const std::string& decided) {
  return std::visit(Teller{decided}, body);
}

std::string job_words(const RunStart& start) {
  const auto dashes = std::ranges::find(start.command, "--");
  const bool job = dashes != start.command.end() && dashes + 1 != start.command.end();
  std::string words;
  for (auto word = job ? dashes + 1 : start.command.begin(); word != start.command.end(); ++word) {
    words += (words.empty() ? "" : " ") + *word;
  }
  return words;
}

}  // namespace hypermile
