// SPDX-License-Identifier: Apache-2.0
//
// Random sequences of everything that can happen to leases, GPUs, disk and process are compared
// with a model that knows only who holds which GPU and which setting was requested.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "testing/lease_table_fixture.h"

namespace hypermile {
namespace {

constexpr int kGpus = 3;
constexpr int kConnections = 4;

struct Held {
  ConnectionId connection = 0;
  std::vector<int> gpus;
  Instant expires;
  Seconds ttl;
};

class LeaseProperty {
 public:
  explicit LeaseProperty(std::uint64_t seed) : random_(seed), machine_(kGpus) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      forget_what_has_ended();
      check();
      if (::testing::Test::HasFailure()) return;
    }
  }

  int changes_seen = 0;
  int ends_seen = 0;

 private:
  int pick(int count) { return static_cast<int>(random_.uniform() * count); }
  ConnectionId connection() { return static_cast<ConnectionId>(1 + pick(kConnections)); }

  void step() {
    switch (pick(10)) {
      case 0:
      case 1:
        return acquire();
      case 2:
      case 3:
      case 4:
        return set();
      case 5:
        return renew();
      case 6:
        return release();
      case 7:
        machine_.clock.advance(Seconds(random_.uniform(0, 4)));
        return machine_.table->expire();
      case 8:
        return disaster();
      default:
        for (const auto& port : machine_.ports) port->try_again();
    }
  }

  void acquire() {
    std::vector<int> gpus;
    for (int gpu = 0; gpu < kGpus; ++gpu) {
      if (pick(2) == 0) gpus.push_back(gpu);
    }
    const Seconds ttl(random_.uniform(1, 8));
    const ConnectionId owner = connection();
    bool taken = gpus.empty();
    for (const auto& [id, held] : leases_) {
      for (const int gpu : held.gpus) taken |= std::count(gpus.begin(), gpus.end(), gpu) != 0;
    }

    const auto lease = machine_.table->acquire(TableMachine::request(owner, gpus, ttl));

    if (lease) {
      EXPECT_FALSE(taken) << "a GPU was leased twice";
      leases_[lease->id] = {owner, gpus, machine_.clock.now() + ttl, ttl};
    }
  }

  void set() {
    if (leases_.empty()) return;
    const auto lease = std::next(leases_.begin(), pick(static_cast<int>(leases_.size())));
    const Held held = lease->second;
    const int gpu = held.gpus[static_cast<std::size_t>(pick(static_cast<int>(held.gpus.size())))];
    const char* settings[] = {"sm=1410", "sm=345,limit=400", "limit=300", "default",
                              "sm=1410,mem=3201,limit=500"};
    const auto reply = machine_.set(held.connection, lease->first, gpu,
                                    settings[static_cast<std::size_t>(pick(5))]);
    if (reply && !reply->in_force.empty()) ++changes_seen;
  }

  void renew() {
    for (auto& [id, held] : leases_) {
      if (pick(2) == 0 && machine_.table->renew(held.connection, id)) {
        held.expires = machine_.clock.now() + held.ttl;
      }
    }
  }

  void release() {
    if (leases_.empty()) return;
    const auto lease = std::next(leases_.begin(), pick(static_cast<int>(leases_.size())));
    machine_.table->release(lease->second.connection, lease->first, [](const Result<void>&) {});
  }

  void disaster() {
    switch (pick(5)) {
      case 0:
        return machine_.table->owner_gone(connection());
      case 1:  // the process is killed, and the next one meets a GPU that fails for a while
        for (auto& script : machine_.scripts) {
          const Error lost{ErrorCode::kGpuLost, "GPU is lost"};
          script = {{GpuCall::kReset, fault::Fails{lost}, pick(5), 1 + pick(3)},
                    {GpuCall::kApply, fault::Fails{lost}, 3 + pick(9), 1 + pick(2)}};
        }
        return machine_.start();
      case 2:
        return machine_.files->fail({machine_.files->calls() + pick(4), 1 + pick(6)});
      case 3:
        return machine_.table->reset(GpuUuid("GPU-" + std::to_string(pick(kGpus))),
                                     [](const Result<void>&) {});
      default:
        machine_.ports[static_cast<std::size_t>(pick(kGpus))]->try_again();
    }
  }

  void forget_what_has_ended() {
    std::map<LeaseId, Held> alive;
    for (const GpuStatus& gpu : machine_.table->status()) {
      if (!gpu.lease) continue;
      const auto known = leases_.find(gpu.lease->id);
      ASSERT_NE(known, leases_.end()) << "a lease that nobody acquired";
      alive.insert(*known);
    }
    ends_seen += static_cast<int>(leases_.size() - alive.size());
    leases_ = alive;
  }

  // The three invariants.
  void check() {
    const std::vector<GpuStatus> status = machine_.table->status();
    for (std::size_t gpu = 0; gpu < status.size(); ++gpu) {
      const Setting& held = machine_.cards[gpu]->held;
      const bool at_baseline = !held.sm_clock && !held.memory_clock &&
                               held.power_limit.value_or(Watts(700)) == Watts(700);
      if (!status[gpu].lease && status[gpu].port.restored) {
        EXPECT_TRUE(at_baseline) << "GPU " << gpu << " counts as restored: " << to_string(held);
      }
      if (status[gpu].lease) {
        EXPECT_LT(machine_.clock.now(), status[gpu].lease->expires + Seconds(4))
            << "an expired lease lives on";
      }
    }
    for (const auto& [id, held] : leases_) {
      EXPECT_EQ(status[static_cast<std::size_t>(held.gpus.front())].lease->expires, held.expires);
    }
  }

  Random random_;
  TableMachine machine_;
  std::map<LeaseId, Held> leases_;
};

TEST(LeaseProperty, InvariantsHoldForRandomSequences) {
  int changes = 0;
  int ends = 0;
  for (std::uint64_t seed = 1; seed <= 300 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    LeaseProperty life(seed);
    life.run(300);
    changes += life.changes_seen;
    ends += life.ends_seen;
  }

  EXPECT_GT(changes, 1000);
  EXPECT_GT(ends, 1000);
}

}  // namespace
}  // namespace hypermile
