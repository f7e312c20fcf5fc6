// SPDX-License-Identifier: Apache-2.0
//
// How much time a phase of the job has lost off the default so far, probes, settling and the search
// included: what its iterations took there, against what as many took at the default before and
// after. The bound is a promise on the whole job, so this is what it is held against, whatever a
// policy believes of single Settings. Boundaries and Windows at the default go in, no model.
#pragma once

#include <optional>

#include "base/units.h"
#include "measure/window.h"

namespace hypermile {

class SlowdownAccount {
 public:
  // A usable Window at the default.
  void add_default(const Window& window);
  // Iterations off the default, measured or not; in order of time with the Windows.
  void add_off_default(Seconds took, double iterations);

  // Of an iteration at the default, by all its Windows; nullopt before there is one.
  std::optional<Seconds> default_time() const;

  struct Standing {
    Seconds lost;   // negative where the job was faster off the default
    Seconds error;  // standard: noise of the default's Windows, and how the job's own speed wanders
  };
  // Nothing is lost before the default was measured.
  Standing standing() const;

 private:
  // The default as the Windows of one stay saw it.
  struct Level {
    double time = 0;  // seconds an iteration
    double iterations = 0;
    double variance = 0;  // relative
  };
  struct Stretch {
    double seconds = 0;
    double iterations = 0;
  };
  struct Loss {
    double seconds = 0;
    double variance = 0;
  };
  static void merge(std::optional<Level>& into, const Level& other);
  double wander() const;
  Level shrunk(const Level& level) const;
  Loss loss_of(const Stretch& stretch) const;

  std::optional<Level> all_, before_, after_;  // of the open stretch
  Stretch open_;
  Loss closed_;
  double stays_ = 0, excess_ = 0;  // at the default that are over; their scatter beyond noise
};

}  // namespace hypermile
