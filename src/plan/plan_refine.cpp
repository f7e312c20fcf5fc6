// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_refine.h"

#include <algorithm>
#include <functional>

namespace hypermile {
namespace {

constexpr std::size_t kMostSegments = 40;
constexpr std::size_t kMostLabels = 128;
constexpr std::size_t kMostOptions = 32;  // per segment, while all segments are chosen together
constexpr std::size_t kTried = 64;        // combinations tried, those of least energy first
constexpr int kRounds = 12;
constexpr std::size_t kSlowed = 48;
// Total number of stages that evaluations may visit, so that large problems end too.
constexpr std::size_t kBudget = 600'000;
constexpr std::size_t kRecombined = 6;  // runs beyond the time limit that are reconsidered

struct SettingRun {
  std::size_t from = 0;  // first stage
  std::size_t count = 0;
  std::uint32_t choice = 0;
};

std::vector<SettingRun> segments_of(const Assignment& assignment) {
  const std::size_t n = assignment.size();
  std::size_t first = 0;
  while (first < n && assignment[first] == assignment[(first + n - 1) % n]) ++first;
  if (first == n) return {{0, n, assignment[0]}};
  std::vector<SettingRun> segments;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t stage = (first + i) % n;
    if (segments.empty() || segments.back().choice != assignment[stage]) {
      segments.push_back({stage, 0, assignment[stage]});
    }
    ++segments.back().count;
  }
  return segments;
}

Assignment assignment_of(const std::vector<SettingRun>& segments, std::size_t stages) {
  Assignment assignment(stages);
  for (const SettingRun& segment : segments) {
    for (std::size_t i = 0; i < segment.count; ++i) {
      assignment[(segment.from + i) % stages] = segment.choice;
    }
  }
  return assignment;
}

class Refinement {
 public:
  explicit Refinement(const PlanProblem& problem) : problem_(problem) {
    const std::size_t k = problem.choices;
    sums_.resize((2 * problem.stages + 1) * k);
    for (std::size_t i = 0; i < 2 * problem.stages; ++i) {
      for (std::size_t c = 0; c < k; ++c) {
        const StageCost& cost = problem.at(i % problem.stages, c);
        const StageCost& before = sums_[i * k + c];
        sums_[(i + 1) * k + c] = {before.time_s + cost.time_s, before.energy_j + cost.energy_j};
      }
    }
  }

  // Keeps the plan if it is within the time limit and needs less energy than the best so far.
  bool offer(const std::vector<SettingRun>& segments) {
    return offer(assignment_of(segments, problem_.stages));
  }
  bool offer(Assignment assignment) {
    budget_ -= std::min(budget_, problem_.stages);
    const auto totals = evaluate(problem_, assignment);
    if (!totals || totals->time_s > problem_.time_limit_s) return false;
    if (best_ && totals->energy_j >= best_->totals.energy_j * (1 - 1e-12)) return false;
    best_ = Plan{std::move(assignment), *totals};
    return true;
  }

  // Chooses for all segments together: tries combinations in order of energy.
  void recombine(const std::vector<SettingRun>& segments) {
    std::vector<std::vector<Label>> fronts = {{Label{}}};
    for (const SettingRun& segment : segments) {
      std::vector<Label> next;
      std::vector<Label> options = options_of(segment);
      thin(options, kMostOptions);
      budget_ -= std::min(budget_, fronts.back().size() * options.size());
      for (std::uint32_t i = 0; i < fronts.back().size(); ++i) {
        for (const Label& option : options) {
          const Label& before = fronts.back()[i];
          const double time = before.time_s + option.time_s;
          if (time > problem_.time_limit_s) break;  // options are sorted by time
          next.push_back({time, before.energy_j + option.energy_j, option.choice, i});
        }
      }
      thin(next, kMostLabels);
      if (next.empty()) return;
      fronts.push_back(std::move(next));
    }
    std::size_t tried = 0;
    for (std::size_t last = fronts.back().size(); last-- > 0 && tried < kTried; ++tried) {
      std::vector<SettingRun> chosen = segments;
      auto label = static_cast<std::uint32_t>(last);
      for (std::size_t s = segments.size(); s-- > 0;) {
        chosen[s].choice = fronts[s + 1][label].choice;
        label = fronts[s + 1][label].before;
      }
      offer(chosen);
    }
  }

  // Changes one segment's choice, one change's place, or inserts one segment at a time.
  void descend() {
    for (int round = 0; best_ && budget_ > 0 && round < kRounds; ++round) {
      bool better = insert();
      const std::vector<SettingRun> segments = segments_of(best_->choice);
      if (segments.size() > kMostSegments) return;
      for (std::size_t s = 0; segments.size() > 1 && budget_ > 0 && s < segments.size(); ++s) {
        std::vector<SettingRun> changed = segments;
        for (const Label& option : options_of(segments[s])) {
          changed[s].choice = option.choice;
          better = offer(changed) || better;
        }
        better = shift(segments, s) || better;
      }
      if (!better) return;
    }
  }

  // For plans of many segments: moves to slower choices of the same memory clock, best trade first,
  // while time is left. A slower segment lasts longer, so no change comes too soon.
  void slow_down() {
    if (!best_) return;
    std::vector<SettingRun> segments = segments_of(best_->choice);
    for (std::size_t i = 0; i < kSlowed; ++i) {
      const double spare = problem_.time_limit_s - best_->totals.time_s;
      double most = 0;
      SettingRun* changed = nullptr;
      std::uint32_t to = 0;
      for (SettingRun& segment : segments) {
        const StageCost now = sum(segment.from, segment.count, segment.choice);
        for (std::uint32_t c = 0; c < problem_.choices; ++c) {
          if (problem_.gear[c] != problem_.gear[segment.choice]) continue;
          const StageCost then = sum(segment.from, segment.count, c);
          const double longer = then.time_s - now.time_s;
          const double saved = now.energy_j - then.energy_j;
          if (longer <= 0 || longer > spare || saved <= most * longer) continue;
          most = saved / longer;
          changed = &segment;
          to = c;
        }
      }
      if (changed == nullptr) return;
      changed->choice = to;
      if (!offer(segments)) return;
    }
  }

  const std::optional<Plan>& best() const { return best_; }

 private:
  struct Label {
    double time_s = 0, energy_j = 0;
    std::uint32_t choice = 0, before = 0;
  };

  StageCost sum(std::size_t from, std::size_t count, std::uint32_t choice) const {
    const StageCost& begin = sums_[from * problem_.choices + choice];
    const StageCost& end = sums_[(from + count) * problem_.choices + choice];
    return {end.time_s - begin.time_s, end.energy_j - begin.energy_j};
  }

  struct SlidingWindow {
    std::size_t from, count;
    std::uint32_t choice;
    double worth;  // saved energy per added time, W
  };

  // Gives a run of stages another choice. Keeps it where it fits within the time limit. For the
  // best runs that do not fit, reconsiders the choices of all segments.
  bool insert() {
    const std::size_t n = problem_.stages;
    const Plan start = *best_;
    std::vector<StageCost> now(2 * n + 1);
    for (std::size_t i = 0; i < 2 * n; ++i) {
      const StageCost& cost = problem_.at(i % n, start.choice[i % n]);
      now[i + 1] = {now[i].time_s + cost.time_s, now[i].energy_j + cost.energy_j};
    }
    bool better = false;
    std::vector<SlidingWindow> beyond;
    for (std::size_t count = 1; count < n; count += std::max<std::size_t>(1, count / 3)) {
      for (std::size_t from = 0; budget_ > 0 && from < n; from += 1 + count / 8) {
        for (std::uint32_t c = 0; c < problem_.choices; ++c) {
          const StageCost then = sum(from, count, c);
          const double saved = now[from + count].energy_j - now[from].energy_j - then.energy_j;
          if (saved <= 0) continue;
          const double time = then.time_s - now[from + count].time_s + now[from].time_s;
          if (start.totals.time_s + time <= problem_.time_limit_s) {
            better = offer(with(start.choice, from, count, c)) || better;
          } else {
            beyond.push_back({from, count, c, saved / time});
          }
        }
      }
    }
    std::ranges::sort(beyond, std::greater<>(), &SlidingWindow::worth);
    for (std::size_t i = 0; budget_ > 0 && i < std::min(beyond.size(), kRecombined); ++i) {
      const SlidingWindow& w = beyond[i];
      const auto segments = segments_of(with(start.choice, w.from, w.count, w.choice));
      if (segments.size() <= kMostSegments) recombine(segments);
    }
    return better || best_->totals.energy_j < start.totals.energy_j;
  }

  Assignment with(Assignment assignment, std::size_t from, std::size_t count,
                  std::uint32_t choice) const {
    for (std::size_t i = 0; i < count; ++i) assignment[(from + i) % problem_.stages] = choice;
    return assignment;
  }

  // The Pareto-optimal choices of a segment, sorted by time, without those that make it too short.
  std::vector<Label> options_of(const SettingRun& segment) const {
    std::vector<Label> options;
    const double spacing = std::min(problem_.sm.spacing_s, problem_.memory.spacing_s);
    for (std::uint32_t c = 0; c < problem_.choices; ++c) {
      Label option{0, 0, c, 0};
      const StageCost cost = sum(segment.from, segment.count, c);
      option.time_s = cost.time_s;
      option.energy_j = cost.energy_j;
      if (option.time_s >= spacing * (1 - 1e-12)) options.push_back(option);
    }
    thin(options, problem_.choices);
    return options;
  }

  // Keeps at most `most` labels that no other label beats in both time and energy, sorted by time.
  static void thin(std::vector<Label>& labels, std::size_t most) {
    std::ranges::sort(labels, [](const Label& a, const Label& b) {
      return a.time_s != b.time_s ? a.time_s < b.time_s : a.energy_j < b.energy_j;
    });
    std::vector<Label> kept;
    for (const Label& label : labels) {
      if (kept.empty() || label.energy_j < kept.back().energy_j) kept.push_back(label);
    }
    labels.clear();
    // Thins evenly and always keeps the label of least energy.
    const std::size_t stride = (kept.size() + most - 1) / most;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if ((kept.size() - 1 - i) % stride == 0) labels.push_back(kept[i]);
    }
  }

  // Moves the beginning of segment `s` to earlier or later stages.
  bool shift(const std::vector<SettingRun>& segments, std::size_t s) {
    bool better = false;
    const std::size_t before = (s + segments.size() - 1) % segments.size();
    const std::size_t n = problem_.stages;
    for (std::size_t by = 1; by < n; by *= 2) {
      std::vector<SettingRun> changed = segments;
      if (by < changed[before].count) {
        changed[before].count -= by;
        changed[s].from = (changed[s].from + n - by) % n;
        changed[s].count += by;
        better = offer(changed) || better;
      }
      changed = segments;
      if (by < changed[s].count) {
        changed[before].count += by;
        changed[s].from = (changed[s].from + by) % n;
        changed[s].count -= by;
        better = offer(changed) || better;
      }
    }
    return better;
  }

  const PlanProblem& problem_;
  std::vector<StageCost> sums_;  // by boundary and choice, over two iterations
  std::optional<Plan> best_;
  std::size_t budget_ = kBudget;
};

}  // namespace

std::optional<Plan> refine(const PlanProblem& problem, const Assignment& assignment) {
  const std::vector<SettingRun> segments = segments_of(assignment);
  Refinement refinement(problem);
  refinement.offer(segments);
  if (segments.size() > kMostSegments) {
    refinement.slow_down();
    return refinement.best();
  }
  refinement.recombine(segments);
  refinement.descend();
  return refinement.best();
}

}  // namespace hypermile
