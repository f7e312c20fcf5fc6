// SPDX-License-Identifier: Apache-2.0
#include "record/figures_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

TEST(FiguresText, WordsMoreEnergyAsUsedAndLessAsSaved) {
  EXPECT_EQ(energy_text({-0.103, 0.008}), "10.3 ± 0.8 % energy saved");
  EXPECT_EQ(energy_text({0.302, 0.014}), "used 30.2 ± 1.4 % more energy");
  EXPECT_EQ(energy_text({-0.1, std::nullopt}), "10.0 % energy saved");
}

TEST(FiguresText, WordsMoreTimeAsSlowerAndLessAsFaster) {
  EXPECT_EQ(time_text({0.032, 0.004}), "3.2 ± 0.4 % slower");
  EXPECT_EQ(time_text({-0.01, std::nullopt}), "1.0 % faster");
}

TEST(FiguresText, HasAsManyDigitsAsTheSizeNeeds) {
  EXPECT_EQ(duration_text({0.05462, 0.00003}), "54.62 ± 0.03 ms");
  EXPECT_EQ(duration_text({0.465, 0.0002}), "465.0 ± 0.2 ms");
  EXPECT_EQ(duration_text({2.5, std::nullopt}), "2.50 s");
  EXPECT_EQ(amount_text({0.25, 0.01}, "J"), "0.2500 ± 0.0100 J");
}

JobTotals job(double joules, double seconds) {
  JobTotals totals;
  totals.joules = joules;
  totals.seconds = seconds;
  totals.default_joules = 1000;
  totals.default_seconds = 100;
  totals.saved_j = Estimate{1000 - joules};
  totals.lost_s = Estimate{seconds - 100};
  totals.energy_change = Estimate{joules / 1000 - 1, 0.008};
  totals.time_change = Estimate{seconds / 100 - 1, 0.004};
  return totals;
}

TEST(FiguresText, TellsTheWholeJobAgainstTheDefault) {
  EXPECT_EQ(job_text(job(897, 103.2)),
            "the whole job, search included, against the default: 10.3 ± 0.8 % energy saved "
            "(897 J instead of 1000 J), 3.2 ± 0.4 % slower (103.2 s instead of 100.0 s)");
  EXPECT_EQ(job_short_text(job(897, 103.2)), "saved 103 J (10.3 %), 3.2 % slower");
  EXPECT_EQ(job_short_text(job(1302, 99)), "used 302 J more (30.2 %), 1.0 % faster");
  EXPECT_EQ(job_text({}), "");
}

TEST(FiguresText, SpeaksOfSharesAsPeopleDo) {
  const std::vector<SettingShare> shares = {
      {{}, 0.1}, {{.sm_clock = Mhz(1410)}, 0.3}, {{.sm_clock = Mhz(1695)}, 0.6}};

  EXPECT_EQ(spoken(shares, 3, "of the time"),
            "60 % of the time at 1695 MHz, 30 % at 1410 MHz, 10 % at the default");
  EXPECT_EQ(spoken(shares, 1, "of the time"), "60 % of the time at 1695 MHz, 40 % at others");
  EXPECT_EQ(spoken(std::vector<SettingShare>{{{.sm_clock = Mhz(1410)}, 1}}, 3, "of the time"),
            "1410 MHz");
  EXPECT_EQ(
      spoken(Setting{.sm_clock = Mhz(1410), .memory_clock = Mhz(810), .power_limit = Watts(200)}),
      "1410 MHz and a memory clock of 810 MHz and a limit of 200 W");
}

TEST(FiguresText, IsAsSureOfTheBoundAsTheFigureBesideIt) {
  JobTotals slow = job(897, 105.3);
  slow.time_change->half_width95 = 0.018;

  EXPECT_EQ(bound_text(slow, 0.05),
            "  37 % sure that the whole job, 5.3 ± 1.8 % slower, kept the bound of 5.0 %\n");
  EXPECT_EQ(bound_text(job(897, 103.2), 0.05),
            "  100 % sure that the whole job, 3.2 ± 0.4 % slower, kept the bound of 5.0 %\n");
  slow.time_change->half_width95.reset();
  EXPECT_EQ(bound_text(slow, 0.05), "") << "nobody knows how sure that is";
}

TEST(FiguresText, NamesARunAtTheDefault) {
  JobTotals totals = job(897, 103.2);
  totals.against_default_run = true;

  EXPECT_NE(job_text(totals).find("against a run at the default: "), std::string::npos);
}

TEST(FiguresText, ATimeThatIsNoDateIsNotKnown) {
  EXPECT_EQ(date_text(0, DatePlace::kUtc), "1970-01-01 00:00");
  for (const double wrong : {1e308, -1.0, 3e11, std::nan("")})
    EXPECT_EQ(date_text(wrong, DatePlace::kUtc), "no known time");
}

TEST(FiguresText, ABillReadsAsASentence) {
  JobBill bill;
  bill.kwh = 0.0421;
  EXPECT_EQ(bill_text(bill), "0.0421 kWh of the GPUs");
  bill.tariff = {Price{0.3, "EUR"}, CarbonIntensity{380, "as given"}};
  bill.saved_kwh = 0.005;
  EXPECT_EQ(bill_text(bill),
            "0.0421 kWh of the GPUs, 0.0126 EUR, 16.0 g CO₂e; saved 0.00150 EUR, 1.90 g CO₂e");
  bill.saved_kwh = -0.005;
  bill.host_joules = 3600;
  bill.kwh = 12.5;
  EXPECT_EQ(bill_text(bill),
            "12.5 kWh of the GPUs and, 3600 J of it, the host's processors, 3.75 EUR, "
            "4.75 kg CO₂e; used more: 0.00150 EUR, 1.90 g CO₂e");
}

}  // namespace
}  // namespace hypermile
