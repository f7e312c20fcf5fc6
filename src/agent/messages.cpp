// SPDX-License-Identifier: Apache-2.0
#include "agent/messages.h"

#include <fmt/format.h>

#include <cmath>

namespace hypermile {
namespace {

constexpr double kMost = 1e12;  // no quantity of a job comes near it

// Notes the first number that cannot be.
class Checked {
 public:
  double number(double value, double least = 0) {
    if (!std::isfinite(value) || value < least || value > kMost) wrong_ = true;
    return wrong_ ? 0 : value;
  }
  template <class Unit>
  std::optional<Unit> unit(bool has, double value) {
    return has ? std::optional(Unit(number(value))) : std::nullopt;
  }
  std::optional<double> maybe(bool has, double value) {
    return has ? std::optional(number(value)) : std::nullopt;
  }
  void insist(bool right) { wrong_ = wrong_ || !right; }
  bool wrong() const { return wrong_; }

 private:
  bool wrong_ = false;
};

Error broken(const char* what) {
  return Error{ErrorCode::kParse, fmt::format("{} holds a value that cannot be", what)};
}

void write(const Setting& setting, agents::v1::Setting& message) {
  if (setting.sm_clock) message.set_sm_mhz(setting.sm_clock->value());
  if (setting.memory_clock) message.set_memory_mhz(setting.memory_clock->value());
  if (setting.power_limit) message.set_limit_w(setting.power_limit->value());
}

Setting read(const agents::v1::Setting& message, Checked& checked) {
  return {checked.unit<Mhz>(message.has_sm_mhz(), message.sm_mhz()),
          checked.unit<Mhz>(message.has_memory_mhz(), message.memory_mhz()),
          checked.unit<Watts>(message.has_limit_w(), message.limit_w())};
}

void write(const Window& window, agents::v1::Window& message) {
  write(window.setting, *message.mutable_setting());
  message.set_duration_s(window.duration.value());
  message.set_first_iteration(window.first_iteration);
  message.set_iterations(window.iterations);
  if (window.time_per_iteration)
    message.set_time_per_iteration_s(window.time_per_iteration->value());
  if (window.power) message.set_power_w(window.power->value());
  if (window.energy) message.set_energy_j(window.energy->value());
  if (window.time_error) message.set_time_error(*window.time_error);
  if (window.power_error) message.set_power_error(*window.power_error);
  if (window.sm_clock) message.set_sm_mhz(window.sm_clock->value());
  if (window.memory_clock) message.set_memory_mhz(window.memory_clock->value());
  message.set_throttled_share(window.throttled_share);
  message.set_aborted(window.aborted);
  if (window.energy_per_iteration)
    message.set_energy_per_iteration_j(window.energy_per_iteration->value());
  if (window.energy_error) message.set_energy_error(*window.energy_error);
  message.set_gpu_timed(window.gpu_timed);
  message.set_unusable(window.unusable.substr(0, kMostReasonBytes));
  message.set_refusal(static_cast<std::uint32_t>(window.refusal));
}

Window read(const agents::v1::Window& message, Checked& checked) {
  Window window;
  window.setting = read(message.setting(), checked);
  window.duration = Seconds(checked.number(message.duration_s()));
  window.first_iteration = checked.number(message.first_iteration());
  window.iterations = checked.number(message.iterations());
  window.time_per_iteration =
      checked.unit<Seconds>(message.has_time_per_iteration_s(), message.time_per_iteration_s());
  checked.insist(!window.time_per_iteration || *window.time_per_iteration > Seconds(0));
  window.power = checked.unit<Watts>(message.has_power_w(), message.power_w());
  checked.insist(!window.power || *window.power > Watts(0));
  window.energy = checked.unit<Joules>(message.has_energy_j(), message.energy_j());
  window.time_error = checked.maybe(message.has_time_error(), message.time_error());
  window.power_error = checked.maybe(message.has_power_error(), message.power_error());
  window.sm_clock = checked.unit<Mhz>(message.has_sm_mhz(), message.sm_mhz());
  window.memory_clock = checked.unit<Mhz>(message.has_memory_mhz(), message.memory_mhz());
  window.throttled_share = checked.number(message.throttled_share());
  window.aborted = message.aborted();
  window.energy_per_iteration =
      checked.unit<Joules>(message.has_energy_per_iteration_j(), message.energy_per_iteration_j());
  window.energy_error = checked.maybe(message.has_energy_error(), message.energy_error());
  window.gpu_timed = message.gpu_timed();
  window.unusable = message.unusable();
  checked.insist(message.refusal() <= static_cast<std::uint32_t>(Refusal::kNoPower));
  checked.insist(window.unusable.size() <= kMostReasonBytes);
  if (!checked.wrong()) window.refusal = static_cast<Refusal>(message.refusal());
  return window;
}

PhaseTerms read(const agents::v1::Terms& message, Checked& checked) {
  PhaseTerms terms;
  checked.insist(message.settings_size() >= 1 &&
                 static_cast<std::size_t>(message.settings_size()) <= kMostSettings);
  if (checked.wrong()) return terms;
  for (const agents::v1::Setting& setting : message.settings()) {
    terms.settings.push_back(read(setting, checked));
  }
  terms.window_iterations = checked.number(message.window_iterations(), 1);
  terms.settle_iterations = checked.number(message.settle_iterations());
  terms.default_values = read(message.default_values(), checked);
  terms.typical = Seconds(checked.number(message.typical_s(), 1e-9));
  return terms;
}

}  // namespace

agents::v1::Report to_message(const NodeReport& report) {
  agents::v1::Report message;
  message.set_phase(report.phase);
  message.set_generation(report.generation);
  message.set_order(report.order);
  message.set_done(report.account.done);
  message.set_off(report.account.off);
  message.set_lost(report.account.lost);
  message.set_off_s(report.account.off_time.value());
  if (report.totals) {
    agents::v1::Totals& totals = *message.mutable_totals();
    totals.set_joules(report.totals->joules);
    if (report.totals->saved_j) totals.set_saved_j(*report.totals->saved_j);
    if (report.totals->time_change) totals.set_time_change(*report.totals->time_change);
  }
  if (report.window) write(*report.window, *message.mutable_window());
  if (report.terms) {
    agents::v1::Terms& terms = *message.mutable_terms();
    for (const Setting& setting : report.terms->settings) write(setting, *terms.add_settings());
    terms.set_window_iterations(report.terms->window_iterations);
    terms.set_settle_iterations(report.terms->settle_iterations);
    write(report.terms->default_values, *terms.mutable_default_values());
    terms.set_typical_s(report.terms->typical.value());
  }
  return message;
}

Result<NodeReport> from_message(const agents::v1::Report& message) {
  Checked checked;
  NodeReport report;
  report.phase = message.phase();
  report.generation = message.generation();
  report.order = message.order();
  report.account = {checked.number(message.done()), checked.number(message.off()),
                    checked.number(message.lost(), -kMost),
                    Seconds(checked.number(message.off_s()))};
  if (message.has_window()) report.window = read(message.window(), checked);
  if (message.has_terms()) report.terms = read(message.terms(), checked);
  if (message.has_totals()) {
    NodeTotals& totals = report.totals.emplace();
    totals.joules = checked.number(message.totals().joules());
    if (message.totals().has_saved_j()) {
      totals.saved_j = checked.number(message.totals().saved_j(), -kMost);
    }
    if (message.totals().has_time_change()) {
      totals.time_change = checked.number(message.totals().time_change(), -1);
    }
  }
  if (checked.wrong()) return broken("a node's report");
  return report;
}

agents::v1::Order to_message(const Order& order) {
  agents::v1::Order message;
  message.set_id(order.id);
  message.set_phase(order.phase);
  write(order.setting, *message.mutable_setting());
  message.set_iterations(order.iterations);
  message.set_exploring(order.exploring);
  if (order.abort_above) message.set_abort_above_s(order.abort_above->value());
  message.set_abort_after(order.abort_after);
  message.set_confidence(order.confidence);
  message.set_reason(order.reason.substr(0, kMostReasonBytes));
  if (order.learnt) {
    write(order.learnt->kept, *message.mutable_learnt()->mutable_kept());
    message.mutable_learnt()->set_time_ratio(order.learnt->time_ratio);
    message.mutable_learnt()->set_power_ratio(order.learnt->power_ratio);
  }
  return message;
}

Result<Order> from_message(const agents::v1::Order& message) {
  Checked checked;
  Order order;
  order.id = message.id();
  order.phase = message.phase();
  order.setting = read(message.setting(), checked);
  order.iterations = checked.number(message.iterations(), 1);
  order.exploring = message.exploring();
  order.abort_above = checked.unit<Seconds>(message.has_abort_above_s(), message.abort_above_s());
  order.abort_after = checked.number(message.abort_after());
  order.confidence = checked.number(message.confidence());
  order.reason = message.reason();
  checked.insist(order.reason.size() <= kMostReasonBytes);
  if (message.has_learnt()) {
    order.learnt = Learnt{read(message.learnt().kept(), checked),
                          checked.number(message.learnt().time_ratio(), 1e-3),
                          checked.number(message.learnt().power_ratio(), 1e-3)};
  }
  if (checked.wrong()) return broken("an order");
  return order;
}

}  // namespace hypermile
