// SPDX-License-Identifier: Apache-2.0
//
// The HTML page of a plan: one file, no script, nothing loaded from elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plan/plan_document.h"

namespace hypermile {
namespace {

constexpr double kWidth = 900, kHeight = 320, kMargin = 60;

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

// A value's place on an axis from `from` to `to`.
struct Axis {
  double low, high, from, to;
  bool logarithmic = false;

  double at(double value) const {
    if (logarithmic) {
      return from +
             (to - from) * std::log(std::clamp(value, low, high) / low) / std::log(high / low);
    }
    return from + (to - from) * (value - low) / (high - low);
  }
};

std::string label(double x, double y, const std::string& text, const char* anchor) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escape(text));
}

std::string open_svg(const std::string& title) {
  return fmt::format("<h2>{}</h2>\n<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                     escape(title), kWidth, kHeight, escape(title));
}

std::string line(double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"axis\"/>\n", x1, y1,
      x2, y2);
}

std::string grid_line(double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"grid\"/>\n", x1, y1,
      x2, y2);
}

std::string frame(const std::string& x_name, const std::string& y_name) {
  const double bottom = kHeight - kMargin;
  return line(kMargin, bottom, kWidth - 20, bottom) + line(kMargin, 20, kMargin, bottom) +
         label((kWidth + kMargin) / 2, kHeight - 15, x_name, "middle") +
         label(kMargin - 40, 14, y_name, "start");
}

// Powers of ten on both axes, every `step`th of them, with thin lines across the chart.
std::string decades(const Axis& x, const Axis& y) {
  const double bottom = kHeight - kMargin;
  std::string out;
  const auto each = [](const Axis& axis, int step, const auto& mark) {
    for (int power = static_cast<int>(std::ceil(std::log10(axis.low)));
         power <= static_cast<int>(std::floor(std::log10(axis.high))); power += step) {
      mark(std::pow(10, power), power);
    }
  };
  each(x, 1, [&](double value, int) {
    out += grid_line(x.at(value), 20, x.at(value), bottom) +
           label(x.at(value), bottom + 16, fmt::format("{:g}", value), "middle");
  });
  each(y, 1, [&](double value, int power) {
    out += grid_line(kMargin, y.at(value), kWidth - 20, y.at(value)) +
           label(kMargin - 6, y.at(value) + 4, fmt::format("1e{}", power), "end");
  });
  return out;
}

// Places for labels beside points, moved down where they would overlap the one above.
std::vector<double> spread(std::vector<double> wanted) {
  constexpr double kApart = 14;  // pixels between lines of text
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return wanted[i]; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    wanted[order[i]] = std::max(wanted[order[i]], wanted[order[i - 1]] + kApart);
  }
  // The lowest label may have left the chart: then those above it move up.
  double floor = kHeight - kMargin;
  for (std::size_t i = order.size(); i-- > 0; floor -= kApart) {
    wanted[order[i]] = std::min(wanted[order[i]], floor);
  }
  return wanted;
}

std::string roofline(const PlanDocument& document) {
  const PlanReport& report = document.report;
  const Choice& normal = report.table.choices.front();
  const Rates& rates = document.sheet.constants.rates;
  const double bandwidth = rates.bandwidth * (normal.memory / rates.rated_memory);
  const double peak = report.ridge * bandwidth;
  const double bottom = kHeight - kMargin;
  const Axis x{0.05, std::max(2000.0, 4 * report.ridge), kMargin, kWidth - 20, true};
  const Axis y{peak / 1e5, peak * 2, bottom, 20, true};
  std::string out = open_svg("Roofline: what layers reach at the default");
  out += decades(x, y) + frame("operations per byte", "FLOP/s");
  out += fmt::format(
      "<polyline points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" class=\"roof\"/>\n",
      x.at(x.low), y.at(x.low * bandwidth), x.at(report.ridge), y.at(peak), x.at(x.high),
      y.at(peak));
  out += label(x.at(report.ridge), y.at(peak) - 6,
               fmt::format("{:.1f} TFLOP/s, ridge {:.0f}", peak / 1e12, report.ridge), "middle");
  for (std::size_t i = 0; i < report.stages.size(); ++i) {
    const PlanStage& stage = report.stages[i];
    if (stage.flops <= 0 || stage.bytes <= 0) continue;
    const double rate = stage.flops / report.costs[i].time_s;
    out += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" class=\"{}\"><title>{} ({}): {:.1f} FLOP/B, "
        "{:.2f} TFLOP/s</title></circle>\n",
        x.at(stage.intensity()), y.at(rate), report.memory_bound[i] ? "memory" : "compute",
        escape(stage.name), to_string(stage.phase), stage.intensity(), rate / 1e12);
  }
  return out + "</svg>\n";
}

// Blue at the lowest SM clock, red at the highest; pale where the memory clock is lowered.
std::string colour(const PlanReport& report, const Choice& choice) {
  double low = choice.sm.value(), high = low;
  for (const Choice& c : report.table.choices) {
    low = std::min(low, c.sm.value());
    high = std::max(high, c.sm.value());
  }
  const double share = high > low ? (choice.sm.value() - low) / (high - low) : 1;
  const bool pale = choice.memory < report.table.choices.front().memory;
  return fmt::format("hsl({:.0f},70%,{}%)", 220 - 220 * share, pale ? 75 : 50);
}

std::string timeline(const PlanDocument& document) {
  const PlanReport& report = document.report;
  std::string out = open_svg("One iteration, layer by layer, coloured by setting");
  const double rows = static_cast<double>(report.strategies.size());
  double longest = 0;
  for (const StrategyReport& s : report.strategies) {
    longest = std::max(longest, s.result.totals.time_s);
  }
  const Axis x{0, longest, 150, kWidth - 20};
  const double row = (kHeight - kMargin - 10) / rows;
  for (std::size_t s = 0; s < report.strategies.size(); ++s) {
    const double top = 10 + row * static_cast<double>(s);
    const Assignment& wanted = report.strategies[s].result.wanted;
    out += label(140, top + row / 2 + 4, report.strategies[s].result.name, "end");
    double time = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Choice& choice = report.table.choices[wanted[i]];
      const double lasts = report.table.at(i, wanted[i]).time_s;
      out += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\">"
          "<title>{} ({}) at {}: {:.3f} ms</title></rect>\n",
          x.at(time), top, x.at(lasts) - x.at(0), row - 4, colour(report, choice),
          escape(report.stages[i].name), to_string(report.stages[i].phase),
          to_string(choice.setting), 1e3 * lasts);
      time += lasts;
    }
  }
  out += label(150, kHeight - 35,
               fmt::format("0 to {:.1f} ms, as wanted by each strategy; red: high SM clock, blue: "
                           "low, pale: memory clock lowered",
                           1e3 * longest),
               "start");
  return out + "</svg>\n";
}

std::string front(const PlanDocument& document) {
  const PlanReport& report = document.report;
  double slowest = 0.02, least = -0.01, most = 0.02, fastest = -0.01;
  for (const StrategyReport& s : report.strategies) {
    slowest = std::max(slowest, s.result.slowdown);
    fastest = std::min(fastest, s.result.slowdown);
    most = std::max(most, s.result.saved);
    least = std::min(least, s.result.saved);
  }
  const double bottom = kHeight - kMargin;
  const Axis x{100 * fastest * 1.1, 100 * slowest * 1.1, kMargin, kWidth - 120};
  const Axis y{100 * least * 1.1, 100 * most * 1.1, bottom, 30};
  std::string out = open_svg("Time against energy, with the cost of switching");
  out += frame("slower, %", "saved, %");
  out += label(x.at(0), bottom + 16, "0", "middle") + label(kMargin - 6, y.at(0), "0", "end");
  out += label(kWidth - 120, bottom + 16, fmt::format("{:.1f}", x.high), "middle");
  out += label(kMargin - 6, 34, fmt::format("{:.1f}", y.high), "end");
  std::vector<double> wanted;
  for (const StrategyReport& strategy : report.strategies) {
    wanted.push_back(y.at(100 * strategy.result.saved) + 4);
  }
  const std::vector<double> places = spread(wanted);
  for (std::size_t i = 0; i < report.strategies.size(); ++i) {
    const StrategyResult& r = report.strategies[i].result;
    // A strategy is on the front if no other is at least as fast and saves more.
    const bool best = std::ranges::none_of(report.strategies, [&](const StrategyReport& other) {
      return other.result.slowdown <= r.slowdown && other.result.saved > r.saved + 1e-9;
    });
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\" class=\"{}\"/>\n",
                       x.at(100 * r.slowdown), y.at(100 * r.saved), best ? "compute" : "memory");
    out += label(x.at(100 * r.slowdown) + 9, places[i], r.name, "start");
  }
  return out + "</svg>\n";
}

}  // namespace

std::string plan_page(const PlanDocument& document) {
  const std::string title = fmt::format("{} on {}", document.network.name, document.sheet.name);
  return fmt::format(
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
             "name=\"viewport\" "
             "content=\"width=device-width, initial-scale=1\"><title>{}</title>\n"
             "<style>body{{font:15px system-ui,sans-serif;max-width:60rem;margin:2rem auto;"
             "padding:0 1rem}}svg{{width:100%}}text{{font-size:12px;fill:#333}}"
             ".axis{{stroke:#999}}.grid{{stroke:#e4e4e4}}.roof{{fill:none;stroke:#333;stroke-width:"
             "2}}"
             ".compute{{fill:#c0392b}}.memory{{fill:#2471a3}}pre{{overflow-x:auto;"
             "font-size:12px}}</style></head><body>\n<h1>{}</h1>\n",
             escape(title), escape(title)) +
         roofline(document) + timeline(document) + front(document) + "<h2>Figures</h2>\n<pre>" +
         escape(to_table(document, true)) + "</pre>\n</body></html>\n";
}

}  // namespace hypermile
