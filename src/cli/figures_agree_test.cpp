// SPDX-License-Identifier: Apache-2.0
//
// Every output of a run has the same figures, to the last printed digit: the terminal's last text,
// the live line, `report --text`, the JSON summary, the page's data and the metrics. Whole logs,
// logs that were cut off, several GPUs and several phases.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "control/control_text.h"
#include "control/run_summary.h"
#include "record/figures_json.h"
#include "record/figures_text.h"
#include "record/job_status.h"
#include "record/report_data.h"
#include "record/serve/metrics.h"
#include "record/summary_text.h"
#include "testing/measured_runs.h"

namespace hypermile {
namespace {

const Setting kKept{.sm_clock = Mhz(1500)};
const Setting kTried{.sm_clock = Mhz(1200)};

struct Story {
  const char* name;
  int gpus = 1;
  std::uint32_t phases = 1;
  bool ends = true;
};

std::vector<EventBody> measured(const Story& story) {
  std::vector<EventBody> bodies;
  for (const Setting& setting : {Setting(), kTried, kKept}) {
    for (const double wobble : {-0.0013, 0.0002, 0.0011}) {
      for (int i = 0; i < story.gpus; ++i) {
        const MeasuredGpu card{GpuUuid(fmt::format("GPU-{}", i))};
        bodies.emplace_back(card.decision(setting, !(setting == kKept)));
        for (std::uint32_t phase = 0; phase < story.phases; ++phase) {
          const double slower = setting.empty() ? 1 : setting == kKept ? 1.031 : 1.4;
          const double watts = setting.empty() ? 300 : setting == kKept ? 255 : 240;
          bodies.emplace_back(
              card.window(setting, (0.1 / (1 + phase) + wobble) * slower, watts + 7 * i, phase));
        }
      }
    }
  }
  return bodies;
}

// The log of a run as text, as EventLog writes it.
std::string log_of(const Story& story) {
  std::string text;
  double seconds = 0;
  const auto write = [&](EventBody body) {
    text += to_json_line(event_at(seconds, std::move(body))) + "\n";
    seconds += 0.7;
  };
  RunStart start;
  start.run = RunId("r");
  write(start);
  Sample sample;
  for (const double joules : {1000.0, 3456.7}) {
    sample.energy = Joules(joules);
    for (int i = 0; i < story.gpus; ++i) {
      write(SampleEvent{GpuUuid(fmt::format("GPU-{}", i)), sample});
    }
    if (joules > 1000) continue;
    for (EventBody& body : measured(story)) write(std::move(body));
  }
  if (story.ends) {
    write(RunEnd{0, "the job ended", {{"seconds", 61.23}, {"joules", 2600.5 * story.gpus}}, {}});
  }
  return text;
}

class FiguresAgree : public ::testing::TestWithParam<Story> {
 protected:
  FiguresAgree() {
    text_ = log_of(GetParam());
    tail_.add(text_);
  }
  const RunDigest& run() const { return *tail_.runs().back(); }

  std::string text_;
  LogTail tail_{"log"};
};

// A metric's value, as Prometheus reads it. `label` is the last of its labels.
double metric(const std::string& text, const std::string& name, const std::string& label = "") {
  std::size_t at = text.find("\n" + name + "{");
  if (!label.empty() && at != std::string::npos) at = text.find(label + "} ", at);
  if (at == std::string::npos) return NAN;
  return std::stod(text.substr(text.find("} ", at) + 2));
}

TEST_P(FiguresAgree, InEveryOutput) {
  // What the live program holds at this moment.
  RunSummary summary;
  JobStatus live(std::nullopt);
  for (std::size_t begin = 0; begin < text_.size();) {
    const std::size_t end = text_.find('\n', begin);
    const Event event = *parse_event(std::string_view(text_).substr(begin, end - begin));
    summary.figures.add(event);
    live.take(event);
    begin = end + 1;
  }
  ControlOutcome control;
  for (std::uint32_t phase = 0; phase < GetParam().phases; ++phase) {
    control.summary.phases.emplace_back();
    control.summary.phases.back().process = 42;
    control.summary.phases.back().phase = phase;
  }
  const std::string terminal = to_text(summary) + to_text(control, summary.figures);
  const nlohmann::json document = to_json(summary);
  const nlohmann::json page = run_json(run(), "0", "log");
  const RunDigest* const runs[] = {&run()};
  const std::string metrics = Metrics(runs, {}, {}, 0).text();
  const JobTotals job = summary.figures.job();

  ASSERT_TRUE(job.energy_change && job.time_change && job.energy_change->half_width95);
  const std::string whole = job_text(job);
  EXPECT_NE(terminal.find(whole), std::string::npos) << terminal;
  EXPECT_NE(measured_text(run()).find(whole), std::string::npos) << measured_text(run());
  EXPECT_NE(live.line().find(job_short_text(job)), std::string::npos) << live.line();
  EXPECT_EQ(document.at("job"), page.at("job"));
  EXPECT_EQ(page.at("job"), job_json(summary.figures));
  EXPECT_NE(whole.find(fmt::format("{:.1f} ± {:.1f} % ",
                                   100 * std::abs(page["job"]["energy_change"].get<double>()),
                                   100 * page["job"]["energy_change_interval95"].get<double>())),
            std::string::npos)
      << whole;
  EXPECT_DOUBLE_EQ(metric(metrics, "hypermile_energy_saved_ratio"), -job.energy_change->value);
  EXPECT_DOUBLE_EQ(metric(metrics, "hypermile_slowdown_ratio"), job.time_change->value);
  EXPECT_DOUBLE_EQ(metric(metrics, "hypermile_saved_joules"), job.saved_j->value);

  const std::vector<JobPhase> phases = summary.figures.job_phases();
  ASSERT_EQ(phases.size(), GetParam().phases);
  const nlohmann::json in_control = to_json(control, summary.figures).at("phases");
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const std::string label = phases.size() > 1 ? fmt::format("phase {}: ", phases[i].phase) : "";
    EXPECT_EQ(phases[i].kept->setting, kKept);
    for (const std::string& lines :
         {default_text(phases[i], label), kept_text(phases[i], label), tried_text(phases[i])}) {
      EXPECT_NE(lines, "");
      EXPECT_NE(terminal.find(lines), std::string::npos) << lines << "in\n" << terminal;
      EXPECT_NE(measured_text(run()).find(lines), std::string::npos) << measured_text(run());
    }
    EXPECT_EQ(page.at("phases").at(i), phase_json(phases[i]));
    EXPECT_EQ(in_control.at(phases[i].phase).at("kept_measured"), page["phases"][i]["kept"]);
  }
  if (GetParam().gpus > 1) return;
  // Of a single GPU the charts' figures are the job's.
  for (const nlohmann::json& series : page.at("gpus").at(0).at("phases")) {
    if (!series.at("main").get<bool>()) continue;
    nlohmann::json at_default = series.at("settings").at(0);
    at_default["setting"].erase("label");
    EXPECT_EQ(at_default, page["phases"][0]["settings"][0]);
  }
  const double joules = phases[0].at({})->energy_j->value;
  EXPECT_DOUBLE_EQ(metric(metrics, "hypermile_iteration_joules", "setting=\"default\""), joules);
}

INSTANTIATE_TEST_SUITE_P(Logs, FiguresAgree,
                         ::testing::Values(Story{"Whole"}, Story{"CutOff", 1, 1, false},
                                           Story{"SeveralGpus", 3}, Story{"SeveralPhases", 1, 2},
                                           Story{"GpusAndPhasesCutOff", 2, 2, false}),
                         [](const auto& story) { return std::string(story.param.name); });

}  // namespace
}  // namespace hypermile
