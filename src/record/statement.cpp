// SPDX-License-Identifier: Apache-2.0
#include "record/statement.h"

#include <algorithm>
#include <cmath>

#include "record/event_words.h"

namespace hypermile {
namespace {

struct Runs {
  std::map<std::string, std::vector<MeteredInterval>> by_gpu;   // UUID
  std::map<std::string, std::vector<MeteredInterval>> by_host;  // its processors
  std::map<std::string, EnergyStatement::Hardware> cards;       // UUID
};

// What each GPU used. The run's total is shared by what the counters in its log show, so that the
// statement says what the run said.
void meter(const RunDigest& run, double begin, double end, Runs& runs) {
  const JobTotals job = run.figures().job();
  if (!job.joules) return;
  double counted = 0;
  for (const auto& gpu : run.gpus()) {
    if (const auto used = run.figures().energy(gpu->identity.uuid)) counted += used->value();
  }
  const auto cards = static_cast<double>(std::max<std::size_t>(run.gpus().size(), 1));
  for (const auto& gpu : run.gpus()) {
    const auto used = run.figures().energy(gpu->identity.uuid);
    const bool known = used && used->value() > 0;
    if (counted > 0 && !known) continue;
    const double joules = known ? *job.joules * used->value() / counted : *job.joules / cards;
    runs.by_gpu[gpu->identity.uuid.text()].push_back({begin, end, joules, !known});
  }
}

void note_disagreement(const RunDigest& run, EnergyStatement& statement) {
  for (const PhaseFigures& phase : run.figures().phases()) {
    for (const SettingCost& cost : phase.costs()) {
      if (!cost.energy_disagreement) continue;
      statement.disagreement =
          std::max(statement.disagreement.value_or(0), std::abs(*cost.energy_disagreement));
    }
  }
}

void add_run(const RunDigest& run, Runs& runs, EnergyStatement& statement) {
  const JobTotals job = run.figures().job();
  const double begin = run.start().unix_time;
  const double end = begin + job.seconds;
  ++statement.runs;
  statement.cut_off += run.end() ? 0 : 1;
  statement.simulated += run.simulated() ? 1 : 0;
  statement.first_unix = statement.runs == 1 ? begin : std::min(statement.first_unix, begin);
  statement.last_unix = std::max(statement.last_unix, end);
  statement.iterations += job.iterations;
  statement.jobs.insert(job_words(run.start()));
  const std::string host = run.told_by_start("host");
  statement.hosts.insert(host);
  for (const auto& gpu : run.gpus()) {
    runs.cards[gpu->identity.uuid.text()] = {gpu->identity.name, gpu->identity.driver_version, 1};
  }
  meter(run, begin, end, runs);
  if (job.saved_j) {
    statement.saved_j = statement.saved_j ? sum_of(*statement.saved_j, *job.saved_j) : *job.saved_j;
  }
  if (const auto bill = run.figures().bill()) {
    if (bill->host_joules) runs.by_host[host].push_back({begin, end, *bill->host_joules, false});
    if (!statement.tariff.price) statement.tariff.price = bill->tariff.price;
    if (!statement.tariff.carbon) statement.tariff.carbon = bill->tariff.carbon;
  }
  note_disagreement(run, statement);
}

void add(MeteredEnergy& sum, const MeteredEnergy& part) {
  sum.joules += part.joules;
  sum.estimated_j += part.estimated_j;
  sum.seconds += part.seconds;
  sum.twice += part.twice;
}

}  // namespace

MeteredEnergy sum_once(std::vector<MeteredInterval> intervals) {
  // Of those that begin together the longest comes first, and holds the others.
  std::ranges::sort(intervals, [](const MeteredInterval& a, const MeteredInterval& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  // Two logs of one run do not begin and end at the same instant.
  constexpr double kTogether = 2;  // seconds
  MeteredEnergy sum;
  double until = intervals.empty() ? 0 : intervals.front().begin;
  for (const MeteredInterval& each : intervals) {
    const double length = each.end - each.begin;
    const double fresh = std::clamp(each.end - std::max(each.begin, until), 0.0, length);
    until = std::max(until, each.end);
    const bool overlaps = fresh < length;
    if (overlaps && fresh <= std::min(kTogether, length / 2)) {
      ++sum.twice;
      continue;
    }
    const double joules = length > 0 ? each.joules * fresh / length : each.joules;
    // An overlap of a moment is not worth a word.
    const bool shared = overlaps && length - fresh > kTogether;
    sum.joules += joules;
    sum.seconds += fresh;
    if (each.estimated || shared) sum.estimated_j += joules;
    sum.twice += shared ? 1 : 0;
  }
  return sum;
}

EnergyStatement make_statement(const std::vector<LogTail>& logs, const Tariff& tariff) {
  EnergyStatement statement;
  statement.tariff = tariff;
  Runs runs;
  std::set<std::string> seen;
  for (const LogTail& log : logs) {
    statement.logs.push_back(log.path());
    statement.left_out += log.runs_left_out();
    statement.unreadable_lines += log.unreadable_lines() + (log.half_a_line() ? 1 : 0);
    for (const auto& run : log.runs()) {
      // A run has one id on one host, however often its log is copied.
      if (!seen.insert(run->told_by_start("host") + "\n" + run->start().run.text()).second) {
        ++statement.copies;
        continue;
      }
      add_run(*run, runs, statement);
    }
  }
  for (const auto& [uuid, intervals] : runs.by_gpu) {
    const MeteredEnergy used = sum_once(intervals);
    add(statement.gpus, used);
    statement.gpu_seconds += used.seconds;
  }
  for (const auto& [host, intervals] : runs.by_host) add(statement.host, sum_once(intervals));
  statement.hosts_metered = runs.by_host.size();
  for (const auto& entry : runs.cards) {
    const auto& card = entry.second;
    const auto same = std::ranges::find_if(statement.hardware, [&](const auto& each) {
      return each.name == card.name && each.driver == card.driver;
    });
    if (same != statement.hardware.end()) {
      ++same->gpus;
    } else {
      statement.hardware.push_back(card);
    }
  }
  return statement;
}

}  // namespace hypermile
