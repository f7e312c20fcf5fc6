// SPDX-License-Identifier: Apache-2.0
#include "progress/token_classes.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace hypermile {
namespace {

constexpr std::size_t kCandidatesOfAKind = 10;
constexpr std::size_t kMostClasses = 1024;

// Counts that differ by one chain into one class, up to a tenth more than the first.
bool chains(std::uint32_t first, std::uint32_t last, std::uint32_t next) {
  return next - last <= 1 && next <= first + 2 + first / 10;
}

// Evenness in steps of 0.01, so that a single kernel wins over a pair that is hardly better.
auto evenness(const Token& token) {
  return std::tuple(std::lround(token.cv * 100), token.name.pair, token.cv);
}

}  // namespace

TokenClasses::TokenClasses() {
  classes_.reserve(kMostClasses);
  candidates_.reserve(2 * kCandidatesOfAKind);
}

void TokenClasses::sort(std::span<Token> tokens) {
  tokens_ = tokens;
  std::ranges::sort(tokens_, [](const Token& a, const Token& b) {
    return std::tuple(a.count, a.name.pair, a.first) < std::tuple(b.count, b.name.pair, b.first);
  });
  classes_.clear();
  std::uint32_t first = 0;
  for (std::uint32_t i = 1; i <= tokens_.size(); ++i) {
    if (i < tokens_.size() &&
        chains(tokens_[first].count, tokens_[i - 1].count, tokens_[i].count)) {
      continue;
    }
    close_class(first, i);
    first = i;
  }
  choose_candidates();
}

void TokenClasses::close_class(std::uint32_t first, std::uint32_t end) {
  if (classes_.size() == kMostClasses || first == end) return;
  const auto members = tokens_.subspan(first, end - first);
  std::ranges::sort(members, [](const Token& a, const Token& b) {
    return std::tuple_cat(evenness(a), std::tuple(a.first)) <
           std::tuple_cat(evenness(b), std::tuple(b.first));
  });
  TokenClass made{first, end - first, 0, members.front().cv, members.front().gap};
  made.steady = static_cast<std::uint32_t>(
      std::ranges::count_if(members, [](const Token& token) { return token.cv <= kSteadyCv; }));
  classes_.push_back(made);
}

void TokenClasses::choose_candidates() {
  const auto mark = [&](auto order) {
    std::ranges::sort(classes_, order);
    const std::size_t count = std::min(classes_.size(), kCandidatesOfAKind);
    for (std::size_t i = 0; i < count; ++i) {
      const auto same = [&](const TokenClass& other) { return other.first == classes_[i].first; };
      if (std::ranges::none_of(candidates_, same)) candidates_.push_back(classes_[i]);
    }
  };
  candidates_.clear();
  mark([](const TokenClass& a, const TokenClass& b) {
    return std::tuple(a.cv, a.first) < std::tuple(b.cv, b.first);
  });
  mark([](const TokenClass& a, const TokenClass& b) {
    return std::tuple(b.count, a.first) < std::tuple(a.count, b.first);
  });
}

std::size_t TokenClasses::memory_bytes() const {
  return (classes_.capacity() + candidates_.capacity()) * sizeof(TokenClass);
}

}  // namespace hypermile
