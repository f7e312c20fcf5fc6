// SPDX-License-Identifier: Apache-2.0
//
// What `hypermile doctor --try` prints; see knob_trial.h.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/terminal_text.h"
#include "base/version.h"
#include "cli/knob_trial.h"

namespace hypermile {
namespace {

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:g}", *value) : "-";
}

std::string ms(const std::optional<Seconds>& value) {
  return value ? fmt::format("{:.1f} ms", value->value() * 1e3) : "-";
}

std::string verdict(const KnobTrial& knob) {
  if (!knob.problem.empty()) return "FAILED: " + knob.problem;
  if (!knob.asked) return knob.note;
  return knob.note.empty() ? "ok" : "ok; " + knob.note;
}

nlohmann::json value_or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json seconds_or_null(const std::optional<Seconds>& value) {
  return value ? nlohmann::json(value->value()) : nlohmann::json(nullptr);
}

}  // namespace

std::string to_text(const CardTrial& trial) {
  std::string text = fmt::format(
      "--- hypermile {} doctor --try ---\ncard    {} ({})\ndriver  {}\nlease   from {}\n"
      "{:<6} {:>7} {:>7} {:>7} {:>9} {:>10} {:>7} {:>11}\n",
      kVersion, trial.identity.name, trial.identity.uuid.text(), trial.identity.driver_version,
      trial.guarded ? "a guardian" : "the daemon", "knob", "before", "asked", "reads", "set in",
      "seen after", "after", "restored in");
  for (const KnobTrial& knob : trial.knobs) {
    constexpr std::size_t kVerdicts = 7;
    text +=
        fmt::format("{:<6} {:>7} {:>7} {:>7} {:>9} {:>10} {:>7} {:>11}\n       {}\n",
                    to_string(knob.knob), number(knob.before), number(knob.asked),
                    number(knob.seen), ms(knob.set_took), ms(knob.seen_after), number(knob.after),
                    ms(knob.restore_took), wrapped(verdict(knob), kVerdicts, kVerdicts));
  }
  if (!trial.problem.empty()) text += "FAILED: " + trial.problem + "\n";
  return text + fmt::format("--- {:.1f} s; clocks in MHz, limits in W ---\n", trial.took.value());
}

nlohmann::json to_json(const CardTrial& trial) {
  nlohmann::json knobs = nlohmann::json::array();
  for (const KnobTrial& knob : trial.knobs) {
    knobs.push_back({{"knob", to_string(knob.knob)},
                     {"before", value_or_null(knob.before)},
                     {"asked", value_or_null(knob.asked)},
                     {"seen", value_or_null(knob.seen)},
                     {"after", value_or_null(knob.after)},
                     {"set_s", seconds_or_null(knob.set_took)},
                     {"seen_after_s", seconds_or_null(knob.seen_after)},
                     {"restore_s", seconds_or_null(knob.restore_took)},
                     {"note", knob.note},
                     {"problem", knob.problem}});
  }
  return {{"uuid", trial.identity.uuid.text()},
          {"name", trial.identity.name},
          {"driver", trial.identity.driver_version},
          {"lease", trial.guarded ? "guardian" : "daemon"},
          {"held", trial.held()},
          {"problem", trial.problem},
          {"seconds", trial.took.value()},
          {"knobs", std::move(knobs)}};
}

}  // namespace hypermile
