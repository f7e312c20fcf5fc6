// SPDX-License-Identifier: Apache-2.0
#include "control/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "control/controller.h"

namespace hypermile {
namespace {

constexpr Seconds kLookForStrangers = Seconds(2);
constexpr Seconds kFollow = milliseconds(100);  // what is new of the job's processes
constexpr Seconds kShow = Seconds(1);
constexpr Seconds kLogSample = Seconds(1);
constexpr Seconds kLogCalls = Seconds(10);
constexpr Seconds kThrottleOver = Seconds(1);

std::string_view status_text(RingStatus status) {
  switch (status) {
    case RingStatus::kStarting:
      return "starting";
    case RingStatus::kWatching:
      return "watching";
    case RingStatus::kNoCupti:
      return "no_cupti";
    case RingStatus::kCuptiFailed:
      return "cupti_failed";
    case RingStatus::kOtherProfiler:
      return "other_profiler";
    case RingStatus::kHandedOver:
      return "handed_over";
    case RingStatus::kEnded:
      return "ended";
  }
  return "starting";
}

}  // namespace

Session::Session(SessionParts parts, const SessionOptions& options)
    : parts_(std::move(parts)), options_(options), progress_(parts_.folder, *this, options.delays) {
  if (parts_.controller == nullptr) return;
  parts_.controller->start({.take = [this](const ProcessProgress& process, const GpuUuid& gpu,
                                           const Window& window) { take(process, gpu, window); },
                            .write = [this](EventBody body) { write(std::move(body)); },
                            .warn = [this](const std::string& line) { complain(line); },
                            .attend = [this](const Attention& attention) { attend(attention); }});
}

Session::~Session() = default;

void Session::run(const std::stop_token& ended) {
  // Whatever goes wrong in here is ours alone: the job is left running and its end awaited.
  try {
    while (!ended.stop_requested()) parts_.clock.sleep_until(step(), ended);
    finish();
  } catch (const std::exception& problem) {
    complain(fmt::format("observing stopped: {}; the job goes on", problem.what()));
    // GPUs are given back whatever happened.
    if (parts_.controller != nullptr) parts_.controller->finish(parts_.clock.now());
  }
}

Instant Session::step() {
  const Instant now = parts_.clock.now();
  progress_.poll(now);
  if (!followed_ || now - *followed_ >= kFollow) {
    followed_ = now;
    follow_processes();
  }
  poll_gpus(now);
  look_for_strangers(now);
  if (parts_.each_second && (!shown_ || now - *shown_ >= kShow)) {
    shown_ = now;
    parts_.each_second();
  }
  Instant next = now + options_.step;
  for (const auto& [name, gpu] : gpus_) next = std::min(next, std::max(gpu->due(), now));
  if (parts_.controller != nullptr)
    next = std::min(next, std::max(parts_.controller->step(now), now));
  return next;
}

void Session::finish() {
  const Instant now = parts_.clock.now();
  for (const auto& [name, gpu] : gpus_) {
    for (const SamplerReading& reading : gpu->poll_last(now)) pass_on(*gpu, reading);
    // The energy of the run ends with the counter's last reading.
    if (const auto newest = energy_.find(gpu.get()); newest != energy_.end()) {
      Sample last;
      last.energy = newest->second;
      write(SampleEvent{gpu->identity().uuid, std::move(last)});
    }
    if (gpu->opened()) tell_calls(*gpu);
  }
  progress_.finish(now);
  follow_processes();
  for (Pair& pair : pairs_) pair.maker->close();
  if (parts_.controller == nullptr) return;
  if (parts_.interrupted.stop_requested()) {
    parts_.controller->finish(now, "hypermile was interrupted");
  } else {
    parts_.controller->finish(now);
  }
}

RunSummary Session::summary() const {
  return summarize(progress_, figures_, gpus());
}

std::vector<const GpuWatch*> Session::gpus() const {
  std::vector<const GpuWatch*> gpus;
  for (const auto& [name, gpu] : gpus_) gpus.push_back(gpu.get());
  return gpus;
}

// Which GPUs a process uses it tells itself; one that only ticks is taken to use its first.
std::vector<DeviceName> Session::devices_of(const ProcessProgress& process) const {
  if (options_.only_gpu) return {*options_.only_gpu};
  std::vector<std::uint32_t> numbers = process.devices();
  if (numbers.empty() && process.first_seen()) numbers.push_back(0);
  std::vector<DeviceName> names;
  for (const std::uint32_t number : numbers) {
    names.push_back(
        {parts_.visible_devices ? parts_.visible_devices(process.pid()) : std::nullopt, number});
  }
  return names;
}

void Session::watch_gpu(const DeviceName& name) {
  std::unique_ptr<GpuWatch>& gpu = gpus_[name];
  if (gpu) return;
  gpu = std::make_unique<GpuWatch>(name, parts_.open_gpu, parts_.clock, options_.sampler);
}

void Session::follow_processes() {
  for (const DeviceName& name : options_.also_watch) watch_gpu(name);
  for (const auto& process : progress_.processes()) {
    tell_of(*process);
    if (process->over()) continue;
    for (const DeviceName& name : devices_of(*process)) watch_gpu(name);
  }
}

void Session::poll_gpus(Instant now) {
  for (const auto& [name, gpu] : gpus_) {
    const auto reading = gpu->poll(now);
    if (gpu->problem()) {
      complain(fmt::format("GPU {}: {}", name.device, gpu->problem()->line()));
    }
    if (gpu->opened() && introduced_.insert(gpu.get()).second) {
      write(GpuEvent{gpu->identity()});
      if (parts_.controller != nullptr) parts_.controller->gpu_opened(*gpu);
    }
    if (reading) pass_on(*gpu, *reading);
    tell_findings(*gpu);
  }
}

void Session::tell_findings(GpuWatch& gpu) {
  for (std::string finding = gpu.take_finding(); !finding.empty(); finding = gpu.take_finding()) {
    complain(fmt::format("GPU {}: {}", gpu.name().device, finding));
    write(ErrorEvent{gpu.identity().uuid, Error{ErrorCode::kNotReady, std::move(finding)}});
  }
}

void Session::pass_on(GpuWatch& gpu, const SamplerReading& reading) {
  if (parts_.controller != nullptr) parts_.controller->reading(gpu, reading);
  for (Pair& pair : pairs_) {
    if (pair.gpu == &gpu) pair.maker->add(reading);
  }
  const GpuUuid& uuid = gpu.identity().uuid;
  const Sample& sample = reading.sample;
  if (sample.energy) energy_[&gpu] = *sample.energy;
  const auto logged = logged_.find(&gpu);
  // The first reading of the energy counter is logged at once: the energy of the run begins there.
  const bool first_energy = sample.energy && !figures_.energy(uuid);
  if (first_energy || logged == logged_.end() || sample.time - logged->second >= kLogSample) {
    logged_[&gpu] = sample.time;
    Sample told = sample;
    // The counter is read less often than the rest: its newest value since then.
    if (const auto newest = energy_.find(&gpu); newest != energy_.end())
      told.energy = newest->second;
    energy_.erase(&gpu);
    write(SampleEvent{uuid, std::move(told)});
    if (const auto calls = calls_logged_.find(&gpu);
        calls == calls_logged_.end() || sample.time - calls->second >= kLogCalls) {
      calls_logged_[&gpu] = sample.time;
      tell_calls(gpu);
    }
  }
  // A card at its power limit hunts around it, many times a second: that is one state.
  Throttling& throttling = throttled_[&gpu];
  if (!sample.reasons) return;
  if (sample.reasons->throttled()) throttling.seen = sample.time;
  const bool now = throttling.seen && sample.time - *throttling.seen < kThrottleOver;
  if (std::exchange(throttling.told, now) != now) {
    write(Throttle{uuid, now ? *sample.reasons : EventReasons{}});
  }
}

void Session::tell_calls(GpuWatch& gpu) {
  CallTimes calls = gpu.gpu().call_times();
  if (!calls.empty()) write(DriverCalls{gpu.identity().uuid, std::move(calls)});
}

// Others on a GPU spoil the energy measured on it. Inside a container NVML numbers processes as the
// host does, so nobody is called a stranger unless the job itself is recognised.
void Session::look_for_strangers(Instant now) {
  if (strangers_looked_ && now - *strangers_looked_ < kLookForStrangers) return;
  strangers_looked_ = now;
  std::vector<std::int64_t> ours;
  for (const auto& process : progress_.processes()) ours.push_back(process->pid());
  for (const auto& [name, gpu] : gpus_) {
    if (!gpu->opened()) continue;
    const auto seen = gpu->gpu().processes();
    if (!seen) continue;
    const bool recognised = std::ranges::any_of(*seen, [&](const GpuProcess& process) {
      return std::ranges::count(ours, process.pid) > 0;
    });
    if (parts_.controller != nullptr) {
      parts_.controller->seen_on(*gpu, *seen, recognised ? ours : std::vector<std::int64_t>());
    }
    if (!recognised) continue;
    for (Pair& pair : pairs_) {
      if (pair.gpu != gpu.get()) continue;
      pair.maker->set_job_processes(ours);
      pair.maker->add(*seen);
    }
  }
}

std::vector<GpuWatch*> Session::gpus_of(const ProcessProgress& process) {
  std::vector<GpuWatch*> opened;
  for (const DeviceName& name : devices_of(process)) {
    const auto found = gpus_.find(name);
    if (found != gpus_.end() && found->second->opened()) opened.push_back(found->second.get());
  }
  if (opened.empty()) opened.push_back(nullptr);
  return opened;
}

WindowMaker& Session::maker(const ProcessProgress& process, GpuWatch* gpu) {
  const auto found = std::ranges::find_if(
      pairs_, [&](const Pair& pair) { return pair.process == &process && pair.gpu == gpu; });
  if (found != pairs_.end()) return *found->maker;
  const GpuUuid uuid = gpu != nullptr ? gpu->identity().uuid : GpuUuid();
  auto made = std::make_unique<WindowMaker>(
      gpu, options_.windows,
      [this, &process, uuid](const Window& window) { take(process, uuid, window); });
  pairs_.push_back({&process, gpu, std::move(made)});
  return *pairs_.back().maker;
}

void Session::take(const ProcessProgress& process, const GpuUuid& gpu, const Window& window) {
  const auto phase =
      std::ranges::find(process.phases(), window.pattern.phase, &PhaseProgress::phase);
  std::optional<double> counted;
  if (phase != process.phases().end()) counted = phase->iterations;
  write(WindowEvent{gpu, window, process.pid(), counted});
}

void Session::boundary(const ProcessProgress& process, const Boundary& boundary, bool fresh) {
  if (parts_.controller != nullptr) {
    std::vector<GpuWatch*> gpus = gpus_of(process);
    std::erase(gpus, nullptr);
    parts_.controller->boundary(process, boundary, fresh, gpus);
    return;
  }
  for (GpuWatch* gpu : gpus_of(process)) maker(process, gpu).add(boundary, fresh);
}

void Session::changed(const ProcessProgress& process, const ProgressChange& change) {
  ProgressEvent event;
  event.process = process.pid();
  event.state = to_string(change.state);
  event.source = to_string(change.source);
  if (change.pattern) {
    event.phase = change.pattern->phase;
    event.known_phase = change.known_phase;
    event.launches_per_iteration = change.pattern->launches_per_iteration;
    event.confidence = std::clamp(change.pattern->confidence, 0.0, 1.0);
    for (const OuterLevel& outer : change.pattern->outer) {
      event.inner_iterations.push_back(outer.inner);
    }
    const PhaseProgress* phase = process.phase_in_force();
    if (phase != nullptr && phase->micro_batches() > 1) {
      event.micro_batches = phase->micro_batches();
    }
  }
  write(std::move(event));
  if (parts_.controller != nullptr) parts_.controller->progress_changed(process, change);
}

void Session::settled(const ProcessProgress& process) {
  for (Pair& pair : pairs_) {
    if (pair.process == &process) pair.maker->close();
  }
  std::erase_if(pairs_, [&](const Pair& pair) { return pair.process == &process; });
  if (parts_.controller != nullptr) parts_.controller->process_settled(process);
}

void Session::forgotten(const ProcessProgress& process) {
  tell_of(process);
  told_.erase(&process);
  if (parts_.controller != nullptr) parts_.controller->process_forgotten(process);
}

void Session::tell_of(const ProcessProgress& process) {
  const std::optional<RingInfo>& info = process.launch_info();
  const std::string_view status = info ? status_text(info->status) : "ticks";
  const bool explained = info && info->status != RingStatus::kWatching;
  const std::string_view reason = explained ? std::string_view(info->reason) : std::string_view();
  Told& told = told_[&process];
  if (told.status == status && told.devices == process.devices().size() && told.reason == reason) {
    return;
  }
  told = {std::string(status), process.devices().size(), std::string(reason)};
  write(ProcessEvent{process.pid(), process.name(), told.status, told.reason, process.devices()});
}

void Session::write(EventBody body) {
  figures_.add({parts_.clock.now(), body});
  if (parts_.log == nullptr) return;
  if (const Result<void> written = parts_.log->append(std::move(body)); !written) {
    complain(written.error().line());
  }
}

void Session::complain(const std::string& line) {
  if (complained_.insert(line).second && parts_.warn) parts_.warn(line);
}

}  // namespace hypermile
