// SPDX-License-Identifier: Apache-2.0
//
// For tests: nodes of one job in virtual time, without network, Controllers or GPUs. Every node
// does as it is ordered; an iteration lasts as long as on the slowest node; each node's Window has
// the same time and the node's own power. Nodes can lag, be silent, be lost and come back.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nodes/group_coordinator.h"

namespace hypermile {

struct NodeForTest {
  double work = 1;      // of an iteration, against 40 ms at the default
  bool silent = false;  // measures nothing
  Order order = {};
  std::size_t orders = 0;
  NodeAccount account = {};
  double energy_j = 0;

  double ratio() const { return order.setting.sm_clock.value_or(Mhz(1980)).value() / 1980; }
  double iteration_s() const { return 0.040 * work * (0.6 + 0.4 / ratio()); }
  double power_w() const { return 600 * (0.4 + 0.6 * ratio() * ratio() * ratio()); }
};

class NodesForTest {
 public:
  explicit NodesForTest(std::size_t count, std::map<std::uint32_t, Learnt> learnt = {},
                        const CourseTerms& course = {})
      : nodes(count) {
    GroupTerms terms;
    for (std::size_t i = 0; i < count; ++i) terms.nodes.push_back("n" + std::to_string(i));
    terms.learnt = std::move(learnt);
    terms.course = course;
    coordinator.emplace(
        std::move(terms),
        [this](NodeNumber node, const Order& order) {
          nodes[node].order = order;
          ++nodes[node].orders;
        },
        now);
  }

  static PhaseTerms terms() {
    PhaseTerms terms;
    terms.settings = {{}};
    for (int mhz = 1980; mhz >= 600; mhz -= 60) terms.settings.push_back({Mhz(mhz), {}, {}});
    terms.window_iterations = 60;
    terms.settle_iterations = 20;
    terms.default_values = {Mhz(1980), {}, Watts(700)};
    terms.typical = milliseconds(40);
    return terms;
  }

  void join(NodeNumber node) {
    coordinator->joined(node, now);
    NodeReport hello;
    hello.generation = 1;
    hello.terms = terms();
    coordinator->report(node, hello, now);
  }
  void join_all() {
    for (NodeNumber node = 0; node < nodes.size(); ++node) join(node);
  }

  double job_iteration_s() const {
    double slowest = 0;
    for (const NodeForTest& node : nodes) slowest = std::max(slowest, node.iteration_s());
    return slowest;
  }

  // One order: all nodes run it, and report.
  void round() {
    coordinator->step(now);
    const double iteration = job_iteration_s();
    const Order first = nodes.front().order;
    const double iterations = std::min(first.iterations, 1e4);
    pass(iteration * (iterations + 20));
    for (NodeNumber i = 0; i < nodes.size(); ++i) {
      NodeForTest& node = nodes[i];
      node.account.done += iterations + 20;
      node.energy_j += node.power_w() * iteration * (iterations + 20);
      if (!node.order.setting.empty()) {
        node.account.off += iterations + 20;
        node.account.off_time += Seconds(iteration * (iterations + 20));
        node.account.lost += (iterations + 20) * (iteration / (0.040 * slowest_work()) - 1);
      }
    }
    const std::vector<NodeForTest> as_ordered = nodes;
    for (NodeNumber i = 0; i < nodes.size(); ++i) {
      if (as_ordered[i].silent || as_ordered[i].order.id == 0) continue;
      coordinator->report(i, report_of(i, as_ordered[i], iteration, iterations), now);
    }
  }

  void pass(double seconds) {
    const double step = 0.1;
    for (double t = 0; t < seconds; t += step) {
      now = now + Seconds(step);
      coordinator->step(now);
    }
  }

  // Rounds until the nodes hold a Setting off the default.
  bool hold(int most = 400) {
    for (int i = 0; i < most; ++i) {
      round();
      const Order& order = nodes.front().order;
      if (!order.exploring && !order.setting.empty()) return true;
    }
    return false;
  }

  Instant now;
  std::vector<NodeForTest> nodes;
  std::optional<GroupCoordinator> coordinator;

 private:
  double slowest_work() const {
    double slowest = 0;
    for (const NodeForTest& node : nodes) slowest = std::max(slowest, node.work);
    return slowest;
  }

  NodeReport report_of(NodeNumber number, const NodeForTest& node, double iteration,
                       double iterations) {
    NodeReport report;
    report.generation = 1;
    report.order = node.order.id;
    report.account = node.account;
    Window window;
    window.setting = node.order.setting;
    // Hosts' clocks differ by more than a Window lasts.
    window.begin = Instant() + Seconds(1000.0 * static_cast<double>(number));
    window.duration = Seconds(iteration * iterations);
    window.iterations = iterations;
    wobble_ = std::fmod(wobble_ + 0.37, 1.0);
    window.time_per_iteration = Seconds(iteration * (1 + 0.002 * (wobble_ - 0.5)));
    window.power = Watts(node.power_w() * (1 + 0.004 * (wobble_ - 0.5)));
    window.time_error = 0.002;
    window.power_error = 0.003;
    window.sm_clock = Mhz(1980 * node.ratio());
    report.window = window;
    return report;
  }

  double wobble_ = 0;
};

}  // namespace hypermile
