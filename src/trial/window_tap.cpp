// SPDX-License-Identifier: Apache-2.0
#include "trial/window_tap.h"

#include <algorithm>

namespace hypermile {
namespace {

class WindowTap final : public LineSink {
 public:
  WindowTap(std::unique_ptr<LineSink> sink, const SimulatedJob& job, std::string_view policy,
            const WindowListener& listener)
      : sink_(std::move(sink)), job_(job), policy_(policy), listener_(listener) {}

  Result<void> write(std::string_view text) override {
    const Result<Event> event = parse_event(text);
    if (event) look_at(event->body);
    return sink_->write(text);
  }
  Result<void> sync() override { return sink_->sync(); }

 private:
  void look_at(const EventBody& body) {
    if (const auto* decision = std::get_if<Decision>(&body)) {
      const auto exploring = decision->numbers.find("exploring");
      exploring_ = exploring != decision->numbers.end() && exploring->second != 0;
    }
    const auto* measured = std::get_if<WindowEvent>(&body);
    if (measured == nullptr || measured->window.pattern.phase != 0) return;
    const double done = measured->window.first_iteration + measured->window.iterations;
    listener_({policy_, measured->window,
               std::min(1.0, done / static_cast<double>(job_.iterations)), exploring_});
  }

  std::unique_ptr<LineSink> sink_;
  const SimulatedJob& job_;
  std::string policy_;
  const WindowListener& listener_;
  bool exploring_ = false;
};

}  // namespace

std::unique_ptr<LineSink> tap_windows(std::unique_ptr<LineSink> sink, const SimulatedJob& job,
                                      std::string_view policy, const WindowListener& listener) {
  return std::make_unique<WindowTap>(std::move(sink), job, policy, listener);
}

}  // namespace hypermile
