// SPDX-License-Identifier: Apache-2.0
//
// Groups tokens that occur equally often in a stretch: those launched once per iteration form one
// class, those launched twice another. Each class is a candidate for the iteration.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "progress/tokens.h"

namespace hypermile {

// The gaps of a token hardly vary where their coefficient of variation is at most this.
inline constexpr float kSteadyCv = 0.1F;

struct TokenClass {
  std::uint32_t first = 0;  // index of its first member
  std::uint32_t count = 0;
  std::uint32_t steady = 0;  // members whose gaps hardly vary
  float cv = 0;              // of the first member, which is the most even
  float gap = 0;
};

class TokenClasses {
 public:
  TokenClasses();

  // Sorts the tokens into classes, in place. The tokens must outlive the classes.
  void sort(std::span<Token> tokens);

  // The most even and the largest classes, at most twenty, for a closer look.
  std::span<const TokenClass> candidates() const { return candidates_; }
  // The most even member comes first, single kernels before pairs.
  std::span<const Token> members(const TokenClass& of) const {
    return tokens_.subspan(of.first, of.count);
  }

  std::size_t memory_bytes() const;

 private:
  void close_class(std::uint32_t first, std::uint32_t end);
  void choose_candidates();

  std::span<Token> tokens_;
  std::vector<TokenClass> classes_;
  std::vector<TokenClass> candidates_;
};

}  // namespace hypermile
