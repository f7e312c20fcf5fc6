// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/search_policy.h"

namespace hypermile {

bool SearchMethod::changed(std::size_t, const Measured&) {
  return false;
}

void SearchMethod::see_default(const Window&) {}

SearchPolicy::SearchPolicy(const PolicyContext& context, std::unique_ptr<SearchMethod> method)
    : settings_(context.settings.size()),
      window_iterations_(context.window_iterations),
      method_(std::move(method)) {
  advance();
}

Step SearchPolicy::next() {
  Step step;
  step.iterations = window_iterations_;
  if (blind()) {
    step.reason = "nothing can be measured: the default until it can";
  } else if (kept_) {
    step.setting = *kept_;
    step.reason = "kept";
  } else {
    step.setting = trials_.wanted();
    step.exploring = true;
    step.reason = trials_.reason();
  }
  // None of these methods knows how sure it is.
  step.confidence = step.setting == 0 ? 1 : 0.5;
  return step;
}

void SearchPolicy::observe(const Window& window) {
  const std::optional<Measured> good = measured(window);
  if (!good) {
    ++bad_in_a_row_;
    if (bad_in_a_row_ == kBadWindowsInARow && !kept_ && ++blind_spells_ >= kBlindSpells) kept_ = 0;
    return;
  }
  if (blind()) {  // a Window at the default, asked for by nobody
    bad_in_a_row_ = 0;
    return;
  }
  bad_in_a_row_ = 0;
  if (!kept_) {
    if (window.setting.empty()) method_->see_default(window);
    trials_.add(*good);
    advance();
  } else if (blind_spells_ < kBlindSpells && method_->changed(*kept_, *good)) {
    trials_.clear();
    advance();
  }
}

void SearchPolicy::advance() {
  trials_.restart();
  kept_ = settings_ < 2 ? std::optional<std::size_t>(0) : method_->search(trials_);
}

}  // namespace hypermile
