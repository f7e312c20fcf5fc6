// SPDX-License-Identifier: Apache-2.0
//
// Figures as people read them, for the terminal and for `hypermile report --text`. The whole job
// comes first; figures of one setting are named as such. Less energy is "saved", more is "used
// more"; more time is "slower", less is "faster".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/run_figures.h"

namespace hypermile {

// "54.62 ± 0.03 ms"; seconds from 1 s on.
std::string duration_text(const Estimate& seconds);
// "33.10 ± 0.20 J"
std::string amount_text(const Estimate& amount, const char* unit);
// "10.3 ± 0.8 % energy saved", "used 30.2 ± 1.4 % more energy"
std::string energy_text(const Estimate& change);
// "3.2 ± 0.4 % slower", "1.0 % faster"
std::string time_text(const Estimate& change);
// "1410 MHz and a memory clock of 810 MHz", or "the default"
std::string spoken(const Setting& setting);
// "62 % of the time at 1695 MHz, 38 % at 1410 MHz", the largest share first, where `whole` is "of
// the time"; one setting alone without a share. Beyond `most`: "at others".
std::string spoken(std::vector<SettingShare> shares, std::size_t most, std::string_view whole);
// What is kept, by its share of the time; "" where one setting is kept.
std::string mix_text(const JobPhase& phase);
// "54.62 ± 0.03 ms and 33.10 ± 0.20 J an iteration, from 9 windows"
std::string cost_text(const SettingCost& cost);

// "15.0 ± 2.3 % energy saved, 2.0 ± 2.8 % slower", per iteration against the default
std::string change_text(const SettingCost& cost);

// One sentence about the whole job against the default; "" where nothing can be compared.
std::string job_text(const JobTotals& job);
// "66 % sure that the whole job, 4.5 ± 2.3 % slower, kept the bound of 5.0 %", on a line of its
// own;
// "" where the error of the time is not known.
std::string bound_text(const JobTotals& job, double bound);
// "saved 1886 J (11.1 %), 3.4 % slower": the same in short, for a line that is renewed.
std::string job_short_text(const JobTotals& job);

// "0.0421 kWh of the GPUs, 0.0126 EUR, 16.0 g CO₂e; saved 0.0005 EUR, 0.6 g CO₂e"
std::string bill_text(const JobBill& bill);

// "2026-11-18 15:27", in UTC or at this machine's place; "no known time" for a number that is no
// date of the next 8,000 years, as a damaged log may have.
enum class DatePlace { kUtc, kHere };
std::string date_text(double unix_time, DatePlace place);

// Indented lines about one phase; each begins with `label` where it is not empty. "" where nothing
// was measured.
std::string default_text(const JobPhase& phase, const std::string& label);
std::string kept_text(const JobPhase& phase, const std::string& label);
std::string tried_text(const JobPhase& phase);

}  // namespace hypermile
