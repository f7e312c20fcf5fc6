// SPDX-License-Identifier: Apache-2.0
#include "evidence/predict/card_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "evidence/predict/contenders.h"
#include "evidence/predict/family_choice.h"
#include "evidence/predict/grouped_mean.h"
#include "predict/baselines.h"
#include "predict/calibration.h"
#include "predict/card_pairs.h"
#include "predict/check.h"

namespace hypermile {
namespace {

constexpr const char* kHeader =
    "| tested on | predictor | time, % | energy, % | time against the mean curve | energy against "
    "the mean curve | energy without the shift, % | within 90 % bounds, % | times | energies |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

bool lies_in(const Bounded& bounds, double truth) {
  return truth >= bounds.low && truth <= bounds.high;
}

// How a predictor does on the jobs of one card, beside the mean curve of the same training.
class CardOutcome {
 public:
  CardOutcome(const Predictor& predictor, const Predictor& mean, std::span<const Example> jobs) {
    for (const Example& job : jobs) add(predictor, mean, job);
  }

  std::string row(const std::string& title, const Contender& contender) const {
    const CheckResult r = checker_.result();
    const auto held = [](double within, double width) {
      return fmt::format("{:.0f} (± {:.0f})", 100 * within, 100 * width);
    };
    const bool itself = contender.name == "mean curve";
    return fmt::format(
        "| {} | {} | {:.2f} | {:.2f} | {} | {} | {} | {} | {} | {} |\n", title, contender.name,
        100 * r.time_mae, 100 * r.energy_mae, itself ? "–" : against(time_),
        itself ? "–" : against(energy_), itself ? "–" : fmt::format("{:.2f}", without_shift()),
        contender.bounded
            ? fmt::format("{:.0f} ± {:.0f}", 100 * held_.mean(), 100 * held_.standard_error())
            : "–",
        contender.bounded ? held(r.time_within, r.time_width) : "–",
        contender.bounded ? held(r.energy_within, r.energy_width) : "–");
  }
  double energy_against_mean() const { return energy_.mean(); }

 private:
  struct Row {
    std::pair<double, double> clocks;
    double above_mean = 0;  // the predicted energy less the mean curve's
    double mean_off = 0;    // the mean curve's energy less the measured one
  };

  static std::string against(const GroupedMean& difference) {
    return fmt::format("{:+.2f} ± {:.2f}", 100 * difference.mean(),
                       100 * difference.standard_error());
  }

  void add(const Predictor& predictor, const Predictor& mean, const Example& job) {
    checker_.add(predictor, job);
    const auto settings = settings_of(job);
    const auto said = predictor.predict(job.features, job.key.gpu, settings);
    const auto usual = mean.predict(job.features, job.key.gpu, settings);
    for (std::size_t i = 0; i < said.size(); ++i) {
      const MeasuredRatio& point = job.points[i];
      if (point.at.sm < kScoredFrom) continue;
      const auto off = [](const Bounded& bounded, double truth) {
        return std::abs(bounded.value - truth);
      };
      time_.add(job.group, off(said[i].time, point.time) - off(usual[i].time, point.time));
      energy_.add(job.group,
                  off(said[i].energy, point.energy) - off(usual[i].energy, point.energy));
      held_.add(job.group, lies_in(said[i].time, point.time) ? 1 : 0);
      held_.add(job.group, lies_in(said[i].energy, point.energy) ? 1 : 0);
      rows_.push_back({{point.at.sm, point.at.memory},
                       said[i].energy.value - usual[i].energy.value,
                       usual[i].energy.value - point.energy});
    }
  }

  // The energy error in percentage points without what the predictor adds to the mean curve for all
  // jobs alike, at each pair of clocks.
  double without_shift() const {
    std::map<std::pair<double, double>, std::pair<double, double>> shifts;  // sum and rows
    for (const Row& row : rows_) {
      shifts[row.clocks].first += row.above_mean;
      shifts[row.clocks].second += 1;
    }
    double sum = 0;
    for (const Row& row : rows_) {
      const auto& [shift, n] = shifts.at(row.clocks);
      sum += std::abs(row.mean_off + row.above_mean - shift / n);
    }
    return 100 * sum / static_cast<double>(rows_.size());
  }

  Checker checker_;
  GroupedMean time_;
  GroupedMean energy_;
  GroupedMean held_;
  std::vector<Row> rows_;
};

std::string scales_line(std::string_view title, const BoundScales& scales) {
  return fmt::format("- {}: {:.2f} (time), {:.2f} (energy)\n", title, scales.time, scales.energy);
}

// What pairs of cards outside the family say of bounds on other cards.
Result<BoundScales> without_family(const std::vector<Example>& known, const std::string& family) {
  std::vector<Example> others = known;
  std::erase_if(others, [&](const Example& e) { return card_family(e.key.gpu) == family; });
  return card_pair_scales(others, {});
}

// Prints the rows of one training and test. Returns the energy errors less the mean curve's.
Result<std::map<std::string, double>> print_rows(const std::string& title,
                                                 const std::vector<Contender>& contenders,
                                                 const std::vector<Example>& training,
                                                 const std::vector<Example>& tested) {
  const MeanCurvePredictor mean(mean_curve(training));
  std::map<std::string, double> energy;
  for (const Contender& contender : contenders) {
    ASSIGN_OR_RETURN(const auto predictor, contender.make(training));
    const CardOutcome outcome(*predictor, mean, tested);
    fmt::print("{}", outcome.row(title, contender));
    energy[contender.name] = outcome.energy_against_mean();
  }
  return energy;
}

// Trains on one card and tests on another.
Result<void> pairs_table(const std::string& data, const std::map<std::string, BoundScales>& found) {
  const auto& sets = counter_sets();
  const std::pair<std::size_t, std::size_t> pairs[] = {{0, 1}, {1, 0}, {2, 3}, {3, 2}};
  fmt::print("{}", kHeader);
  for (const auto& [from, to] : pairs) {
    ASSIGN_OR_RETURN(const auto training, load(data, sets[from]));
    ASSIGN_OR_RETURN(const auto tested, load(data, sets[to]));
    TrainingOptions options = without_new_cards();
    options.new_card = found.at(card_family(sets[to].gpu));
    RETURN_IF_ERROR(print_rows(sets[from].title + " → " + sets[to].title, contenders(options),
                               training, tested));
  }
  return {};
}

// Trains on all public sweeps without a family of cards and without the tested workloads. The
// baselines but the mean curve are left to the other table.
Result<std::vector<FamilyComparison>> families_table(
    const std::vector<Example>& known, const std::map<std::string, BoundScales>& found) {
  std::map<std::string, std::vector<Example>> tested;  // by set and card
  for (const Example& example : known) {
    const std::string set = example.set.substr(0, example.set.find('/'));
    if (has_clocks(example)) tested[set + ", " + example.key.gpu].push_back(example);
  }
  std::vector<FamilyComparison> comparisons;
  fmt::print("\n{}", kHeader);
  for (const auto& [title, jobs] : tested) {
    const std::string family = card_family(jobs.front().key.gpu);
    std::set<std::string> groups;
    for (const Example& job : jobs) groups.insert(job.group);
    std::vector<Example> rest;
    std::ranges::copy_if(known, std::back_inserter(rest), [&](const Example& e) {
      return card_family(e.key.gpu) != family && !groups.contains(e.group);
    });
    TrainingOptions options = without_new_cards();  // too few families to learn trust and bounds
    options.new_card = found.at(family);
    std::vector<Contender> shown = contenders(options);
    std::erase_if(shown, [](const Contender& contender) {
      return contender.name == "roofline" || contender.name == "nearest job";
    });
    ASSIGN_OR_RETURN(const auto energy, print_rows("the others → " + title, shown, rest, jobs));
    FamilyComparison& one = comparisons.emplace_back(FamilyComparison{false, "", family, {}});
    for (const ModelKind kind : kModelKinds) {
      one.energy[kind] = energy.at(std::string(to_string(kind)));
    }
  }
  return comparisons;
}

}  // namespace

Result<void> cards(const std::string& data) {
  ASSIGN_OR_RETURN(const std::vector<Example> known, load_public(data));
  std::map<std::string, BoundScales> found;  // by the family left out
  for (const CounterSet& set : counter_sets()) {
    const std::string family = card_family(set.gpu);
    if (found.contains(family)) continue;
    ASSIGN_OR_RETURN(found[family], without_family(known, family));
    fmt::print("{}", scales_line("scales of bounds without the family " + family, found[family]));
  }
  fmt::print("\n");
  RETURN_IF_ERROR(pairs_table(data, found));
  ASSIGN_OR_RETURN(const auto several, families_table(known, found));
  ASSIGN_OR_RETURN(auto comparisons, compare_pairs(known));
  comparisons.insert(comparisons.end(), several.begin(), several.end());
  print_family_choice(comparisons);
  return {};
}

Result<void> scales(const std::string& data) {
  ASSIGN_OR_RETURN(const std::vector<Example> known, load_public(data));
  for (const ModelKind kind : kModelKinds) {
    TrainingOptions options;
    options.kind = kind;
    ASSIGN_OR_RETURN(const BoundScales found, card_pair_scales(known, options));
    fmt::print("{}", scales_line(to_string(kind), found));
  }
  return {};
}

}  // namespace hypermile
