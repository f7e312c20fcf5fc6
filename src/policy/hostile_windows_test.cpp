// SPDX-License-Identifier: Apache-2.0
//
// What every policy of the table owes to whoever runs it, whatever it is shown: Settings of the
// list, Windows of a sensible length, the same answers to the same questions, and the default when
// nothing can be measured.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

std::vector<PolicyContext> contexts() {
  std::vector<PolicyContext> out = {clock_job(0.5).context, limit_job().context,
                                    memory_job(0.2).context};
  PolicyContext only_default;
  only_default.settings = {Setting{}};
  PolicyContext two;
  two.settings = {{}, {.power_limit = Watts(100)}};
  PolicyContext all_knobs;
  all_knobs.settings = {{},
                        {.sm_clock = Mhz(1200)},
                        {.power_limit = Watts(200)},
                        {.sm_clock = Mhz(1200), .power_limit = Watts(200)},
                        {.memory_clock = Mhz(810)},
                        {.sm_clock = Mhz(900), .memory_clock = Mhz(810)}};
  PolicyContext tangled;
  tangled.settings = {{}, {.sm_clock = Mhz(900), .power_limit = Watts(200)}};
  PolicyContext memory_only;
  memory_only.settings = {{}, {.memory_clock = Mhz(5001)}, {.memory_clock = Mhz(810)}};
  for (const PolicyContext& more : {only_default, two, all_knobs, tangled, memory_only}) {
    out.push_back(more);
  }
  for (PolicyContext& context : out) context.traces = true;
  return out;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const PolicyEntry& entry : policy_table()) {
    if (entry.name != "oracle" && !entry.name.starts_with("fixed:")) out.emplace_back(entry.name);
  }
  return out;
}

double hostile_value(Random& random) {
  static constexpr double kValues[] = {0.1, 0.1,      0.1,       0.2,   1,      200, 0,   -1,
                                       NAN, INFINITY, -INFINITY, 1e300, 1e-300, 1e9, 1e-9};
  return kValues[random.bits() % std::size(kValues)];
}

Window hostile_window(const Setting& setting, Random& random) {
  Window w;
  w.setting = setting;
  w.iterations = hostile_value(random);
  if (random.uniform() < 0.9) w.time_per_iteration = Seconds(hostile_value(random));
  if (random.uniform() < 0.9) w.power = Watts(hostile_value(random));
  if (random.uniform() < 0.3) w.time_error = hostile_value(random);
  if (random.uniform() < 0.3) w.power_error = hostile_value(random);
  if (random.uniform() < 0.3) w.sm_clock = Mhz(hostile_value(random));
  w.throttled_share = random.uniform();
  w.aborted = random.uniform() < 0.1;
  if (random.uniform() < 0.2) w.unusable = "hostile";
  return w;
}

// The Settings asked for; checks each Step on the way.
std::vector<std::size_t> torment(const std::string& name, const PolicyContext& context,
                                 std::uint64_t seed) {
  auto made = make_policy(name, context);
  EXPECT_TRUE(made.ok()) << name;
  std::vector<std::size_t> asked;
  if (!made) return asked;
  LedgeredPolicy policy(std::move(*made), context);
  Random random(seed);
  for (int i = 0; i < 300; ++i) {
    const Step step = policy.next();
    EXPECT_LT(step.setting, context.settings.size()) << name;
    EXPECT_GE(step.iterations, 1) << name;
    EXPECT_LE(step.iterations, 1e6) << name;
    EXPECT_FALSE(step.abort_above && !(*step.abort_above > Seconds(0))) << name;
    if (step.setting >= context.settings.size()) return asked;
    asked.push_back(step.setting);
    policy.observe(hostile_window(context.settings[step.setting], random));
  }
  return asked;
}

TEST(EveryPolicy, KeepsToItsListAndRepeatsItselfUnderHostileWindows) {
  for (const std::string& name : names()) {
    for (PolicyContext context : contexts()) {
      for (const char* objective : {"energy", "edp", "ed2p", "cost:0.3"}) {
        context.objective = *parse_objective(objective);

        const auto first = torment(name, context, 5);

        EXPECT_EQ(first, torment(name, context, 5)) << name;
      }
    }
  }
}

TEST(EveryPolicy, EndsAtTheDefaultWhenNothingCanBeMeasured) {
  Window useless;
  useless.unusable = "nothing seen";
  for (const std::string& name : names()) {
    for (const PolicyContext& context : contexts()) {
      LedgeredPolicy policy(*make_policy(name, context), context);

      for (int i = 0; i < 50; ++i) {
        policy.next();
        policy.observe(useless);
      }

      EXPECT_EQ(policy.next().setting, 0U) << name;
      EXPECT_FALSE(policy.next().exploring) << name;
    }
  }
}

TEST(EveryPolicy, StopsExploringAQuietJob) {
  for (const std::string& name : names()) {
    for (const SyntheticJob& job : {clock_job(0.5), limit_job(), memory_job(0.2)}) {
      LedgeredPolicy policy(*make_policy(name, job.context), job.context, 6000);
      play(policy, job, 100);

      EXPECT_LE(play(policy, job, 100).probes.size(), 20U) << name;
    }
  }
}

TEST(EveryPolicy, KeepsTheBoundAndCostsNothingOnAQuietJob) {
  for (const std::string& name : names()) {
    for (const SyntheticJob& job : {clock_job(0.3), limit_job(), memory_job(0.1)}) {
      const Played played = play(name, job, 300);
      // Our own policy shares the job's time: its mean counts, and no Setting crawls.
      const bool shares = name == "hypermile";

      EXPECT_LE(shares ? played.time - 1 : job.slowdown(played.kept), 0.05) << name;
      EXPECT_LE(job.slowdown(played.kept), 0.1) << name;
      EXPECT_LE(job.energy(played.kept), job.energy(0)) << name;
    }
  }
}

}  // namespace
}  // namespace hypermile
