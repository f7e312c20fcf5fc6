// SPDX-License-Identifier: Apache-2.0
//
// The Policy around a search that decides once and keeps its choice: all baselines are one. It runs
// the search one Window at a time, holds what the search chose, and lets it watch the Windows that
// follow, should it know how to tell that the job has changed.
//
// Windows that no decision can rest on are taken again. After three in a row the job runs at the
// default until a Window is good again; a search that went blind three times is given up, and the
// default kept.
#pragma once

#include <memory>
#include <optional>

#include "policy/baselines/trials.h"
#include "policy/policy.h"

namespace hypermile {

class SearchMethod {
 public:
  virtual ~SearchMethod() = default;

  // The Setting to keep, or nullopt as soon as `trials` says that a measurement is missing. A pure
  // function of the trials; ends after finitely many.
  virtual std::optional<std::size_t> search(Trials& trials) const = 0;

  // A Window at the default, before the search goes on.
  virtual void see_default(const Window& window);

  // A Window at the Setting kept. True: the job is no longer the one that was searched, so search
  // again from nothing.
  virtual bool changed(std::size_t kept, const Measured& window);
};

class SearchPolicy final : public Policy {
 public:
  SearchPolicy(const PolicyContext& context, std::unique_ptr<SearchMethod> method);

  Step next() override;
  void observe(const Window& window) override;

 private:
  bool blind() const { return bad_in_a_row_ >= kBadWindowsInARow; }
  void advance();

  static constexpr int kBadWindowsInARow = 3;
  static constexpr int kBlindSpells = 3;

  std::size_t settings_;
  double window_iterations_;
  std::unique_ptr<SearchMethod> method_;
  Trials trials_;
  std::optional<std::size_t> kept_;
  int bad_in_a_row_ = 0;
  int blind_spells_ = 0;
};

}  // namespace hypermile
