// SPDX-License-Identifier: Apache-2.0
#include "evidence/policy/careful_rival.h"

#include <optional>
#include <utility>

#include "policy/look_cut.h"

namespace hypermile {
namespace {

class CarefulRival : public Policy {
 public:
  CarefulRival(std::unique_ptr<Policy> rival, const PolicyContext& context)
      : rival_(std::move(rival)), context_(context) {}

  void account(const JobLedger& ledger) override {
    ledger_ = &ledger;
    rival_->account(ledger);
  }

  Step next() override {
    const bool known = ledger_ != nullptr && ledger_->knows_default();
    measures_default_ = known && ledger_->since_default() > context_.search.default_windows;
    if (measures_default_) {
      return {.setting = 0, .iterations = context_.window_iterations, .exploring = true};
    }
    Step step = rival_->next();
    const auto bound = effective_bound(context_.objective);
    if (!known || !bound || !step.exploring || step.setting == 0) return step;
    cut_when_slow(step, context_.search, *ledger_, 1 + context_.search.crawl * *bound);
    return step;
  }

  void observe(const Window& window) override {
    if (!first_ && ledger_ != nullptr && ledger_->knows_default()) {
      first_ = Default{ledger_->default_time(), ledger_->default_power()};
    }
    if (measures_default_) return;
    Window corrected = window;
    if (first_ && corrected.time_per_iteration && corrected.power) {
      corrected.time_per_iteration =
          *corrected.time_per_iteration * (first_->time / ledger_->default_time());
      corrected.power = *corrected.power * (first_->power / ledger_->default_power());
    }
    rival_->observe(corrected);
  }

 private:
  struct Default {
    Seconds time;
    Watts power;
  };
  std::unique_ptr<Policy> rival_;
  PolicyContext context_;
  const JobLedger* ledger_ = nullptr;
  std::optional<Default> first_;  // the default as the rival first saw it
  bool measures_default_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_careful(std::unique_ptr<Policy> rival, const PolicyContext& context) {
  return std::make_unique<CarefulRival>(std::move(rival), context);
}

}  // namespace hypermile
