// SPDX-License-Identifier: Apache-2.0
#include "progress/work_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics.h"

namespace hypermile {
namespace {

constexpr Seconds kCount = Seconds(2);
constexpr Seconds kLearn = Seconds(8);      // of GPU time; 160 events at 20 a second
constexpr Seconds kTest = Seconds(8);       // of GPU time, after kLearn
constexpr Seconds kBlock = Seconds(1);      // of GPU time
constexpr Seconds kPatience = Seconds(60);  // for all of it
constexpr Seconds kTryAgain = Seconds(60);
// Marks are to come about as often as events are allowed, so that most carry one.
constexpr double kMarksPerSecond = 40;
constexpr double kFewestMarks = 4;  // a second
constexpr std::size_t kMostMarks = 4096;
// Beyond this error of a Window of 30 blocks, 2 % of slowdown cannot be seen.
constexpr double kMostScatter = 0.08;  // of a block
constexpr double kMostBias = 0.05;     // of the later stretch against the earlier
constexpr double kRidge = 1e-3;
constexpr int kSweeps = 200;
// The mixture of a job that draws its rounds at random wanders a little within ten seconds.
constexpr double kMixtureSpan = 10;  // s of work
constexpr double kMixtureMoved = 0.2;
constexpr int kMixtureLasts = 2;

}  // namespace

void WorkMeter::restart() {
  open_ = {};
  open_work_ = 0;
  begun_ = false;
  marks_.clear();
  timed_.reset();
  if (state_ == State::kTrusted) return;
  *this = WorkMeter();
}

std::size_t WorkMeter::column_of(std::uint32_t kernel) {
  const auto found = columns_.find(kernel);
  if (found != columns_.end()) return found->second;
  if (columns_.size() + 1 >= kColumns) return kColumns - 1;
  return columns_.emplace(kernel, columns_.size()).first->second;
}

void WorkMeter::refuse(std::string why, Instant now) {
  const std::string kept = std::move(why);
  *this = WorkMeter();
  state_ = State::kRefused;
  why_ = kept;
  since_ = now_ = now;
}

std::optional<double> WorkMeter::add(const NumberedLaunch& launch) {
  const Instant now = launch.launch.time;
  now_ = now;
  if (!since_) since_ = now;
  if (state_ == State::kRefused) {
    if (now - *since_ < kTryAgain) return std::nullopt;
    *this = WorkMeter();
    since_ = now_ = now;
  }
  const std::size_t column = column_of(launch.launch.kernel);
  if (state_ == State::kCounting) {
    seen_[column] += 1;
    if (now - *since_ >= kCount) choose_mark(now);
    return std::nullopt;
  }
  if (state_ == State::kLearning && now - *since_ > kPatience) {
    refuse("the job has no period, and too few GPU times came to weigh its kernels", now);
    return std::nullopt;
  }
  std::optional<double> done;
  if (launch.launch.kernel == *mark_) {
    if (state_ == State::kTrusted) {
      const double work = begun_ ? open_work_ : 0;
      done = work / kUnit.value();
      if (begun_) check_mixture(work);
      if (state_ == State::kRefused) return std::nullopt;
    } else {
      marks_.push_back({launch.number, open_});
      if (marks_.size() > kMostMarks) marks_.pop_front();
    }
    begun_ = true;
    open_ = {};
    open_work_ = 0;
  }
  open_[column] += 1;
  if (state_ == State::kTrusted) open_work_ += weights_[column];
  if (open_work_ > kMixtureSpan) {
    refuse(
        "the job has no period, and its work is of another kind than when its kernels were "
        "weighed: the kernel at which it is counted does not come any more",
        now);
  }
  return done;
}

void WorkMeter::choose_mark(Instant now) {
  const double lasted = (now - *since_).value();
  double least = std::log(kMarksPerSecond / kFewestMarks);
  for (const auto& [kernel, column] : columns_) {
    const double rate = seen_[column] / lasted;
    if (column + 1 == kColumns || rate <= 0) continue;
    const double off = std::abs(std::log(rate / kMarksPerSecond));
    // A frequent mark only costs more boundaries; a rare one leaves out work.
    const double cost = rate > kMarksPerSecond ? off / 3 : off;
    if (cost >= least) continue;
    least = cost;
    mark_ = kernel;
  }
  if (!mark_) return refuse("the job has no period, and launches too few kernels", now);
  state_ = State::kLearning;
  since_ = now;
}

void WorkMeter::add(const GpuTime& time) {
  if (state_ != State::kLearning) return;
  Counts counts{};
  bool found = false;
  while (!marks_.empty() && marks_.front().record <= time.launch) {
    found = marks_.front().record == time.launch;
    for (std::size_t k = 0; k < kColumns; ++k) counts[k] += marks_.front().since[k];
    marks_.pop_front();
  }
  if (found && timed_ && timed_->axis == time.axis && time.time > timed_->time) {
    learn(counts, time.time - timed_->time);
  }
  timed_.reset();
  if (found && state_ == State::kLearning) timed_ = time;
}

void WorkMeter::learn(const Counts& counts, Seconds took) {
  if (!fitted_) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      if (counts[i] == 0) continue;
      totals_[i] += counts[i];
      times_[i] += counts[i] * took.value();
      for (std::size_t j = 0; j < kColumns; ++j) products_[i][j] += counts[i] * counts[j];
    }
    learnt_ += took;
    if (learnt_ >= kLearn) fit();
    return;
  }
  tested_ += took;
  block_ += took;
  block_predicted_ += work_of(counts);
  if (block_ >= kBlock) {
    blocks_.push_back(block_predicted_ / block_.value());
    block_ = Seconds(0);
    block_predicted_ = 0;
  }
  if (tested_ >= kTest) judge();
}

// Finds the weights by coordinate descent. For kernels that always come together no weight is
// better than another, so a slight pull towards the mean spreads their time evenly.
void WorkMeter::fit() {
  fitted_ = true;
  const double launches = std::accumulate(totals_.begin(), totals_.end(), 0.0);
  const double mean = learnt_.value() / std::max(1.0, launches);
  weights_.fill(mean);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      if (products_[i][i] == 0) continue;
      double rest = times_[i];
      for (std::size_t j = 0; j < kColumns; ++j) {
        if (j != i) rest -= products_[i][j] * weights_[j];
      }
      const double pull = kRidge * products_[i][i];
      weights_[i] = std::max(0.0, (rest + pull * mean) / (products_[i][i] + pull));
    }
  }
  for (std::size_t i = 0; i < kColumns; ++i) {
    usual_[i] = totals_[i] * weights_[i] / learnt_.value();
  }
  launches_per_unit_ = launches * kUnit.value() / learnt_.value();
}

// Whether the weights predicted the time of the stretch that follows the one they were learnt from.
void WorkMeter::judge() {
  const double count = static_cast<double>(blocks_.size());
  const double mean = std::accumulate(blocks_.begin(), blocks_.end(), 0.0) / count;
  double squares = 0;
  for (const double block : blocks_) squares += (block - mean) * (block - mean);
  scatter_ = std::sqrt(squares / (count - 1));
  const double sure = student_half_width95(count - 1) * scatter_ / std::sqrt(count);
  if (scatter_ > kMostScatter || std::abs(mean - 1) > kMostBias + sure) {
    refuse(fmt::format("the job has no period, and its launches do not tell how much work it does: "
                       "at the same clock they are off by {:+.0f} % and scatter by {:.0f} %",
                       100 * (mean - 1), 100 * scatter_),
           now_);
    return;
  }
  state_ = State::kTrusted;
  marks_.clear();
}

double WorkMeter::work_of(const Counts& counts) const {
  double work = 0;
  for (std::size_t k = 0; k < kColumns; ++k) work += counts[k] * weights_[k];
  return work;
}

void WorkMeter::check_mixture(double work) {
  for (std::size_t k = 0; k < kColumns; ++k) recent_[k] += open_[k] * weights_[k];
  recent_work_ += work;
  if (recent_work_ < kMixtureSpan) return;
  double moved = 0;
  for (std::size_t k = 0; k < kColumns; ++k) {
    moved += std::abs(recent_[k] / recent_work_ - usual_[k]) / 2;
  }
  recent_.fill(0);
  recent_work_ = 0;
  odd_mixtures_ = moved > kMixtureMoved ? odd_mixtures_ + 1 : 0;
  if (odd_mixtures_ < kMixtureLasts) return;
  refuse(fmt::format("the job has no period, and {:.0f} % of its work is of another kind than when "
                     "its kernels were weighed",
                     100 * moved),
         now_);
}

}  // namespace hypermile
