// SPDX-License-Identifier: Apache-2.0
//
// Follows a known pattern launch by launch: reports where each iteration begins, learns slow
// changes of the pattern, and notices when the job does something else. O(1) per launch; a boundary
// costs one operation per distinct kernel of the iteration. Part of the detector.
//
// The pattern is broken if the witnesses come in another order, if more launches than ever before
// are not explained by the reference, or if an iteration does not end.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "progress/analysis.h"

namespace hypermile {

// A kernel that an iteration launched more (or less) often than the reference.
struct CountEvent {
  KernelNumber kernel = 0;
  bool more = false;
  std::uint32_t by = 0;
};

class Tracker {
 public:
  enum class Outcome { kNothing, kBoundary, kBroken };

  Tracker();

  // Starts again. The first anchor opens the first iteration.
  void start(const Reference& reference);
  // Launches were missed before `launch`. Tracking resumes at the next anchor, which ends no
  // iteration.
  void resume(std::uint64_t launch);
  // `launch` must count up by one. After kBroken, only start() may follow.
  Outcome add(std::uint64_t launch, KernelNumber previous, KernelNumber kernel);

  // Iterations that ended at the boundary just reported: 0 at the first, 2 or 3 if anchors were
  // missed.
  unsigned iterations() const { return iterations_; }
  std::span<const CountEvent> events() const { return events_; }

  // Both count since start().
  std::uint64_t segments() const { return segments_; }
  std::uint64_t first_boundary() const { return first_boundary_; }
  // Whether the iteration just reported was not like the reference.
  bool doubtful() const { return bad_ > 0; }
  // Where the unexplained launches begin.
  std::uint64_t first_bad() const { return bad_ > 0 ? first_bad_ : segment_start_; }
  double length() const { return length_; }
  double similarity() const { return similarity_; }
  bool elastic() const { return elastic_; }
  // Standard deviation over mean of the launches in the last iterations, at most 128.
  double gap_cv() const;
  // Mean launches of the same iterations.
  double mean_gap() const;
  std::size_t gaps() const { return segments_ < kGaps ? segments_ : kGaps; }
  // Number of kernels that most iterations launch.
  std::size_t distinct() const;
  // `from` with its numbers replaced by those learnt so far.
  Reference learnt(const Reference& from) const;

  std::size_t memory_bytes() const;

 private:
  static constexpr std::size_t kGaps = 128;
  static constexpr std::size_t kMostWitnesses = 16;

  struct Kernel {
    std::uint32_t count = 0;  // in this segment
    float reference = 0;      // per iteration
    std::int16_t witness = -1;
    bool member = false;  // listed in members_
  };

  bool is_anchor(KernelNumber previous, KernelNumber kernel) const {
    return kernel == anchor_.kernel && (!anchor_.pair || previous == anchor_.previous);
  }
  bool stray_anchor() const;
  double witnesses_come() const;
  void close_segment(std::uint64_t launch);
  double try_several(double alike);
  double compare(unsigned times);
  bool judge(double alike);
  void begin_segment(bool learn);
  bool count(Kernel& kernel, KernelNumber number);
  bool too_much_unexplained() const;
  bool out_of_order(std::int16_t witness);

  TokenName anchor_;
  std::vector<Kernel> kernels_;        // by kernel number
  std::vector<KernelNumber> members_;  // kernels with a reference or a count
  std::vector<CountEvent> events_;

  bool elastic_ = false;
  bool open_ = false;
  bool resumed_ = false;  // resume() was called, and no whole iteration has come since
  unsigned iterations_ = 0;
  std::uint64_t segments_ = 0;
  std::uint64_t segment_start_ = 0;
  std::uint64_t first_boundary_ = 0;
  double length_ = 0;      // launches of the reference
  double similarity_ = 0;  // usual similarity
  double shortest_ = 0;    // shortest recent iteration, in launches
  double longest_ = 0;     // longest recent iteration, in launches
  double most_bad_ = 0;    // the pattern is broken above this many unexplained launches
  double give_up_ = 0;     // the pattern is broken above this many launches in one segment
  double bad_ = 0;         // unexplained launches of consecutive bad segments
  std::uint64_t first_bad_ = 0;
  std::uint32_t segment_length_ = 0;
  std::uint32_t excess_ = 0;        // launches of this segment beyond the reference
  std::uint32_t excess_twice_ = 0;  // launches of this segment beyond twice the reference

  std::size_t witnesses_ = 0;
  bool in_order_ = false;            // each witness comes once per iteration
  std::uint64_t witness_clock_ = 0;  // counts launches of all witnesses
  std::array<std::uint64_t, kMostWitnesses> last_fired_{};
  unsigned disorder_ = 0;

  std::array<std::uint32_t, kGaps> gaps_{};
};

}  // namespace hypermile
