// SPDX-License-Identifier: Apache-2.0
#include "evidence/progress/made_streams.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hypermile {
namespace {

constexpr Seconds kPace = microseconds(20);  // between launches

class Maker {
 public:
  Maker(std::string name, Random& random) : random_(&random) { made_.name = std::move(name); }

  void start() { made_.starts.push_back(made_.launches.size()); }
  void put(std::uint64_t kernel, Seconds pause, double jitter = 0.3) {
    time_ = time_ + pause * std::max(0.05, 1 + jitter * random_->gaussian());
    made_.launches.push_back({time_, static_cast<std::uint32_t>(kernel), 0, 0});
  }
  Seconds lasted() const { return time_ - Instant(); }
  LabelledStream take() { return std::move(made_); }

 private:
  Random* random_;
  LabelledStream made_;
  Instant time_;
};

std::uint64_t below(std::uint64_t end, Random& random) {
  return random.bits() % end;
}

LabelledStream random_bursts(Seconds lasting, Random& random) {
  Maker maker("bursts of random products", random);
  while (maker.lasted() < lasting) {
    const std::uint64_t kernel = below(12, random);
    for (std::uint64_t i = 1 + below(20, random); i > 0; --i) maker.put(kernel, kPace);
    maker.put(12 + below(4, random), kPace * (1 + 50 * random.uniform()));
  }
  return maker.take();
}

LabelledStream independent(Seconds lasting, Random& random) {
  Maker maker("independent launches", random);
  while (maker.lasted() < lasting) {
    const double u = random.uniform();
    maker.put(static_cast<std::uint64_t>(30 * u * u), kPace);
  }
  return maker.take();
}

LabelledStream markov(Seconds lasting, Random& random) {
  Maker maker("Markov chain", random);
  constexpr std::uint64_t kStates = 25;
  std::vector<std::array<std::uint64_t, 3>> next(kStates);
  for (auto& each : next) {
    for (std::uint64_t& to : each) to = below(kStates, random);
  }
  std::uint64_t state = 0;
  while (maker.lasted() < lasting) {
    maker.put(state, kPace);
    const double u = random.uniform();
    state = u < 0.05 ? below(kStates, random) : next[state][u < 0.6 ? 0 : u < 0.85 ? 1 : 2];
  }
  return maker.take();
}

LabelledStream routines(Seconds lasting, Random& random) {
  Maker maker("routines called at random", random);
  std::vector<std::vector<std::uint64_t>> bodies(15);
  for (auto& body : bodies) {
    body.resize(3 + below(12, random));
    for (std::uint64_t& kernel : body) kernel = below(40, random);
  }
  while (maker.lasted() < lasting) {
    for (const std::uint64_t kernel : bodies[below(bodies.size(), random)]) {
      maker.put(kernel, kPace);
    }
  }
  return maker.take();
}

LabelledStream wandering(Seconds lasting, Random& random) {
  Maker maker("wandering mixture", random);
  double middle = 10;
  while (maker.lasted() < lasting) {
    middle = std::clamp(middle + 0.05 * random.gaussian(), 0.0, 40.0);
    const double kernel = std::clamp(middle + 4 * random.gaussian(), 0.0, 50.0);
    maker.put(static_cast<std::uint64_t>(kernel), kPace);
  }
  return maker.take();
}

}  // namespace

const std::vector<AperiodicKind>& aperiodic_kinds() {
  static const std::vector<AperiodicKind> kinds = {{"bursts of random products", random_bursts},
                                                   {"independent launches", independent},
                                                   {"Markov chain", markov},
                                                   {"routines called at random", routines},
                                                   {"wandering mixture", wandering}};
  return kinds;
}

LabelledStream make_transformer(const Transformer& shape, Random& random) {
  Maker maker("transformer", random);
  const auto layers = [&](std::uint64_t first, std::size_t launches, Seconds lasting) {
    const Seconds pace = lasting / static_cast<double>(shape.layers * launches);
    for (std::size_t layer = 0; layer < shape.layers; ++layer) {
      for (std::size_t i = 0; i < launches; ++i) {
        maker.put(first + (i * 7 % launches) * 2 / 3, pace, shape.jitter);
      }
    }
  };
  for (std::size_t i = 0; i < shape.iterations; ++i) {
    maker.start();
    for (std::uint64_t k = 0; k < 6; ++k) maker.put(k, kPace);
    layers(10, shape.forward_launches, shape.forward);
    for (std::uint64_t k = 0; k < 12; ++k) maker.put(200 + k, kPace);
    layers(300, shape.backward_launches, shape.backward);
    for (std::size_t k = 0; k < shape.optimizer_launches; ++k) maker.put(600 + k % 3, kPace);
  }
  return maker.take();
}

LabelledStream make_recurrent(std::size_t least, std::size_t most, std::size_t iterations,
                              Random& random) {
  Maker maker("recurrent", random);
  for (std::size_t i = 0; i < iterations; ++i) {
    maker.start();
    const std::size_t steps = least + below(most - least + 1, random);
    for (std::uint64_t k = 0; k < 8; ++k) maker.put(k, kPace);
    for (std::size_t s = 0; s < steps; ++s) {
      for (std::uint64_t k = 10; k < 16; ++k) maker.put(k, kPace);
    }
    for (std::uint64_t k = 20; k < 26; ++k) maker.put(k, kPace);
    for (std::size_t s = 0; s < steps; ++s) {
      for (std::uint64_t k = 30; k < 40; ++k) maker.put(k, kPace);
    }
    for (std::uint64_t k = 50; k < 70; ++k) maker.put(50 + k % 4, kPace);
  }
  return maker.take();
}

LabelledStream make_graph_loop(std::size_t kernels, Seconds period, std::size_t iterations,
                               Random& random) {
  Maker maker("graph", random);
  for (std::size_t i = 0; i < iterations; ++i) {
    maker.start();
    maker.put(1000, period - kPace * static_cast<double>(kernels), 0.1);
    for (std::uint64_t k = 0; k < kernels; ++k) maker.put(k, kPace);
  }
  return maker.take();
}

}  // namespace hypermile
