// SPDX-License-Identifier: Apache-2.0
#include "record/figures_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <vector>

#include "base/statistics.h"
#include "base/terminal_text.h"

namespace hypermile {
namespace {

// "10.3 ± 0.8 %", without a sign: the words around it tell the direction.
std::string percent(const Estimate& change) {
  std::string text = fmt::format("{:.1f}", 100 * std::abs(change.value));
  if (change.half_width95) text += fmt::format(" ± {:.1f}", 100 * *change.half_width95);
  return text + " %";
}

}  // namespace

std::string amount_text(const Estimate& amount, const char* unit) {
  const double size = std::abs(amount.value);
  const int digits = size < 1 ? 4 : size < 100 ? 2 : 1;
  std::string text = fmt::format("{:.{}f}", amount.value, digits);
  if (amount.half_width95) text += fmt::format(" ± {:.{}f}", *amount.half_width95, digits);
  return fmt::format("{} {}", text, unit);
}

std::string duration_text(const Estimate& seconds) {
  if (seconds.value < 1) return amount_text(scaled(seconds, 1e3), "ms");
  return amount_text(seconds, "s");
}

std::string energy_text(const Estimate& change) {
  if (change.value > 0) return fmt::format("used {} more energy", percent(change));
  return percent(change) + " energy saved";
}

std::string time_text(const Estimate& change) {
  return percent(change) + (change.value < 0 ? " faster" : " slower");
}

std::string cost_text(const SettingCost& cost) {
  std::vector<std::string> parts;
  if (cost.time_s) parts.push_back(duration_text(*cost.time_s));
  if (cost.energy_j) parts.push_back(amount_text(*cost.energy_j, "J"));
  return fmt::format("{} an iteration, from {} window{}", fmt::join(parts, " and "), cost.windows,
                     cost.windows == 1 ? "" : "s");
}

std::string change_text(const SettingCost& cost) {
  std::vector<std::string> parts;
  if (cost.energy_change) parts.push_back(energy_text(*cost.energy_change));
  if (cost.time_change) parts.push_back(time_text(*cost.time_change));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string job_text(const JobTotals& job) {
  std::vector<std::string> parts;
  if (job.energy_change) {
    parts.push_back(fmt::format("{} ({:.0f} J instead of {:.0f} J)",
                                energy_text(*job.energy_change), *job.joules, *job.default_joules));
  }
  if (job.time_change) {
    parts.push_back(fmt::format("{} ({:.1f} s instead of {:.1f} s)", time_text(*job.time_change),
                                job.seconds, *job.default_seconds));
  }
  if (parts.empty()) return "";
  return fmt::format("the whole job, search included, against {}: {}",
                     job.against_default_run ? "a run at the default" : "the default",
                     fmt::join(parts, ", "));
}

std::string bound_text(const JobTotals& job, double bound) {
  if (!job.time_change || !job.time_change->half_width95) return "";
  const double error = *job.time_change->half_width95 / normal_half_width95();
  const double margin = bound - job.time_change->value;
  const double sure = error > 0 ? normal_cdf(margin / error) : margin >= 0 ? 1 : 0;
  return fmt::format("  {:.0f} % sure that the whole job, {}, kept the bound of {:.1f} %\n",
                     100 * sure, time_text(*job.time_change), 100 * bound);
}

std::string job_short_text(const JobTotals& job) {
  std::vector<std::string> parts;
  if (job.energy_change) {
    const double joules = std::abs(job.saved_j->value);
    const double share = 100 * std::abs(job.energy_change->value);
    parts.push_back(job.saved_j->value < 0
                        ? fmt::format("used {:.0f} J more ({:.1f} %)", joules, share)
                        : fmt::format("saved {:.0f} J ({:.1f} %)", joules, share));
  }
  if (job.time_change) parts.push_back(time_text({job.time_change->value, std::nullopt}));
  return fmt::format("{}", fmt::join(parts, ", "));
}

namespace {

// Three digits that matter, however small the amount; whole numbers from 1000 on.
std::string short_amount(double amount) {
  const double size = std::abs(amount);
  if (size >= 1000 || size == 0) return fmt::format("{:.0f}", amount);
  return fmt::format("{:.{}f}", amount,
                     std::max(0, 2 - static_cast<int>(std::floor(std::log10(size)))));
}

// "0.30 EUR" and "380 g CO₂e" for an energy, in that order; those that are known.
std::vector<std::string> priced(const JobBill& bill, double kwh) {
  std::vector<std::string> parts;
  if (const auto cost = bill.cost(kwh)) {
    parts.push_back(fmt::format("{} {}", short_amount(*cost), bill.tariff.price->currency));
  }
  if (const auto grams = bill.co2e_g(kwh)) {
    parts.push_back(*grams < 1000 ? fmt::format("{} g CO₂e", short_amount(*grams))
                                  : fmt::format("{} kg CO₂e", short_amount(*grams / 1e3)));
  }
  return parts;
}

}  // namespace

std::string bill_text(const JobBill& bill) {
  std::vector<std::string> parts = {fmt::format(
      "{} kWh of the GPUs{}", short_amount(bill.kwh),
      bill.host_joules
          ? fmt::format(" and, {:.0f} J of it, the host's processors", *bill.host_joules)
          : "")};
  for (std::string& part : priced(bill, bill.kwh)) parts.push_back(std::move(part));
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (!bill.saved_kwh) return text;
  const std::vector<std::string> saved = priced(bill, std::abs(*bill.saved_kwh));
  if (saved.empty()) return text;
  return fmt::format("{}; {} {}", text, *bill.saved_kwh < 0 ? "used more:" : "saved",
                     fmt::join(saved, ", "));
}

std::string date_text(double unix_time, DatePlace place) {
  constexpr double kYear10000 = 253'402'300'800.0;
  if (!(unix_time >= 0 && unix_time < kYear10000)) return "no known time";
  const auto seconds = static_cast<std::time_t>(unix_time);
  return fmt::format("{:%Y-%m-%d %H:%M}",
                     place == DatePlace::kUtc ? fmt::gmtime(seconds) : fmt::localtime(seconds));
}

std::string spoken(const Setting& setting) {
  std::vector<std::string> parts;
  if (setting.sm_clock) parts.push_back(fmt::format("{:g} MHz", setting.sm_clock->value()));
  if (setting.memory_clock) {
    parts.push_back(fmt::format("a memory clock of {:g} MHz", setting.memory_clock->value()));
  }
  if (setting.power_limit) {
    parts.push_back(fmt::format("a limit of {:g} W", setting.power_limit->value()));
  }
  return parts.empty() ? "the default" : fmt::format("{}", fmt::join(parts, " and "));
}

std::string spoken(std::vector<SettingShare> shares, std::size_t most, std::string_view whole) {
  std::ranges::stable_sort(shares, std::ranges::greater{}, &SettingShare::share);
  // A share that rounds to nothing is not worth a reader's time.
  std::erase_if(shares, [](const SettingShare& one) { return one.share < 0.005; });
  if (shares.size() < 2) return spoken(shares.empty() ? Setting() : shares.front().setting);
  std::string text;
  double others = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (i >= most) {
      others += shares[i].share;
      continue;
    }
    text += fmt::format("{}{:.0f} % {}at {}", i > 0 ? ", " : "", 100 * shares[i].share,
                        i > 0 ? "" : fmt::format("{} ", whole), spoken(shares[i].setting));
  }
  if (others > 0) text += fmt::format(", {:.0f} % at others", 100 * others);
  return text;
}

std::string mix_text(const JobPhase& phase) {
  constexpr std::size_t kMost = 3;
  return phase.shares.empty() ? "" : spoken(phase.shares, kMost, "of the time");
}

std::string default_text(const JobPhase& phase, const std::string& label) {
  const SettingCost* usual = phase.at({});
  return usual != nullptr ? fmt::format("    {}default: {}\n", label, cost_text(*usual)) : "";
}

std::string kept_text(const JobPhase& phase, const std::string& label) {
  if (!phase.kept) return "";
  if (phase.kept->setting.empty() && phase.kept_each.empty() && phase.shares.empty()) return "";
  std::vector<std::string> settings;
  for (const Setting& each : phase.kept_each) settings.push_back(to_string(each));
  if (!phase.shares.empty()) settings = {mix_text(phase)};
  if (settings.empty()) settings.push_back(to_string(phase.kept->setting));
  std::string text =
      fmt::format("    {}kept {}: {}\n", label, fmt::join(settings, ", "), cost_text(*phase.kept));
  if (const std::string change = change_text(*phase.kept); !change.empty()) {
    text += fmt::format("      at {}, per iteration: {}\n",
                        phase.shares.empty() ? "the kept setting" : "that mix", change);
  }
  return text;
}

std::string tried_text(const JobPhase& phase) {
  constexpr std::size_t kMost = 8;  // the report and --json have all
  std::string text;
  std::size_t tried = 0;
  for (const SettingCost& each : phase.settings) {
    if (each.setting.empty() || each.kept || ++tried > kMost) continue;
    const std::string change = change_text(each);
    text += fmt::format("      tried {}{}{}\n", to_string(each.setting), change.empty() ? "" : ": ",
                        change);
  }
  if (tried > kMost) text += fmt::format("      and {}\n", counted(tried - kMost, "other setting"));
  return text;
}

}  // namespace hypermile
