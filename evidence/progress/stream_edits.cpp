// SPDX-License-Identifier: Apache-2.0
#include "evidence/progress/stream_edits.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace hypermile {
namespace {

constexpr std::uint32_t kNewKernels = 100000;  // above the kernel ids of any recording

// Builds a stream from pieces of another. Each launch keeps the pause before it.
class Builder {
 public:
  explicit Builder(const LabelledStream& from) : from_(&from) {
    made_.name = from.name;
    made_.inner = from.inner;
  }

  void start() { made_.starts.push_back(made_.launches.size()); }
  void copy(std::uint64_t launch) { put(from_->launches[launch].kernel, pause(launch)); }
  void put(std::uint32_t kernel, Seconds pause) {
    time_ = time_ + pause;
    made_.launches.push_back({time_, kernel, 0, 0});
  }
  Seconds pause(std::uint64_t launch) const {
    if (launch == 0) return Seconds(0);
    return from_->launches[launch].time - from_->launches[launch - 1].time;
  }
  std::size_t size() const { return made_.launches.size(); }
  LabelledStream take() { return std::move(made_); }

 private:
  const LabelledStream* from_;
  LabelledStream made_;
  Instant time_;
};

std::vector<std::uint32_t> kernels_of(const LabelledStream& from) {
  std::set<std::uint32_t> kernels;
  for (const Launch& launch : from.launches) kernels.insert(launch.kernel);
  return {kernels.begin(), kernels.end()};
}

std::set<std::uint32_t> some_of(const LabelledStream& from, double share, Random& random) {
  std::set<std::uint32_t> some;
  for (const std::uint32_t kernel : kernels_of(from)) {
    if (random.uniform() < share) some.insert(kernel);
  }
  return some;
}

// Calls each(launch, iteration, begins) for every launch from the first start to the last.
template <class Each>
void for_each_launch(const LabelledStream& from, Each each) {
  for (std::size_t i = 0; i + 1 < from.starts.size(); ++i) {
    for (std::uint64_t at = from.starts[i]; at < from.starts[i + 1]; ++at) {
      each(at, i, at == from.starts[i]);
    }
  }
}

std::uint32_t any_of(const std::vector<std::uint32_t>& kernels, Random& random) {
  return kernels[random.bits() % kernels.size()];
}

}  // namespace

LabelledStream with_variants(const LabelledStream& from, double share, double often,
                             Random& random) {
  LabelledStream made = from;
  const auto chosen = some_of(from, share, random);
  for (Launch& launch : made.launches) {
    if (chosen.contains(launch.kernel) && random.uniform() < often) launch.kernel += kNewKernels;
  }
  return made;
}

LabelledStream with_losses(const LabelledStream& from, double dropped, double inserted,
                           Random& random) {
  Builder builder(from);
  const auto kernels = kernels_of(from);
  Seconds owed;
  for_each_launch(from, [&](std::uint64_t at, std::size_t, bool begins) {
    if (begins) builder.start();
    if (random.uniform() < dropped) {
      owed += builder.pause(at);
      return;
    }
    builder.put(from.launches[at].kernel, builder.pause(at) + owed);
    owed = Seconds(0);
    if (random.uniform() < inserted) builder.put(any_of(kernels, random), Seconds(0));
  });
  return builder.take();
}

LabelledStream with_swaps(const LabelledStream& from, double share, Random& random) {
  LabelledStream made = from;
  for (std::size_t i = 1; i < made.launches.size(); ++i) {
    if (random.uniform() < share) {
      std::swap(made.launches[i].kernel, made.launches[i - 1].kernel);
    }
  }
  return made;
}

LabelledStream with_side_stream(const LabelledStream& from, double per_second, Random& random) {
  Builder builder(from);
  const auto wait = [&] { return Seconds(-std::log(1 - random.uniform()) / per_second); };
  Seconds until = wait();
  for_each_launch(from, [&](std::uint64_t at, std::size_t, bool begins) {
    Seconds pause = builder.pause(at);
    while (until < pause) {
      for (std::uint32_t k = 0; k < 3; ++k) {
        builder.put(kNewKernels + k, k == 0 ? until : Seconds(0));
      }
      pause -= until;
      until = wait();
    }
    until -= pause;
    if (begins) builder.start();
    builder.put(from.launches[at].kernel, pause);
  });
  return builder.take();
}

LabelledStream with_warm_up(const LabelledStream& from, std::size_t launches, Random& random) {
  Builder builder(from);
  const auto kernels = kernels_of(from);
  const Seconds pause(0.5 / static_cast<double>(launches));
  // Tuning tries a kernel several times in a row, then another.
  while (builder.size() < launches) {
    const bool own = random.uniform() < 0.5;
    const std::uint32_t kernel = own ? any_of(kernels, random)
                                     : kNewKernels + static_cast<std::uint32_t>(random.bits() % 50);
    const std::uint64_t times = 1 + random.bits() % 12;
    for (std::uint64_t i = 0; i < times && builder.size() < launches; ++i) {
      builder.put(kernel, pause);
    }
  }
  for_each_launch(from, [&](std::uint64_t at, std::size_t, bool begins) {
    if (begins) builder.start();
    builder.copy(at);
  });
  return builder.take();
}

LabelledStream with_time_steps(const LabelledStream& from, Random& random) {
  Builder builder(from);
  std::uint64_t repeats = 0;
  for_each_launch(from, [&](std::uint64_t at, std::size_t i, bool begins) {
    if (begins) {
      builder.start();
      repeats = random.bits() % 6;
    }
    const std::uint64_t length = from.starts[i + 1] - from.starts[i];
    const std::uint64_t chunk = std::max<std::uint64_t>(1, length / 20);
    builder.copy(at);
    if (at != from.starts[i] + length / 2) return;
    for (std::uint64_t r = 0; r < repeats; ++r) {
      for (std::uint64_t c = 0; c < chunk; ++c) builder.copy(at + 1 - chunk + c);
    }
  });
  return builder.take();
}

LabelledStream with_logging(const LabelledStream& from, std::size_t launches, std::size_t every) {
  Builder builder(from);
  for_each_launch(from, [&](std::uint64_t at, std::size_t i, bool begins) {
    if (begins && i % every == every - 1) {
      for (std::size_t k = 0; k < launches; ++k) {
        builder.put(kNewKernels + static_cast<std::uint32_t>(k % 6), microseconds(10));
      }
    }
    if (begins) builder.start();
    builder.copy(at);
  });
  return builder.take();
}

LabelledStream with_lengths(const LabelledStream& from, double share, Random& random) {
  Builder builder(from);
  const auto chosen = some_of(from, share, random);
  std::uint32_t length_class = 0;
  for_each_launch(from, [&](std::uint64_t at, std::size_t, bool begins) {
    if (begins) {
      builder.start();
      length_class = static_cast<std::uint32_t>(random.bits() % 6);
    }
    const std::uint32_t kernel = from.launches[at].kernel;
    const std::uint32_t named =
        chosen.contains(kernel) ? kernel + kNewKernels * (1 + length_class) : kernel;
    builder.put(named, builder.pause(at));
  });
  return builder.take();
}

LabelledStream with_accumulation(const LabelledStream& from, std::size_t steps) {
  Builder builder(from);
  for_each_launch(from, [&](std::uint64_t at, std::size_t i, bool begins) {
    if (begins) builder.start();
    const std::uint64_t length = from.starts[i + 1] - from.starts[i];
    const bool optimizer = at - from.starts[i] >= length - std::max<std::uint64_t>(2, length / 25);
    if (!optimizer) return builder.copy(at);
    if (i % steps == steps - 1) {
      const auto kernel = static_cast<std::uint32_t>((from.starts[i + 1] - at) % 4);
      builder.put(kNewKernels + kernel, builder.pause(at));
    }
  });
  LabelledStream made = builder.take();
  made.inner = static_cast<std::uint32_t>(steps);
  return made;
}

PhasedStream with_evaluation(const LabelledStream& from, std::size_t train, std::size_t eval,
                             double forward) {
  Builder builder(from);
  std::vector<std::uint64_t> switches;
  for_each_launch(from, [&](std::uint64_t at, std::size_t i, bool begins) {
    const std::size_t in_cycle = i % (train + eval);
    if (begins && i > 0 && (in_cycle == 0 || in_cycle == train)) switches.push_back(builder.size());
    if (begins) builder.start();
    const auto length = static_cast<double>(from.starts[i + 1] - from.starts[i]);
    const auto offset = static_cast<double>(at - from.starts[i]);
    if (in_cycle < train || offset < forward * length) builder.copy(at);
  });
  return {builder.take(), std::move(switches)};
}

}  // namespace hypermile
