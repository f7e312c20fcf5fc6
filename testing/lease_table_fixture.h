// SPDX-License-Identifier: Apache-2.0
//
// For tests of the lease table: a machine with fake GPUs in virtual time. Cards and disk outlive
// the process; start() begins a new process, as after a crash.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lease/lease_table.h"
#include "testing/faulty_files.h"
#include "testing/faulty_gpu.h"
#include "testing/inline_port.h"
#include "testing/mortal_gpu.h"

namespace hypermile {

class TableMachine {
 public:
  explicit TableMachine(int gpus = 2) {
    for (int i = 0; i < gpus; ++i) {
      cards.push_back(std::make_unique<FakeGpu>(clock, "GPU-" + std::to_string(i)));
    }
    scripts.resize(cards.size());
    start();
  }

  // Begins a new process; the memory of the previous one is gone.
  void start() {
    if (files) disk = files->after_kill();
    table.reset();
    ports.clear();
    fate = std::make_unique<Fate>();
    files = std::make_unique<FaultyFiles>(disk, *fate);
    std::vector<GpuPort*> pointers;
    for (std::size_t i = 0; i < cards.size(); ++i) {
      auto gpu = std::make_unique<FaultyGpu>(std::make_unique<MortalGpu>(*cards[i], *fate), clock,
                                             scripts[i]);
      ports.push_back(std::make_unique<InlinePort>(
          GpuKeeper::make(std::move(gpu), *files, clock, {"/state", "test", {"boot", ""}, {}, {}})
              .value()));
      pointers.push_back(ports.back().get());
    }
    table = std::make_unique<LeaseTable>(clock, pointers, next_id,
                                         [this](const Lease& lease, LeaseEnd why) {
                                           ends.push_back(std::to_string(lease.owner.connection) +
                                                          " " + std::string(to_string(why)));
                                         });
    next_id += 1000;
    table->recover();
  }

  static LeaseRequest request(ConnectionId connection, const std::vector<int>& gpus,
                              Seconds ttl = Seconds(10)) {
    LeaseRequest request;
    request.owner = {connection, static_cast<std::int64_t>(1000 + connection), 500, "python3", "7"};
    for (const int gpu : gpus) {
      request.gpus.push_back(
          {GpuUuid("GPU-" + std::to_string(gpu)), Bounds{KnobRange{}, KnobRange{}, KnobRange{}}});
    }
    request.ttl = ttl;
    return request;
  }

  // The reply, or kNotReady if there is none yet.
  Result<SetReply> set(ConnectionId connection, LeaseId lease, int gpu, const char* setting) {
    Result<SetReply> answer = Error{ErrorCode::kNotReady, "no answer yet"};
    table->set(connection, lease, GpuUuid("GPU-" + std::to_string(gpu)),
               parse_setting(setting).value(),
               [&answer](Result<SetReply> reply) { answer = std::move(reply); });
    return answer;
  }

  VirtualClock clock;
  std::vector<std::unique_ptr<FakeGpu>> cards;
  std::vector<std::vector<ScriptedFault>> scripts;  // used from the next start() on
  FaultyFiles::Disk disk;
  std::unique_ptr<Fate> fate;
  std::unique_ptr<FaultyFiles> files;
  std::vector<std::unique_ptr<InlinePort>> ports;
  std::unique_ptr<LeaseTable> table;
  std::vector<std::string> ends;  // "connection why"
  LeaseId next_id = 1;
};

}  // namespace hypermile
