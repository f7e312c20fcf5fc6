// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "evidence/progress/made_streams.h"
#include "evidence/progress/stress_rows.h"
#include "evidence/progress/tables.h"

namespace hypermile {
namespace {

std::vector<LabelledStream> stressed(const std::vector<LabelledStream>& recordings) {
  std::vector<LabelledStream> some;
  for (const LabelledStream& stream : recordings) {
    if (std::ranges::find(stressed_names(), stream.name) != stressed_names().end()) {
      some.push_back(stream);
    }
  }
  return some;
}

std::string made_row(const std::string& what, const LabelledStream& stream, std::size_t starts) {
  std::size_t right = 0;
  std::size_t wrong = 0;
  std::vector<double> iterations;
  Random random(7);
  for (std::size_t i = 0; i < starts; ++i) {
    const double launch = 0.35 * random.uniform() * static_cast<double>(stream.launches.size());
    const DetectorTrial trial = try_detector(stream, static_cast<std::uint64_t>(launch));
    right += trial.lock_after && !trial.wrong ? 1 : 0;
    wrong += trial.wrong ? 1 : 0;
    if (trial.lock_after) iterations.push_back(trial.lock_iterations);
  }
  return fmt::format("| {} | {:.3g} | {:.0f} | {} / {} | {} | {:.1f} |\n", what,
                     1e3 * stream.mean_period().value(), stream.launches_per_iteration(), right,
                     starts, wrong, quantile(iterations, 0.9));
}

}  // namespace

std::string stress_table(const std::vector<LabelledStream>& recordings, std::size_t seeds) {
  const std::vector<LabelledStream> streams = stressed(recordings);
  std::string text =
      "| edit | right | wrong | never | lock p90 s | false breaks a run | m = 8 right at the end "
      "|\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const StressRow& row : stress_rows()) {
    const StressResult result = stress(row, streams, seeds);
    text += fmt::format("| {} | {} / {} | {} | {} | {:.2f} | {:.2f} | {} / {} |\n", row.what,
                        result.right, result.runs, result.wrong,
                        result.runs - result.lock_after.size(), quantile(result.lock_after, 0.9),
                        static_cast<double>(result.breaks) / static_cast<double>(result.runs),
                        result.nested_right, result.nested);
  }
  return text;
}

std::string accumulation_table(const std::vector<LabelledStream>& recordings, std::size_t seeds) {
  std::string text =
      "| steps m | recording | m right | outer iterations until told, p50 / max |\n"
      "| ---: | --- | ---: | ---: |\n";
  for (const std::size_t steps : {2U, 4U, 8U, 16U, 32U}) {
    for (const LabelledStream& from : stressed(recordings)) {
      if (from.inner > 1) continue;
      const LabelledStream stream = with_accumulation(from, steps);
      // Fewer than eight outer iterations after a start prove nothing.
      if (stream.starts.size() < 16 * steps) continue;
      Random random(derive_seed(steps, from.name.c_str()));
      std::size_t right = 0;
      std::vector<double> after;
      for (std::size_t i = 0; i < seeds; ++i) {
        const double launch = 0.5 * random.uniform() * static_cast<double>(stream.launches.size());
        const DetectorTrial trial = try_detector(stream, static_cast<std::uint64_t>(launch));
        right += trial.level_after && !trial.wrong ? 1 : 0;
        if (trial.level_after) after.push_back(*trial.level_after);
      }
      text += fmt::format("| {} | {} | {} / {} | {:.1f} / {:.1f} |\n", steps, from.name, right,
                          seeds, quantile(after, 0.5), quantile(after, 1));
    }
  }
  return text;
}

std::string phase_table(const std::vector<LabelledStream>& recordings) {
  std::string text =
      "| recording | forward part | switches | told after iterations, max | told after ms, max | "
      "known "
      "phase locked after s, max | wrong number |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const LabelledStream& from : stressed(recordings)) {
    if (from.inner > 1) continue;
    for (const double forward : {0.2, 0.34}) {
      const double period = from.mean_period().value();
      const PhasedStream phased = with_evaluation(
          from, static_cast<std::size_t>(std::max(12.0, 0.8 / period)),
          static_cast<std::size_t>(std::max(14.0, 0.8 / period / forward)), forward);
      const DetectorTrace told = trace(phased.stream, 0);
      std::vector<double> iterations, ms, again;
      std::size_t misnumbered = 0;
      for (std::size_t i = 0; i < std::min(told.breaks.size(), phased.switches.size()); ++i) {
        const Instant began = phased.stream.launches[phased.switches[i]].time;
        iterations.push_back(phased.stream.iterations_at(told.breaks[i].launch) -
                             phased.stream.iterations_at(phased.switches[i]));
        ms.push_back(1e3 * (told.breaks[i].time - began).value());
        if (i + 1 >= told.locks.size()) continue;
        misnumbered += told.locks[i + 1].pattern.phase == (i + 1) % 2 ? 0 : 1;
        if (i >= 1) again.push_back((told.locks[i + 1].lock.time - began).value());
      }
      text +=
          fmt::format("| {} | {:.0f} % | {} of {} | {:.1f} | {:.0f} | {:.2f} | {} |\n", from.name,
                      100 * forward, told.breaks.size(), phased.switches.size(),
                      quantile(iterations, 1), quantile(ms, 1), quantile(again, 1), misnumbered);
    }
  }
  return text;
}

std::string aperiodic_table(std::size_t seeds) {
  std::string text =
      "| stream | streams | ever locked | locked share of the time |\n"
      "| --- | ---: | ---: | ---: |\n";
  for (const AperiodicKind& kind : aperiodic_kinds()) {
    std::size_t locked = 0;
    double share = 0;
    for (std::size_t seed = 0; seed < seeds; ++seed) {
      Random random(derive_seed(seed, kind.name.c_str()));
      const DetectorTrial trial = try_detector(kind.make(Seconds(6), random), 0);
      locked += trial.lock_after ? 1 : 0;
      share += trial.locked_share;
    }
    text += fmt::format("| {} | {} | {} | {:.2f} % |\n", kind.name, seeds, locked,
                        100 * share / static_cast<double>(seeds));
  }
  return text;
}

std::string made_table(std::size_t starts) {
  std::string text =
      "| stream | T ms | launches | right | wrong | iterations to lock, p90 |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: |\n";
  for (const Transformer& shape :
       {Transformer{.layers = 12,
       .forward = milliseconds(20),
       .backward = milliseconds(40),
       .iterations = 80},
        Transformer{.forward = Seconds(1), .backward = Seconds(2)}, Transformer{.iterations = 16},
        Transformer{.layers = 126,
        .forward_launches = 12,
        .backward_launches = 24,
        .forward = Seconds(5),
        .backward = Seconds(10),
        .iterations = 16}}) {
    Random random(1);
    text += made_row(fmt::format("transformer of {} layers", shape.layers),
                     make_transformer(shape, random), starts);
  }
  for (const auto& [least, most] :
       {std::pair<std::size_t, std::size_t>{100, 100}, {20, 30}, {60, 180}}) {
    Random random(2);
    text += made_row(fmt::format("recurrent, {} to {} time steps", least, most),
                     make_recurrent(least, most, 12000 / most, random), starts);
  }
  for (const std::size_t kernels : {0U, 1U, 5U, 12U}) {
    Random random(3);
    text += made_row(fmt::format("one graph and {} kernels", kernels),
                     make_graph_loop(kernels, milliseconds(10), 500, random), starts);
  }
  return text;
}

}  // namespace hypermile
