// SPDX-License-Identifier: Apache-2.0
//
// Joins a process's Boundaries with the readings of one GPU into consecutive Windows, each
// beginning where the last one ended. The observing loop of `run` and `attach` calls it on its own
// thread. Windows have a usual length; a change of phase ends one early, and it is kept if it is
// long enough. Where several iterations make up a larger one (micro-batches of an optimizer step),
// a Window holds whole larger iterations, so that each carries its share of the work done once per
// step. Cannot fail: a Window that is no good says so itself.
#pragma once

#include <functional>
#include <optional>

#include "measure/gpu_watch.h"
#include "measure/window_builder.h"
#include "progress/boundary.h"

namespace hypermile {

struct WindowLengths {
  Seconds length = Seconds(2);
  double fewest_iterations = 4;
  // A Window that was cut short and is shorter than this is dropped.
  Seconds shortest = Seconds(0.5);
};

class WindowMaker {
 public:
  using Done = std::function<void(const Window&)>;

  // `gpu` is null where no GPU could be opened; only time is measured then. It must outlive this.
  WindowMaker(GpuWatch* gpu, const WindowLengths& lengths, Done done);

  // Processes that belong to the job: any other process on the GPU spoils the Window. While the
  // list is empty, every process is accepted.
  void set_job_processes(std::vector<std::int64_t> pids) { job_processes_ = std::move(pids); }

  void add(const Boundary& boundary, bool fresh);
  void add(const SamplerReading& reading);
  void add(std::span<const GpuProcess> processes);
  // Ends the current Window.
  void close();

 private:
  void begin(const Boundary& boundary);
  void want_counter_at_an_end(Instant begin);
  // `outer` is the end of a larger iteration, at the last Boundary.
  void add_outer(const Boundary& outer);
  bool full() const;
  // Ends the current Window at the last Boundary and begins another there.
  void cut();

  GpuWatch* gpu_;
  WindowLengths lengths_;
  Done done_;
  std::vector<std::int64_t> job_processes_;
  double iteration_ = 0;  // iterations of the process so far, over all phases
  std::optional<WindowBuilder> builder_;
  PatternId pattern_;
  std::optional<Boundary> last_;        // newest Boundary of level 0
  std::optional<Boundary> last_outer_;  // newest Boundary of level 1 since the pattern last changed
  Seconds outer_takes_;                 // duration of the newest larger iteration; 0 while unknown
  Seconds usual_span_;                  // span of the newest full Window
  Instant counter_wanted_;              // time of the newest counter read that was requested
  bool begun_on_gpu_ = false;
};

}  // namespace hypermile
