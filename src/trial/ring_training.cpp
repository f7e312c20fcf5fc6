// SPDX-License-Identifier: Apache-2.0
#include "trial/ring_training.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/random.h"
#include "trial/ring_ticks.h"

namespace hypermile {
namespace {

constexpr double kEventEvery = 0.05;  // s, as the injected library is asked for
constexpr double kLongestDark = static_cast<double>(kLongestDarkNs) * 1e-9;

std::uint64_t ns(Instant time) {
  return static_cast<std::uint64_t>(time.nanoseconds());
}

}  // namespace

RingTraining::RingTraining(SimGpu& gpu, const Load& load, Shows shows, std::uint64_t seed,
                           RingFolder folder)
    : gpu_(gpu),
      load_(load),
      shows_(shows),
      emitter_(load, derive_seed(seed, "launches")),
      folder_(std::move(folder)),
      writer_(std::make_unique<RingWriter>()) {}

RingTraining::~RingTraining() {
  gpu_.observe(nullptr);
}

Result<std::unique_ptr<RingTraining>> RingTraining::make(SimGpu& gpu, const Load& load, Shows shows,
                                                         std::uint64_t seed,
                                                         std::uint32_t devices) {
  ASSIGN_OR_RETURN(RingFolder folder, RingFolder::make());
  std::unique_ptr<RingTraining> made(new RingTraining(gpu, load, shows, seed, std::move(folder)));
  const RingSource source = shows == Shows::kTicks ? RingSource::kTicks : RingSource::kLaunches;
  RETURN_IF_ERROR(open_ring(made->folder_, *made->writer_, source));
  for (std::uint32_t device = 0; device < devices; ++device) {
    made->writer_->put(ns(gpu.instant(0)), pack_b(RecordKind::kContext, 0, device), 0);
  }
  if (shows == Shows::kLaunches) gpu.observe(made.get());
  return made;
}

void RingTraining::play(Instant now) {
  const double now_s = (now - gpu_.instant(0)).value();
  // The reader wants to see after all; the library looks for that several times a second.
  if (dark_until_s_ && writer_->control().dark_until_ns != heeded_) watch_again(played_s_);
  if (shows_ == Shows::kTicks) {
    tick();
  } else {
    (void)gpu_.state();  // brings the job up to date, and with it the launches
  }
  if (dark_until_s_ && *dark_until_s_ <= now_s) watch_again(*dark_until_s_);
  played_s_ = now_s;
  for (const Event& event : events_) {
    if (event.gpu_s > now_s) continue;
    writer_->put(event.launch, pack_b(RecordKind::kGpuTime, 1, 0),
                 std::bit_cast<std::uint64_t>(event.gpu_s));
  }
  std::erase_if(events_, [&](const Event& event) { return event.gpu_s <= now_s; });
}

// The part's name is in it, so that an optimizer's kernels are known as such.
std::uint32_t RingTraining::name_of(std::uint32_t kernel) {
  if (kernel >= names_.size()) names_.resize(kernel + 1);
  std::uint32_t& id = names_[kernel];
  if (id > 0) return id - 1;
  std::string name = "k";
  for (std::uint32_t p = 0; p < load_.phase_count; ++p) {
    const PhaseWork& phase = load_.phases[p];
    for (std::uint32_t i = 0; i < phase.part_count; ++i) {
      const PartWork& part = phase.parts[i];
      const bool in = kernel >= part.first_kernel && kernel < part.first_kernel + part.kernel_kinds;
      if (in) name = part.name.data();
    }
  }
  id = writer_->intern((name + " " + std::to_string(kernel)).c_str()) + 1;
  return id - 1;
}

// As DarkStretches in the library has it, whose thread acts at once here.
void RingTraining::heed_wish(double time_s) {
  heeded_ = writer_->control().dark_until_ns;
  const double until_s =
      (Instant::from_nanoseconds(static_cast<std::int64_t>(heeded_)) - gpu_.instant(0)).value();
  if (until_s <= time_s) return;
  dark_until_s_ = std::min(until_s, time_s + kLongestDark);
  writer_->put(ns(gpu_.instant(time_s)), pack_b(RecordKind::kWatch, 0, 0), 0);
}

void RingTraining::watch_again(double time_s) {
  writer_->put(ns(gpu_.instant(time_s)), pack_b(RecordKind::kWatch, 0, 1), 0);
  dark_until_s_.reset();
}

// What nobody records need not be made.
void RingTraining::finished(const FinishedUnit& unit) {
  if (dark_until_s_ && unit.start_s + unit.duration_s <= *dark_until_s_) {
    emitter_.skip(unit);
  } else {
    emitter_.emit(unit, *this);
  }
}

void RingTraining::launch(double time_s, double gpu_s, std::uint32_t kernel) {
  if (dark_until_s_) {
    if (time_s < *dark_until_s_) return;
    watch_again(*dark_until_s_);
  }
  const std::uint32_t name = name_of(kernel);
  const std::uint64_t record =
      writer_->put(ns(gpu_.instant(time_s)), pack_b(RecordKind::kLaunch, 0, name), 8);
  const RingControl& control = writer_->control();
  if (control.dark_until_ns != heeded_) heed_wish(time_s);
  const bool anchor = control.events_wanted != 0 && control.kernel == name &&
                      (control.previous == kNoName || control.previous == previous_);
  if (anchor && time_s - last_event_s_ >= kEventEvery) {
    events_.push_back({record, gpu_s});
    last_event_s_ = time_s;
  }
  previous_ = name;
}

void RingTraining::tick() {
  const TickState& ring = gpu_.state().ticks;
  const std::uint64_t oldest = ring.count > kTickRing ? ring.count - kTickRing : 0;
  for (std::uint64_t i = std::max(ticks_, oldest); i < ring.count; ++i) {
    writer_->put(ns(gpu_.instant(ring.start_s[i % kTickRing])),
                 pack_b(RecordKind::kTick, 0, kNoName), 0);
  }
  ticks_ = ring.count;
}

}  // namespace hypermile
