// SPDX-License-Identifier: Apache-2.0
#include "sim/stand_in/machine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "sim/advance.h"
#include "sim/ranks.h"
#include "sim/stand_in/host_clock.h"
#include "sim/stand_in/process_life.h"

namespace hypermile {
namespace {

constexpr double kLeaseSeconds = 2;  // a job is dropped after this real time without a report
// Queued work of a killed process continues for this real time.
constexpr double kAfterlifeSeconds = 0.1;
// An idle card that is not read is simulated for this long, and then skipped.
constexpr double kIdleDetailSeconds = 600;
constexpr std::int64_t kWallClockStepNs = 5'000'000;

void release(GpuRecord& record, const GpuConstants& constants) {
  stop_job(record.sim, constants);
  record.job.present = false;
}

// When the GPU will drop the job, in the machine's time, if its process does not report again.
double end_of(GpuRecord& record, double machine_s, double speed) {
  JobSlot& job = record.job;
  const double afterlife = job.beat_s + kAfterlifeSeconds * speed;
  // A process that has just reported need not be checked.
  if (machine_s - record.slept_s > afterlife && !process_lives(job.pid, job.pid_started)) {
    job.lease_s = std::min(job.lease_s, std::max(record.sim.now_s, afterlife));
  }
  return job.lease_s + record.slept_s;
}

struct Cell {
  GpuRecord* record = nullptr;
  const GpuConstants* constants = nullptr;
};

class UnitKeeper final : public JobObserver {
 public:
  explicit UnitKeeper(UnitRing& ring) : ring_(ring) {}
  void finished(const FinishedUnit& unit) override {
    ring_.units[ring_.count++ % kKeptUnits] = unit;
  }

 private:
  UnitRing& ring_;
};

// Moves the jobs of one group, or a single job, as far as all of them run, and then removes those
// that have ended. True when everything that runs has reached `machine_s`.
bool move_jobs(std::vector<Cell>& cells, double machine_s, double speed) {
  std::vector<SimRank> ranks;
  std::vector<UnitKeeper> keepers;
  keepers.reserve(cells.size());
  double end_s = kNever;
  for (const Cell& cell : cells) {
    JobSlot& job = cell.record->job;
    if (!job.present) continue;
    end_s = std::min(end_s, end_of(*cell.record, machine_s, speed));
    keepers.emplace_back(cell.record->finished);
    ranks.push_back({&cell.record->sim, cell.constants, &job.load, &keepers.back(),
                     cell.record->slept_s, job.iterations_before});
  }
  if (ranks.empty()) return true;
  const bool complete = ranks.size() >= cells.front().record->job.ranks;
  advance_together(ranks, complete, Seconds(std::min(machine_s, end_s)));
  if (machine_s < end_s) return true;
  for (const Cell& cell : cells) {
    const JobSlot& job = cell.record->job;
    if (job.present && job.lease_s + cell.record->slept_s <= end_s)
      release(*cell.record, *cell.constants);
  }
  return false;
}

void rest(GpuRecord& record, const GpuConstants& constants, double machine_s) {
  const double target = machine_s - record.slept_s;
  const double detailed = std::min(target, record.sim.now_s + kIdleDetailSeconds);
  advance(record.sim, constants, nullptr, Seconds(detailed));
  if (detailed < target) {
    record.slept_s += target - detailed;
    record.slept_j += (target - detailed) * view(record.sim, constants, nullptr).power.value();
  }
}

}  // namespace

double Machine::now_s() const {
  const std::int64_t elapsed = host_clock_ns(CLOCK_MONOTONIC) - state().origin_ns;
  return static_cast<double>(elapsed) * 1e-9 * state().speed;
}

std::uint64_t Machine::unix_us(const GpuRecord& record, double gpu_time_s) const {
  // A fixed offset gives a sample the same time at every read, unless the wall clock is changed.
  const std::int64_t epoch_now =
      host_clock_ns(CLOCK_REALTIME) - host_clock_ns(CLOCK_MONOTONIC) + state().origin_ns;
  const bool stepped = std::abs(epoch_now - state().epoch_ns) > kWallClockStepNs;
  const std::int64_t epoch = stepped ? epoch_now : state().epoch_ns;
  const double since_origin = (gpu_time_s + record.slept_s) / state().speed;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(
      0, epoch / 1000 + static_cast<std::int64_t>(std::llround(since_origin * 1e6))));
}

GpuRecord& Machine::next_record(unsigned gpu) {
  GpuCell& cell = state().cells[gpu];
  return cell.records[(cell.current.load(std::memory_order_acquire) & 1U) ^ 1U];
}

std::vector<unsigned> Machine::copy_group(unsigned gpu) {
  const auto current = [&](unsigned i) -> const GpuRecord& {
    const GpuCell& cell = state().cells[i];
    return cell.records[cell.current.load(std::memory_order_acquire) & 1U];
  };
  const JobSlot& job = current(gpu).job;
  std::vector<unsigned> members = {gpu};
  for (unsigned i = 0; i < gpu_count() && job.present && job.group != 0; ++i) {
    const JobSlot& other = current(i).job;
    if (i != gpu && other.present && other.group == job.group) members.push_back(i);
  }
  for (const unsigned i : members) next_record(i) = current(i);
  return members;
}

template <class Change>
Result<GpuView> Machine::update(unsigned gpu, Change change) {
  GpuCell& cell = state().cells[gpu];
  GpuView result;
  {
    ASSIGN_OR_RETURN(const auto lock, region_->lock());
    result.time_s = now_s();
    const std::vector<unsigned> members = copy_group(gpu);
    std::vector<Cell> cells;
    for (const unsigned i : members)
      cells.push_back({&next_record(i), &state().cells[i].constants});
    while (!move_jobs(cells, result.time_s, state().speed)) {
    }
    for (const Cell& each : cells) {
      if (!each.record->job.present) rest(*each.record, *each.constants, result.time_s);
    }
    GpuRecord& next = next_record(gpu);
    RETURN_IF_ERROR(change(next));
    result.record = next;
    // A process killed between two of these stores leaves ranks at different times; the next update
    // makes them equal.
    for (const unsigned i : members) {
      state().cells[i].current.fetch_xor(1U, std::memory_order_release);
    }
  }
  const JobSlot& job = result.record.job;
  result.now = view(result.record.sim, cell.constants, job.present ? &job.load : nullptr);
  return result;
}

Result<GpuView> Machine::look(unsigned gpu) {
  return update(gpu, [](GpuRecord&) { return Result<void>(); });
}

Result<void> Machine::request_knob(unsigned gpu, Knob knob, std::optional<double> value,
                                   const std::function<void(GpuRecord&)>& note) {
  Seconds blocked(0);
  RETURN_IF_ERROR(update(gpu, [&](GpuRecord& record) {
    blocked = request(record.sim, constants(gpu), knob, value);
    note(record);
    return Result<void>();
  }));
  const double seconds = std::clamp(blocked.value() / speed(), 0.0, 1.0);
  ::usleep(static_cast<useconds_t>(seconds * 1e6));
  return {};
}

Result<void> Machine::set_persistence(unsigned gpu, bool on) {
  RETURN_IF_ERROR(update(gpu, [on](GpuRecord& record) {
    record.persistence = on;
    return Result<void>();
  }));
  return {};
}

Result<void> Machine::start_job(unsigned gpu, const JobRequest& request) {
  RETURN_IF_ERROR(update(gpu, [&](GpuRecord& record) -> Result<void> {
    JobSlot& job = record.job;
    if (job.present && job.pid != ::getpid()) {
      return Error{ErrorCode::kBusy,
                   fmt::format("process {} already trains on GPU {}", job.pid, gpu),
                   "a simulated GPU runs one job: wait for its end, or choose another with --gpu"};
    }
    if (job.present) release(record, constants(gpu));
    job.present = true;
    job.pid = ::getpid();
    job.pid_started = own_start_time();
    job.beat_s = record.sim.now_s;
    job.lease_s = job.beat_s + kLeaseSeconds * speed();
    job.memory_bytes = std::min(request.memory_bytes, facts(gpu).memory_bytes);
    job.load = request.load;
    job.group = request.group;
    job.ranks = std::max(1U, request.ranks);
    job.iterations_before = request.iterations_before;
    hypermile::start_job(record.sim, constants(gpu), job.load, 0, job.group != 0 ? 0 : kNoBarrier);
    return {};
  }));
  return {};
}

Result<GpuView> Machine::beat(unsigned gpu) {
  return update(gpu, [&](GpuRecord& record) -> Result<void> {
    JobSlot& job = record.job;
    if (!job.present || job.pid != ::getpid()) {
      return Error{ErrorCode::kNotFound,
                   "the GPU dropped this job, because its process stood still for too long"};
    }
    job.beat_s = record.sim.now_s;
    job.lease_s = job.beat_s + kLeaseSeconds * speed();
    return {};
  });
}

Result<void> Machine::allow_iteration(unsigned gpu) {
  RETURN_IF_ERROR(update(gpu, [&](GpuRecord& record) {
    set_barrier(record.sim, constants(gpu), record.job.load, record.sim.job.train_iterations + 1);
    return Result<void>();
  }));
  return {};
}

Result<void> Machine::end_job(unsigned gpu) {
  RETURN_IF_ERROR(update(gpu, [&](GpuRecord& record) {
    if (record.job.present && record.job.pid == ::getpid()) release(record, constants(gpu));
    return Result<void>();
  }));
  return {};
}

}  // namespace hypermile
