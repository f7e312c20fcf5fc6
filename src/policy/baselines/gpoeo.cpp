// SPDX-License-Identifier: Apache-2.0
//
// GPOEO (Wang, Zhang, Lai, Hao, Wang, IEEE TPDS 33(11), 2022), corrected: starts where a model says
// the best clocks are (PolicyContext::predict; 0.86 of the default where there is none), searches
// nearby (gpoeo_search.h), fits a cubic to what it measured and keeps the best gear of the fit.
// Times per iteration come from Windows, in place of its period detector. gpoeo_published.cpp has
// the method as its repository has it.
//
// Constants, as in the authors' code: under "energy" it minimises E*T^2, and so do we; feasible
// beats infeasible, then less reward, among infeasible less slowdown. One gear is 15 of 1995 MHz,
// so 0.75 % of the default's value here; radius 12 gears (10 % of its 120), 18 after a lower memory
// clock; re-centring at 0.85; golden section to less than 7 gears or 6 probes. Watching: a power
// spread above 18 % searches again from the Setting kept, above 50 % from the prediction.
//
// Corrected: (1) slowdown and energy are relative to the default as measured, whole board (it
// subtracted a constant 30 W); (2) a re-search measures the default again, which it compared with a
// baseline of another phase; (3) power's extremes are forgotten on re-search, else one outlier
// triggers for ever; (4) fewer than four points get a polynomial of as many coefficients as there
// are points, where its cubic was underdetermined; (5) a radius smaller than the list's own step
// moves by one rung; (6) goals without a bound count every gear as feasible.
#include "policy/baselines/gpoeo_search.h"
#include "policy/baselines/power_watch.h"
#include "policy/baselines/search_policy.h"
#include "policy/makers.h"

namespace hypermile {
namespace {

class Gpoeo : public SearchMethod {
 public:
  explicit Gpoeo(const PolicyContext& context)
      : objective_(context.objective),
        search_(context, GpoeoFit::kLowerDegree),
        predict_(context.predict),
        predicted_(search_.usual_start()),
        start_(predicted_) {}

  // As in the paper: features at the default tell where to begin.
  void see_default(const Window& window) override {
    if (!predict_ || !predict_now_) return;
    predict_now_ = false;
    const std::vector<PredictedRatio> ratios = predict_(window);
    if (ratios.empty()) return;
    const std::size_t best = predicted_best(ratios, objective_, *window.power);
    // Where nothing promises to save, the search begins at the top of the knob.
    if (best != 0 && !search_.grid().memory_of(best)) return;
    predicted_ = start_ = best != 0 ? best : search_.grid().main().front().setting;
  }

  std::optional<std::size_t> search(Trials& trials) const override {
    const auto base = trials.measure(0, "baseline");
    return base ? search_.search(trials, *base, start_) : std::nullopt;
  }

  bool changed(std::size_t kept, const Measured& window) override {
    const double spread = watch_.spread(window.power);
    if (spread <= kGpoeoSearchAgain) return false;
    predict_now_ = spread >= kGpoeoPredictAgain;
    start_ = predict_now_ ? predicted_ : kept;
    watch_.forget();
    return true;
  }

 private:
  Objective objective_;
  GpoeoSearch search_;
  PredictRatios predict_;
  std::size_t predicted_;
  std::size_t start_;
  bool predict_now_ = true;  // the next Window at the default says where to begin
  PowerWatch watch_;
};

}  // namespace

std::unique_ptr<Policy> make_gpoeo_policy(const PolicyContext& context) {
  return std::make_unique<SearchPolicy>(context, std::make_unique<Gpoeo>(context));
}

}  // namespace hypermile
