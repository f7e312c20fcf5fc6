// SPDX-License-Identifier: Apache-2.0
#include "nodes/joint_course.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "policy/bound_guard.h"
#include "policy/policies.h"

namespace hypermile {
namespace {

constexpr int kRetakes = 3;  // of a Window that circumstances spoiled, as on a single node
// After the first node's Window the others have this long, and half as long again as a Window
// lasts.
constexpr Seconds kPatience = Seconds(10);
constexpr double kPatienceWindows = 1.5;

// What every node offers, in the order of the first.
std::vector<Setting> common_settings(const std::map<NodeNumber, PhaseTerms>& nodes) {
  std::vector<Setting> common = nodes.begin()->second.settings;
  for (const auto& [number, terms] : nodes) {
    std::erase_if(common, [&settings = terms.settings](const Setting& one) {
      return std::ranges::find(settings, one) == settings.end();
    });
  }
  return common;
}

PolicyContext context_of(const CourseTerms& terms, const std::map<NodeNumber, PhaseTerms>& nodes) {
  PolicyContext context;
  context.settings = common_settings(nodes);
  context.objective = terms.objective;
  context.steady = terms.steady;
  context.seed = terms.seed;
  context.default_values = nodes.begin()->second.default_values;
  context.window_iterations = context.settle_iterations = 1;
  for (const auto& [number, node] : nodes) {
    context.window_iterations = std::max(context.window_iterations, node.window_iterations);
    context.settle_iterations = std::max(context.settle_iterations, node.settle_iterations);
  }
  return context;
}

}  // namespace

Result<std::unique_ptr<JointCourse>> JointCourse::make(Parts parts, Instant now) {
  PolicyContext context = context_of(parts.terms, parts.nodes);
  if (context.settings.size() < 2 || !context.settings.front().empty()) {
    return Error{ErrorCode::kUnsupported,
                 "the GPUs of the nodes have no setting in common but the default"};
  }
  if (parts.learnt) {
    const auto kept = std::ranges::find(context.settings, parts.learnt->kept);
    if (kept != context.settings.end() && kept != context.settings.begin()) {
      context.remembered = {static_cast<std::size_t>(kept - context.settings.begin()),
                            parts.learnt->time_ratio, parts.learnt->power_ratio};
    }
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Policy> policy, make_policy(parts.terms.policy, context));
  const Seconds typical = parts.nodes.begin()->second.typical;
  auto course = std::unique_ptr<JointCourse>(
      new JointCourse(std::move(parts), std::move(context), std::move(policy), typical, now));
  course->issue();
  return course;
}

JointCourse::JointCourse(Parts parts, PolicyContext context, std::unique_ptr<Policy> policy,
                         Seconds typical, Instant now)
    : parts_(std::move(parts)),
      context_(std::move(context)),
      policy_(std::move(policy)),
      typical_(typical),
      ledger_(context_.settings.size(), context_.window_iterations),
      begun_(now) {
  std::vector<GpuUuid> names;
  for (const auto& [number, terms] : parts_.nodes) names.emplace_back(parts_.names[number]);
  if (names.size() > 1) slack_.emplace(context_, std::move(names));
}

void JointCourse::report(NodeNumber node, const NodeReport& report, Instant now) {
  if (!parts_.nodes.contains(node)) return;
  if (node == parts_.nodes.begin()->first) pass_time(report.account);
  if (!report.window || report.order != id_) return;
  if (windows_.empty()) first_window_ = now;
  windows_.insert_or_assign(node, *report.window);
  if (windows_.size() == parts_.nodes.size()) judge(now);
}

void JointCourse::step(Instant now) {
  if (!first_window_) return;
  Seconds longest(0);
  for (const auto& [node, window] : windows_) longest = std::max(longest, window.duration);
  if (now - *first_window_ < std::max(kPatience, kPatienceWindows * longest)) return;
  for (const auto& [number, terms] : parts_.nodes) {
    if (windows_.contains(number)) continue;
    trouble_ = fmt::format("{} has measured nothing", parts_.names[number]);
    break;
  }
  spoiled_ = true;
  issue();
}

// Passes on what the lead's ledger has counted since its last account. Time off the default counts
// only once the default's pace is known, and is kept back until then. What was lost before this
// course is what the lead says. From then on the time itself is passed on: the lead corrects what
// was lost as it learns, and so does the ledger here.
void JointCourse::pass_time(const NodeAccount& account) {
  if (!before_) before_ = account;
  const double at_default = (account.done - account.off) - (account_.done - account_.off);
  if (at_default > 0) {
    ledger_.pass(false, at_default, Seconds(0));
    account_.done += at_default;
  }
  if (!ledger_.knows_default()) return;
  const bool first = account_.off < before_->off;
  const double off = (first ? before_->off : account.off) - account_.off;
  if (off <= 0) return;
  const Seconds took = first ? std::max(0.0, off + before_->lost) * ledger_.default_time()
                             : account.off_time - std::max(account_.off_time, before_->off_time);
  ledger_.pass(true, off, std::max(took, Seconds(0)));
  account_.off += off;
  account_.done += off;
  account_.off_time = first ? before_->off_time : account.off_time;
}

void JointCourse::guard_bound() {
  ledger_.set_job(likely_job(ledger_, typical_), likely_job(ledger_, typical_));
  const auto bound = effective_bound(context_.objective);
  if (!bound || !ledger_.knows_default()) return;
  const LostTime time = lost_time(ledger_, typical_, false);
  earning_back_ = near_bound(time, *bound, earning_back_);
  if (earning_back_ && !spoiled_) {
    trouble_ = fmt::format("the job has lost {:.1f} % of its time, near the bound of {:.1f} %",
                           100 * time.lost / time.job, 100 * *bound);
  }
}

std::vector<Setting> JointCourse::settings_of_step() {
  const std::size_t count = parts_.nodes.size();
  if (watches_default()) return std::vector<Setting>(count);
  if (slack_) return slack_->plan(*step_).settings;
  return std::vector<Setting>(count, context_.settings[step_->setting]);
}

std::string JointCourse::reason() const {
  if (watches_default()) return trouble_ + ": at the default until that is over";
  return step_->reason;
}

// An order for each node: the Step in hand, or the next one.
void JointCourse::issue() {
  guard_bound();
  if (!step_) {
    policy_->account(ledger_);
    step_ = policy_->next();
    retakes_ = 0;
    ++decisions_;
    if (step_->setting >= context_.settings.size()) step_->setting = 0;
  }
  windows_.clear();
  first_window_.reset();
  ordered_ = settings_of_step();
  Order order;
  order.id = id_ = parts_.next_id();
  order.phase = parts_.phase;
  order.exploring = step_->exploring || watches_default();
  order.iterations = watches_default() ? context_.window_iterations
                     : slack_          ? slack_->plan(*step_).iterations
                                       : step_->iterations;
  if (!watches_default()) order.abort_above = step_->abort_above;
  order.abort_after = step_->abort_after;
  order.confidence = step_->confidence;
  order.reason = reason();
  order.learnt = parts_.learnt;
  std::size_t i = 0;
  for (const auto& [number, terms] : parts_.nodes) {
    order.setting = ordered_[i++];
    parts_.send(number, order);
  }
}

void JointCourse::judge(Instant now) {
  std::vector<RankWindow> nodes;
  for (auto& [number, window] : windows_) {
    // Hosts' clocks differ; all of these Windows began with one order.
    window.begin = now;
    nodes.push_back({GpuUuid(parts_.names[number]), std::move(window)});
  }
  const Setting asked = watches_default() ? Setting() : context_.settings[step_->setting];
  take(join_windows(asked, nodes), nodes);
  issue();
}

void JointCourse::take(const Window& joint, std::span<const RankWindow> nodes) {
  if (watches_default()) {
    if (!joint.usable() && !joint.held_back()) return;
    ledger_.add(0, joint);
    spoiled_ = false;
    retakes_ = 0;
    return;
  }
  const bool told = joint.usable() || joint.aborted || joint.held_back() ||
                    joint.refusal == Refusal::kClockNotReached;
  if (!told && ++retakes_ < kRetakes) return;
  if (!told) {
    spoiled_ = true;
    trouble_ = "nothing can be measured: " + joint.unusable;
    return;
  }
  std::optional<Window> seen = joint;
  if (slack_) seen = slack_->observe(*step_, joint, nodes);
  if (!seen) return;  // of a test for slack: the Step is still open
  const Step done = *std::exchange(step_, std::nullopt);
  ledger_.add(done.setting, *seen);
  policy_->observe(*seen);
  if (!done.exploring && seen->usable()) learn(done);
}

void JointCourse::learn(const Step& step) {
  if (step.setting == 0) {
    if (step.shares.size() < 2) parts_.learnt.reset();
    return;
  }
  for (const SeenSetting& seen : ledger_.seen()) {
    if (seen.setting != step.setting) continue;
    parts_.learnt =
        Learnt{context_.settings[step.setting], std::exp(seen.log_time), std::exp(seen.log_power)};
  }
}

}  // namespace hypermile
