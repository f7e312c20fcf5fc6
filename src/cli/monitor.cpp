// SPDX-License-Identifier: Apache-2.0
//
// `hypermile monitor`: prints power, clocks, energy and throttling of every GPU of the machine, or
// of the one that --gpu names, and iterations where they are known, one line per GPU and interval.
// Only reads. A GPU that is lost is named and left out; the command ends when none is left.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.h"
#include "cli/monitored_gpu.h"
#include "record/machine_facts.h"

namespace hypermile {
namespace {

constexpr int kHeaderEvery = 20;  // lines

class Monitor {
 public:
  Monitor(std::vector<OpenedGpu> gpus, const OptionValues& options, CommandContext& context)
      : context_(context),
        json_(options.flag("json")),
        interval_(options.duration("interval")),
        start_(context.clock.now()) {
    for (OpenedGpu& gpu : gpus) {
      cards_.push_back({std::make_unique<MonitoredGpu>(std::move(gpu), context.clock, interval_)});
    }
    several_ = cards_.size() > 1;
    if (options.given("seconds")) end_ = start_ + options.duration("seconds");
  }

  Result<void> open_log(const std::string& path) {
    ASSIGN_OR_RETURN(auto sink, open_log_file(path));
    log_ = std::make_unique<EventLog>(std::move(sink), context_.clock);
    std::vector<GpuIdentity> identities;
    for (const Card& card : cards_) identities.push_back(card.gpu->identity());
    log_or_warn(describe_run(context_.clock, {"hypermile", "monitor"}, std::move(identities)));
    return {};
  }

  Result<void> run() {
    if (!json_) introduce();
    Result<void> result;
    while (result && !over()) result = round();
    log_or_warn(RunEnd{result ? 0 : 1,
                       result ? "monitor ended" : result.error().line(),
                       {{"joules", energy().value()}, {"seconds", elapsed().value()}},
                       {}});
    if (!result) return result;
    finish();
    return {};
  }

 private:
  struct Card {
    std::unique_ptr<MonitoredGpu> gpu;
    bool lost = false;
    nlohmann::json intervals = nlohmann::json::array();
  };

  Seconds elapsed() const { return context_.clock.now() - start_; }
  bool over() const {
    return context_.stop.stop_requested() || (end_ && context_.clock.now() >= *end_);
  }
  Joules energy() const {
    Joules sum(0);
    for (const Card& card : cards_) sum = sum + card.gpu->energy();
    return sum;
  }

  std::string name_of(const Card& card) const {
    const auto place = static_cast<int>(&card - cards_.data());
    return fmt::format("{}", card.gpu->identity().index.value_or(place));
  }

  void introduce() {
    for (const Card& card : cards_) {
      const GpuIdentity& identity = card.gpu->identity();
      context_.out << (several_ ? fmt::format("GPU {}: ", name_of(card)) : "")
                   << fmt::format("{} ({})\n", identity.name, identity.uuid.text());
    }
  }

  // Polls every GPU for one interval, then prints a line for each.
  Result<void> round() {
    const Instant end = context_.clock.now() + interval_;
    for (Card& card : cards_) card.gpu->begin_line();
    do {
      Instant due = end;
      for (Card& card : cards_) {
        if (card.lost) continue;
        RETURN_IF_ERROR(poll(card));
        due = std::min(due, card.gpu->due());
      }
      context_.clock.sleep_until(due, context_.stop);
    } while (context_.clock.now() < end && !context_.stop.stop_requested());
    for (Card& card : cards_) {
      if (!card.lost) show(card);
    }
    return {};
  }

  // Fails where no GPU is left to watch.
  Result<void> poll(Card& card) {
    const Result<std::optional<Throttle>> change = card.gpu->poll();
    if (change) {
      if (*change) log_or_warn(**change);
      return {};
    }
    card.lost = true;
    if (std::ranges::all_of(cards_, &Card::lost)) return change.error();
    context_.err << fmt::format("hypermile: GPU {}: {}; the others are watched on\n", name_of(card),
                                change.error().message);
    return {};
  }

  void show(Card& card) {
    log_or_warn(card.gpu->end_line());
    if (json_) {
      card.intervals.push_back(card.gpu->json());
      return;
    }
    if (lines_++ % kHeaderEvery == 0) {
      context_.out << (several_ ? "GPU " : "") << MonitoredGpu::header() << "\n";
    }
    if (several_) context_.out << fmt::format("{:>3} ", name_of(card));
    context_.out << card.gpu->line() << "\n" << std::flush;
  }

  nlohmann::json json_of(Card& card) const {
    return {{"gpu", card.gpu->identity().uuid.text()},
            {"name", card.gpu->identity().name},
            {"seconds", elapsed().value()},
            {"energy_j", card.gpu->energy().value()},
            {"intervals", std::move(card.intervals)}};
  }

  void finish() {
    if (!json_) {
      context_.out << fmt::format("{:.1f} J in {:.1f} s, {:.1f} W on average{}\n", energy().value(),
                                  elapsed().value(), (energy() / elapsed()).value(),
                                  several_ ? fmt::format(", {} GPUs together", cards_.size()) : "");
      return;
    }
    if (!several_) {
      context_.out << json_of(cards_.front()).dump() << "\n";
      return;
    }
    nlohmann::json all = {{"seconds", elapsed().value()}, {"energy_j", energy().value()}};
    for (Card& card : cards_) all["gpus"].push_back(json_of(card));
    context_.out << all.dump() << "\n";
  }

  void log_or_warn(EventBody body) {
    if (!log_) return;
    if (const Result<void> written = log_->append(std::move(body)); !written) {
      context_.err << "hypermile: " << written.error().line() << "\n";
    }
  }

  CommandContext& context_;
  bool json_;
  Seconds interval_;
  Instant start_;
  std::optional<Instant> end_;
  std::vector<Card> cards_;
  bool several_ = false;
  std::unique_ptr<EventLog> log_;
  int lines_ = 0;
};

Result<std::vector<OpenedGpu>> open_gpus(const OptionValues& options, CommandContext& context) {
  std::vector<OpenedGpu> gpus;
  if (options.given("gpu")) {
    const auto seed = static_cast<std::uint64_t>(options.integer("seed"));
    ASSIGN_OR_RETURN(OpenedGpu gpu, open_named_gpu(options.text("gpu"), context.clock, seed));
    gpus.push_back(std::move(gpu));
    return gpus;
  }
  ASSIGN_OR_RETURN(MachineGpus machine, open_all_gpus(context.clock));
  for (const Error& problem : machine.problems) {
    context.err << "hypermile: " << problem.line() << "\n";
  }
  if (machine.gpus.empty()) {
    return Error{ErrorCode::kNotFound, "the driver knows no GPU", "see 'hypermile doctor'"};
  }
  return std::move(machine.gpus);
}

Result<void> run_monitor(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& options = arguments.options;
  if (options.duration("interval") < milliseconds(100)) {
    return Error{ErrorCode::kUsage,
                 "--interval: sensors change every 100 ms, so a shorter interval shows nothing new",
                 "use 100ms or more"};
  }
  ASSIGN_OR_RETURN(std::vector<OpenedGpu> gpus, open_gpus(options, context));
  Monitor monitor(std::move(gpus), options, context);
  if (options.given("log")) RETURN_IF_ERROR(monitor.open_log(options.text("log")));
  return monitor.run();
}

}  // namespace

const Command kMonitorCommand = {
    "monitor",
    "watch power, clocks, energy, throttling and iterations of the GPUs",
    "",
    "  hypermile monitor                       every GPU of the machine, until interrupted\n"
    "  hypermile monitor --gpu 1 --seconds 30s --interval 500ms\n"
    "  hypermile monitor --gpu 'replay:sweep.csv#A100/bert' --seconds 10s --json\n",
    run_monitor,
};

}  // namespace hypermile
