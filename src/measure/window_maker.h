// SPDX-License-Identifier: Apache-2.0
//
// Joins a process's Boundaries with the readings of a GPU it uses into one Window after the other,
// each beginning where the last ended. Windows have a usual length; one that a change of phase cuts
// short is kept if it is long enough to mean something. Where several iterations make up a larger
// one (micro-batches of an optimizer step), Windows hold whole ones of those, all with their share
// of what comes once in it.
#pragma once

#include <functional>
#include <optional>

#include "measure/gpu_watch.h"
#include "measure/window_builder.h"
#include "progress/boundary.h"

namespace hypermile {

struct WindowPlan {
  Seconds length = Seconds(2);
  double fewest_iterations = 4;
  Seconds shortest = Seconds(0.5);  // when cut short
};

class WindowMaker {
 public:
  using Done = std::function<void(const Window&)>;

  // `gpu` is null where none could be opened: then only time is measured. It must outlive this.
  WindowMaker(GpuWatch* gpu, const WindowPlan& plan, Done done);

  // Processes that may be on the GPU without being strangers; none: nobody is a stranger.
  void set_job_processes(std::vector<std::int64_t> pids) { job_processes_ = std::move(pids); }

  void add(const Boundary& boundary, bool fresh);
  void add(const SamplerReading& reading);
  void add(std::span<const GpuProcess> processes);
  // Ends the Window that is being made.
  void close();

 private:
  void begin(const Boundary& boundary);
  void want_counter_at_an_end(Instant begin);
  // A larger iteration ended at the last Boundary.
  void add_outer(const Boundary& outer);
  bool full() const;
  // Ends the Window at the last Boundary, and begins another there.
  void cut();

  GpuWatch* gpu_;
  WindowPlan plan_;
  Done done_;
  std::vector<std::int64_t> job_processes_;
  double iteration_ = 0;  // of the process, over all phases
  std::optional<WindowBuilder> builder_;
  PatternId pattern_;
  std::optional<Boundary> last_;        // of level 0
  std::optional<Boundary> last_outer_;  // of level 1, in the present stretch
  Seconds outer_takes_;                 // 0: not known
  Seconds usual_span_;                  // of the last whole Window
  Instant counter_wanted_;              // last
  bool begun_on_gpu_ = false;
};

}  // namespace hypermile
