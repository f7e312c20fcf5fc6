// SPDX-License-Identifier: Apache-2.0
//
// Puts values into a registry of prometheus-cpp; an unknown value makes no metric.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "base/units.h"
#include "gpu/call_times.h"

namespace hypermile {

// Fills one registry. A family of metrics is made when it gets its first value.
class MetricFiller {
 public:
  explicit MetricFiller(prometheus::Registry& registry) : registry_(registry) {}

  void gauge(const char* name, const char* help, const prometheus::Labels& labels, double value) {
    prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add(labels).Set(value);
  }
  void gauge(const char* name, const char* help, const prometheus::Labels& labels,
             const std::optional<double>& value) {
    if (value) gauge(name, help, labels, *value);
  }
  template <class Tag>
  void gauge(const char* name, const char* help, const prometheus::Labels& labels,
             const std::optional<Quantity<Tag>>& value, double scale = 1) {
    if (value) gauge(name, help, labels, value->value() * scale);
  }
  void counter(const char* name, const char* help, const prometheus::Labels& labels, double value) {
    prometheus::BuildCounter().Name(name).Help(help).Register(registry_).Add(labels).Increment(
        std::max(0.0, value));
  }
  void histogram(const char* name, const char* help, const prometheus::Labels& labels,
                 const CallHistogram& times) {
    if (!is_histogram(times)) return;
    prometheus::BuildHistogram()
        .Name(name)
        .Help(help)
        .Register(registry_)
        .Add(labels, times.bounds_s)
        .ObserveMultiple({times.counts.begin(), times.counts.end()}, std::max(0.0, times.sum_s));
  }

 private:
  // A log may hold anything, so its histograms are checked.
  static bool is_histogram(const CallHistogram& times) {
    return !times.bounds_s.empty() && times.counts.size() == times.bounds_s.size() + 1 &&
           std::ranges::adjacent_find(times.bounds_s, std::greater_equal<>()) ==
               times.bounds_s.end();
  }

  prometheus::Registry& registry_;
};

inline prometheus::Labels with_label(prometheus::Labels labels, const std::string& name,
                                     const std::string& value) {
  labels[name] = value;
  return labels;
}

}  // namespace hypermile
