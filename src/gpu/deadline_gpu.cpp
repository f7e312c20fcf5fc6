// SPDX-License-Identifier: Apache-2.0
#include "gpu/deadline_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

template <class T>
Result<T> flat(Result<Result<T>> nested) {
  if (!nested) return nested.error();
  return *std::move(nested);
}

template <class Function>
auto timed(CallRecorder& recorder, const char* kind, Function function) {
  const auto begin = std::chrono::steady_clock::now();
  auto value = function();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  recorder.add(kind, took.count());
  return value;
}

}  // namespace

DeadlineGpu::DeadlineGpu(Opener opener, Clock& clock, Options options)
    : opener_(std::move(opener)), clock_(clock), options_(options), pause_(options.first_pause) {}

Result<std::unique_ptr<DeadlineGpu>> DeadlineGpu::open(Opener opener, Clock& clock,
                                                       Options options) {
  std::unique_ptr<DeadlineGpu> gpu(new DeadlineGpu(std::move(opener), clock, options));
  RETURN_IF_ERROR(gpu->open_session());
  // No call is running, so this thread may read them.
  gpu->identity_ = gpu->session_->gpu->identity();
  gpu->capabilities_ = gpu->session_->gpu->capabilities();
  return gpu;
}

DeadlineGpu::~DeadlineGpu() {
  if (!session_) return;
  if (!session_->worker.idle()) {
    abandon_session();
    return;
  }
  // Closing the GPU may hang like any other call. The closure holds the last reference.
  if (!session_->gpu) return;
  const auto closed = session_->worker.call(
      [gpu = std::exchange(session_->gpu, nullptr)]() mutable {
        gpu.reset();
        return true;
      },
      options_.deadline);
  if (!closed) abandon_session();
}

Result<void> DeadlineGpu::open_session() {
  session_ = std::make_unique<Session>();
  auto opened = session_->worker.call(opener_, options_.open_deadline);
  if (!opened) {
    note_hang();
    return deadline_passed("open the GPU", options_.open_deadline);
  }
  if (!*opened) {
    session_.reset();
    return opened->error();
  }
  session_->gpu = std::move(*opened).value();
  return {};
}

// The thread ends when its call returns, but it must not close its GPU: that would call the driver
// at an arbitrary moment, perhaps while the process is ending.
void DeadlineGpu::abandon_session() {
  if (session_->gpu) keep_forever(session_->gpu);
  session_.reset();
}

void DeadlineGpu::note_hang() {
  if (!hung_since_) hung_since_ = clock_.now();
  try_again_ = clock_.now() + pause_;
  pause_ = pause_ * 2;
}

Error DeadlineGpu::unhealthy() const {
  return Error{ErrorCode::kTimeout,
               fmt::format("GPU {} has not answered for {:.3g} s", identity_.uuid.text(),
                           (clock_.now() - *hung_since_).value()),
               "the driver or GPU may hang; see dmesg for Xid messages"};
}

// Succeeds when the session can take a call now.
Result<void> DeadlineGpu::make_ready() {
  if (hung_since_) {
    if (clock_.now() < try_again_) return unhealthy();
    const bool hung = session_ && !session_->worker.idle();
    if (hung) {
      if (abandoned_ >= options_.most_abandoned) return unhealthy();
      ++abandoned_;
      abandon_session();
    }
  }
  // A session without a GPU is one whose opening hung and has since returned.
  if (!session_ || !session_->gpu) RETURN_IF_ERROR(open_session());
  return {};
}

template <class Function>
auto DeadlineGpu::counted(Function function) {
  ++*under_way_;
  return [gpu = session_->gpu, under_way = under_way_, function = std::move(function)]() mutable {
    auto value = function(*gpu);
    --*under_way;
    return value;
  };
}

template <class Function>
auto DeadlineGpu::call(const char* kind, std::string_view what, Function function)
    -> Result<std::invoke_result_t<Function&, Gpu&>> {
  take_round(/*wait=*/true);
  RETURN_IF_ERROR(make_ready());
  auto result = session_->worker.call(
      counted([recorder = recorder_, kind, function = std::move(function)](Gpu& gpu) mutable {
        return timed(*recorder, kind, [&] { return function(gpu); });
      }),
      options_.deadline);
  if (!result) {
    note_hang();
    return deadline_passed(what, options_.deadline);
  }
  note_answer();
  return *std::move(result);
}

void DeadlineGpu::note_answer() {
  hung_since_.reset();
  pause_ = options_.first_pause;
}

void DeadlineGpu::take_round(bool wait) {
  if (!under_way_round_) return;
  const bool idle = session_->worker.idle();
  const std::chrono::duration<double> passed =
      std::chrono::steady_clock::now() - under_way_round_->since;
  const Seconds left = std::max(Seconds(0), options_.deadline - Seconds(passed.count()));
  if (!idle && !wait && left > Seconds(0)) return;
  const RoundUnderWay round = *std::exchange(under_way_round_, std::nullopt);
  if (auto result = session_->worker.wait(round.result, left)) {
    note_answer();
    done_round_ = *std::move(result);
    return;
  }
  note_hang();
  done_round_ = SensorRound{round.wish, deadline_passed("read the sensors", options_.deadline),
                            std::vector<TimedPower>{}};
}

PolledRounds DeadlineGpu::poll(const SensorWish& wish) {
  take_round(/*wait=*/false);
  PolledRounds polled{!under_way_round_, std::exchange(done_round_, std::nullopt)};
  if (!polled.started || wish.empty()) return polled;
  if (const Result<void> ready = make_ready(); !ready) {
    if (!polled.done) polled.done = SensorRound{wish, ready.error(), std::vector<TimedPower>{}};
    return polled;
  }
  auto started = session_->worker.start(counted([recorder = recorder_, wish](Gpu& gpu) {
    const auto read = [&] { return gpu.read(wish.sensors); };
    const auto drain = [&] { return gpu.power_history(*wish.history_after); };
    SensorRound round{wish, timed(*recorder, "read", read), std::vector<TimedPower>{}};
    if (wish.history_after && round.sample)
      round.history = timed(*recorder, "power_history", drain);
    return round;
  }));
  under_way_round_ = {wish, std::move(started), std::chrono::steady_clock::now()};
  return polled;
}

Result<Sample> DeadlineGpu::read(SensorSet wanted) {
  return flat(call("read", "read the sensors", [wanted](Gpu& gpu) { return gpu.read(wanted); }));
}

Result<std::vector<TimedPower>> DeadlineGpu::power_history(Instant after) {
  return flat(call("power_history", "read the power samples",
                   [after](Gpu& gpu) { return gpu.power_history(after); }));
}

Result<ActivityMetrics> DeadlineGpu::activity() {
  return flat(call("activity", "read the activity", [](Gpu& gpu) { return gpu.activity(); }));
}

Result<std::vector<GpuProcess>> DeadlineGpu::processes() {
  return flat(call("processes", "list the processes", [](Gpu& gpu) { return gpu.processes(); }));
}

ApplyOutcome DeadlineGpu::apply(const Setting& setting) {
  Result<ApplyOutcome> outcome =
      call("apply", "apply the setting", [setting](Gpu& gpu) { return gpu.apply(setting); });
  if (outcome) return *std::move(outcome);
  ApplyOutcome failed;
  for (const Knob knob : kAllKnobs) {
    if (setting.has(knob)) failed.push_back({knob, outcome.error()});
  }
  return failed;
}

Result<void> DeadlineGpu::reset(Knob knob) {
  const Result<Result<void>> result =
      call("reset", "reset the GPU", [knob](Gpu& gpu) { return gpu.reset(knob); });
  return result ? *result : result.error();
}

}  // namespace hypermile
