// SPDX-License-Identifier: Apache-2.0
#include "control/phase_watch.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "control/pause_watch.h"

namespace hypermile {
namespace {

constexpr Seconds kWatch = Seconds(3);
constexpr std::size_t kPoints = 10;
// Of long iterations fewer must do.
constexpr Seconds kLongWatch = Seconds(30);
constexpr std::size_t kFewPoints = 5;
constexpr double kClocks = 25;  // readings of the clock
constexpr std::size_t kPauses = 4;
constexpr Seconds kPatience = Seconds(20);  // for GPU times, clocks and pauses
constexpr double kPausesInWindow = 3;
constexpr double kMostlyPauses = 2;
constexpr Seconds kLongestWindow = Seconds(30);
constexpr std::size_t kMostGaps = 16384;  // an endless first look needs no endless memory
constexpr std::size_t kFewestBlocks = 6;
// Of the scatter of single iterations: below, all have one shape.
constexpr double kSameShape = 0.04;
// Share of the variance that sizes must explain; ten unrelated points do so once in a hundred
// times.
constexpr double kExplained = 0.6;
// The work of attention grows with the square of the length, its grids grow less.
constexpr double kSteepest = 2;

// Iterations that take longer by so many standard deviations are a pause, from one iteration on,
// so that the usual four iterations apply where iterations scatter by a fifth, as batches of mixed
// lengths do. Compared on the simulated jobs of 15 minutes; evaluations of two iterations on an RTX
// A4000 then neither cut a look nor hide in a window.
constexpr double kOutlying = 20;
constexpr double kNormal = 1.4826;  // standard deviations in the median of absolute deviations

// Relative standard deviation of the means of `size` gaps in a row, times the root of their number:
// what single iterations would scatter if they did so independently.
double scatter_of(const std::vector<double>& each, std::size_t size, double mean) {
  double squares = 0;
  const std::size_t blocks = each.size() / size;
  for (std::size_t b = 0; b < blocks; ++b) {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += each[b * size + i];
    const double off = sum / static_cast<double>(size) / mean - 1;
    squares += off * off;
  }
  const double one = std::sqrt(squares / static_cast<double>(blocks - 1));
  return one * std::sqrt(static_cast<double>(size));
}

}  // namespace

void PhaseWatch::add(const Boundary& boundary) {
  if (boundary.unseen) {
    host_.clear();
    gpu_.clear();
  }
  ticks_ = boundary.launch == 0;
  iteration_ += boundary.iterations;
  if (host_.size() >= kMostGaps) return;
  host_.push_back({iteration_, boundary.time.since_origin(), boundary.blocks});
  if (untimed_blocks_ && boundary.blocks) {
    *untimed_blocks_ += *boundary.blocks;
  } else {
    untimed_blocks_.reset();
  }
  if (!boundary.gpu_time) return;
  gpu_.push_back({iteration_, *boundary.gpu_time, untimed_blocks_});
  untimed_blocks_ = 0;
}

void PhaseWatch::add(const Sample& sample) {
  if (sample.sm_clock) {
    clock_sum_ += sample.sm_clock->value();
    clocks_ += 1;
  }
  if (sample.memory_clock) memory_clock_ = sample.memory_clock;
}

// A host runs ahead, and its intervals scatter for no reason of the job's.
bool PhaseWatch::on_gpu() const {
  return gpu_.size() >= kPoints;
}

Seconds PhaseWatch::shortest_pause() const {
  return on_gpu() || ticks_ ? kShortestTimedPause : kShortestPause;
}

// Where all iterations are alike, one that takes twice as long holds something else.
double PhaseWatch::pause_iterations(const std::vector<Point>& points) {
  std::vector<double> each;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double iterations = points[i].iteration - points[i - 1].iteration;
    const Seconds passed = points[i].time - points[i - 1].time;
    if (iterations > 0) each.push_back(passed.value() / iterations);
  }
  if (each.size() < kFewPoints) return kPauseIterations;
  const double median = upper_median(each);
  const auto gaps = static_cast<double>(each.size());
  const double together = (points.back().iteration - points.front().iteration) / gaps;
  for (double& one : each) one = std::abs(one / median - 1);
  const double scatter = kNormal * upper_median(each) * std::sqrt(together);
  return std::clamp(kOutlying * scatter, 1.0, kPauseIterations);
}

// Where GPU times are known, the host's scatter counts as well, because some iterations have a host
// time only.
double PhaseWatch::pause_iterations() const {
  const double by_host = pause_iterations(host_);
  return on_gpu() ? std::max(by_host, pause_iterations(gpu_)) : by_host;
}

std::vector<PhaseWatch::Gap> PhaseWatch::gaps() const {
  const std::vector<Point>& points = on_gpu() ? gpu_ : host_;
  std::vector<Gap> gaps;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Seconds passed = points[i].time - points[i - 1].time;
    if (passed > Seconds(0))
      gaps.push_back({points[i].iteration - points[i - 1].iteration, passed, points[i].blocks});
  }
  if (gaps.empty()) return gaps;
  std::vector<double> each;
  for (const Gap& gap : gaps) each.push_back(gap.time.value() / std::max(1.0, gap.iterations));
  const Seconds median(upper_median(each));
  const Seconds longest = std::max(pause_iterations() * median, shortest_pause());
  for (Gap& gap : gaps) gap.pause = gap.time - gap.iterations * median > longest;
  return gaps;
}

// Iterations of one shape differ too little for their sizes to tell; where they differ, sizes count
// only if they explain most of it.
IterationSizes PhaseWatch::sizes_of(const std::vector<Gap>& gaps) {
  std::vector<std::pair<double, double>> each;  // blocks and seconds of an iteration
  double blocks = 0, seconds = 0, iterations = 0;
  for (const Gap& gap : gaps) {
    if (gap.pause || gap.iterations <= 0 || !gap.blocks) continue;
    each.emplace_back(*gap.blocks / gap.iterations, gap.time.value() / gap.iterations);
    blocks += *gap.blocks;
    seconds += gap.time.value();
    iterations += gap.iterations;
  }
  const auto n = static_cast<double>(each.size());
  if (each.size() < kPoints - 1) return {};
  const double usual = blocks / iterations, mean = seconds / iterations;
  double xx = 0, xy = 0, yy = 0;
  for (const auto& [x, y] : each) {
    xx += (x / usual - 1) * (x / usual - 1);
    xy += (x / usual - 1) * (y / mean - 1);
    yy += (y / mean - 1) * (y / mean - 1);
  }
  if (std::sqrt(yy / n * iterations / n) < kSameShape || xx <= 0) return {};
  if (xy <= 0 || xy * xy < kExplained * xx * yy) return {};
  return {usual, std::min(xy / xx, kSteepest)};
}

bool PhaseWatch::ready() const {
  if (host_.size() < kFewPoints) return false;
  const Seconds watched = host_.back().time - host_.front().time;
  if (host_.size() < kPoints) return watched >= kLongWatch;
  if (watched < kWatch) return false;
  if (watched >= kPatience) return true;
  const std::vector<Gap> all = gaps();
  const auto pauses = static_cast<std::size_t>(std::ranges::count(all, true, &Gap::pause));
  return clocks_ >= kClocks && (gpu_.empty() || on_gpu()) && (pauses == 0 || pauses >= kPauses);
}

// Where the job pauses every few seconds a Window holds several of the pauses, so that they belong
// to it: what they cost at a lower clock is then measured with the rest.
StepPlan PhaseWatch::plan() const {
  std::vector<double> each;
  std::vector<double> behind;  // iterations until the end of each pause
  double iterations = 0;
  double counted = 0;
  Seconds passed;
  Seconds all;
  Seconds longest;
  const std::vector<Gap> seen = gaps();
  const IterationSizes sizes = sizes_of(seen);
  for (const Gap& gap : seen) {
    iterations += gap.iterations;
    all += gap.time;
    if (gap.pause) {
      behind.push_back(iterations);
      longest = std::max(longest, gap.time);
    }
    if (gap.pause || gap.iterations <= 0) continue;
    each.push_back(gap.time.value() / sizes.weigh(gap.iterations, gap.blocks));
    counted += gap.iterations;
    passed += gap.time;
  }
  const Seconds typical = passed / std::max(1.0, counted);
  double scatter = INFINITY;
  for (std::size_t size = 1; each.size() / size >= kFewestBlocks || size == 1; size *= 2) {
    scatter = std::min(scatter, scatter_of(each, size, typical.value()));
  }
  const double together =
      std::sqrt(counted / static_cast<double>(std::max<std::size_t>(1, each.size())));
  const Seconds mean = all / std::max(1.0, iterations);
  // Most of the time is waited for, as by a host that runs a whole optimizer step ahead: then how
  // fast it launches says nothing of how long an iteration takes.
  const bool ahead = !on_gpu() && behind.size() >= kPauses && mean > kMostlyPauses * typical;
  StepPlan plan = plan_steps(ahead ? mean : typical, scatter * together);
  plan.sizes = sizes;
  plan.pause_iterations = pause_iterations();
  if (behind.size() < kPauses) return plan;
  const double apart = (behind.back() - behind.front()) / static_cast<double>(behind.size() - 1);
  double rounds = std::max(kPausesInWindow, std::ceil(plan.window_iterations / apart));
  if (ahead) {
    rounds = std::clamp(std::floor(kLongestWindow / (apart * mean)), kPausesInWindow, rounds);
  }
  const double wanted = std::ceil(rounds * apart);
  if (wanted * mean <= kLongestWindow) {
    plan.window_iterations = wanted;
    plan.pause_every = apart;
    plan.pause = longest;
    plan.real_pauses = on_gpu() || ticks_;
    plan.shortest_pause = shortest_pause();
  }
  return plan;
}

Setting PhaseWatch::default_values() const {
  Setting values;
  if (clocks_ > 0) values.sm_clock = Mhz(clock_sum_ / clocks_);
  values.memory_clock = memory_clock_;
  return values;
}

}  // namespace hypermile
