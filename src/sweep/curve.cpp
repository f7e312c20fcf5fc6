// SPDX-License-Identifier: Apache-2.0
#include "sweep/curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/nearest.h"
#include "base/parse.h"
#include "sweep/interpolate.h"

namespace hypermile {
namespace {

constexpr double kSmFloor = 0.4;

// 0 means that the knob is left to the driver; it is below every real value.
double knob_value(const Setting& setting, Knob knob) {
  return setting.value(knob).value_or(0);
}

Setting without_default_values(Setting setting, const Setting& defaults) {
  for (const Knob knob : kAllKnobs) {
    if (knob_value(setting, knob) == knob_value(defaults, knob)) setting.clear(knob);
  }
  return setting;
}

// The order of a curve's points: by memory clock, then SM clock, then power limit, each descending.
// A knob that is left to the driver comes first.
bool ordered_before(const CurvePoint& a, const CurvePoint& b) {
  for (const Knob knob : {Knob::kMemoryClock, Knob::kSmClock, Knob::kPowerLimit}) {
    if (a.setting.has(knob) != b.setting.has(knob)) return !a.setting.has(knob);
    const double x = knob_value(a.setting, knob);
    const double y = knob_value(b.setting, knob);
    if (x != y) return x > y;
  }
  return false;
}

// Averages the rows of one Setting.
class Average {
 public:
  void add(const SweepRow& row) {
    ++rows_;
    time_ += row.time;
    power_ += row.power;
    if (row.sm_seen) {
      seen_ += *row.sm_seen;
      ++seen_rows_;
    }
  }
  CurvePoint point(const Setting& setting) const {
    const auto n = static_cast<double>(rows_);
    CurvePoint point{setting, time_ / n, power_ / n, std::nullopt, rows_};
    if (seen_rows_ > 0) point.sm_seen = seen_ / static_cast<double>(seen_rows_);
    return point;
  }
  std::size_t rows() const { return rows_; }

 private:
  std::size_t rows_ = 0;
  std::size_t seen_rows_ = 0;
  Seconds time_;
  Watts power_;
  Mhz seen_;
};

class CurveBuilder {
 public:
  CurveBuilder(const CurveOptions& options, CurveQuirks& quirks)
      : options_(options), quirks_(quirks) {}

  // nullopt where there is no default, or no Setting beside it.
  std::optional<Curve> build(const JobKey& key, const std::vector<const SweepRow*>& rows) {
    Curve curve{key, {}, {}};
    if (!add_default(rows, curve)) {
      ++quirks_.curves_without_default;
      return std::nullopt;
    }
    std::vector<CurvePoint> points = averaged_points(rows, curve.default_values);
    std::ranges::sort(points, ordered_before);
    if (options_.step) points = interpolate(curve, points, *options_.step);
    drop_out_of_range(points, curve.default_values);
    if (points.empty()) {
      ++quirks_.curves_without_choice;
      return std::nullopt;
    }
    curve.points.insert(curve.points.end(), points.begin(), points.end());
    return curve;
  }

 private:
  bool add_default(const std::vector<const SweepRow*>& rows, Curve& curve) {
    Average average;
    for (const SweepRow* row : rows) {
      if (!row->is_default) continue;
      average.add(*row);
      curve.default_values = row->setting;
    }
    if (average.rows() == 0) return false;
    quirks_.defaults_averaged += average.rows() - 1;
    curve.points.push_back(average.point(Setting{}));
    if (!curve.default_values.sm_clock) {
      curve.default_values.sm_clock = curve.default_point().sm_seen;
    }
    return true;
  }

  bool moves_other_knob(const Setting& setting) const {
    if (options_.knobs.empty()) return false;
    return std::ranges::any_of(kAllKnobs, [&](Knob knob) {
      return setting.has(knob) && std::ranges::find(options_.knobs, knob) == options_.knobs.end();
    });
  }

  std::vector<CurvePoint> averaged_points(const std::vector<const SweepRow*>& rows,
                                          const Setting& defaults) {
    std::vector<std::pair<Setting, Average>> averages;
    for (const SweepRow* row : rows) {
      if (row->is_default) continue;
      const Setting setting = without_default_values(row->setting, defaults);
      if (moves_other_knob(setting)) {
        ++quirks_.other_knobs;
        continue;
      }
      auto found = std::ranges::find(averages, setting, &std::pair<Setting, Average>::first);
      if (found == averages.end()) found = averages.insert(found, {setting, Average()});
      found->second.add(*row);
    }
    std::vector<CurvePoint> points;
    for (const auto& [setting, average] : averages) {
      quirks_.repeats_averaged += average.rows() - 1;
      // A row locked to exactly the default's values offers no choice beside the default.
      if (!setting.empty()) points.push_back(average.point(setting));
    }
    return points;
  }

  void drop_out_of_range(std::vector<CurvePoint>& points, const Setting& defaults) {
    double top = knob_value(defaults, Knob::kSmClock);
    if (top == 0) {
      for (const CurvePoint& p : points) top = std::max(top, knob_value(p.setting, Knob::kSmClock));
    }
    quirks_.above_default += std::erase_if(points, [&](const CurvePoint& point) {
      return std::ranges::any_of(kAllKnobs, [&](Knob knob) {
        return defaults.has(knob) && knob_value(point.setting, knob) > knob_value(defaults, knob);
      });
    });
    quirks_.below_floor += std::erase_if(points, [&](const CurvePoint& point) {
      return point.setting.sm_clock && point.setting.sm_clock->value() < kSmFloor * top;
    });
  }

  const CurveOptions& options_;
  CurveQuirks& quirks_;
};

std::vector<std::string> names_of(const Curve& curve) {
  const JobKey& key = curve.key;
  std::vector<std::string> names = {key.gpu + "/" + key.workload};
  if (!key.phase.empty()) names.push_back(names.front() + "/" + key.phase);
  if (!key.variant.empty()) {
    for (const std::string& name : std::vector(names)) names.push_back(name + "/" + key.variant);
  }
  return names;
}

}  // namespace

CurveSet make_curves(const SweepFile& file, const CurveOptions& options) {
  std::vector<JobKey> order;
  std::map<JobKey, std::vector<const SweepRow*>> groups;
  for (const SweepRow& row : file.rows) {
    auto [group, is_new] = groups.try_emplace(row.key);
    if (is_new) order.push_back(row.key);
    group->second.push_back(&row);
  }
  CurveSet set;
  CurveBuilder builder(options, set.quirks);
  for (const JobKey& key : order) {
    if (auto curve = builder.build(key, groups.at(key))) set.curves.push_back(std::move(*curve));
  }
  return set;
}

Result<SweepReference> parse_sweep_reference(std::string_view text) {
  const std::size_t at = text.rfind('@');
  std::string_view step = at == text.npos ? "" : text.substr(at + 1);
  if (!step.ends_with("MHz")) return SweepReference{std::string(text), std::nullopt};
  step.remove_suffix(3);
  const Result<double> mhz = parse_number(step);
  if (!mhz || *mhz < 1) {
    return Error{ErrorCode::kUsage, fmt::format("'{}': expected a step such as @15MHz", text)};
  }
  return SweepReference{std::string(text.substr(0, at)), Mhz(*mhz)};
}

Result<const Curve*> find_curve(std::span<const Curve> curves, std::string_view name) {
  std::vector<std::string> known;
  std::vector<const Curve*> found;
  for (const Curve& curve : curves) {
    const std::vector<std::string> names = names_of(curve);
    if (std::ranges::find(names, name) != names.end()) found.push_back(&curve);
    known.insert(known.end(), names.begin(), names.end());
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return Error{ErrorCode::kUsage, fmt::format("no curve '{}' in this sweep", name),
                 suggestion(name, known)};
  }
  std::vector<std::string> choices;
  for (const Curve* curve : found) choices.push_back(names_of(*curve).back());
  return Error{ErrorCode::kUsage, fmt::format("'{}' names {} curves", name, found.size()),
               "say which: " + suggestion("", choices)};
}

const CurvePoint* find_point(const Curve& curve, const Setting& setting) {
  const Setting wanted = without_default_values(setting, curve.default_values);
  const auto found = std::ranges::find(curve.points, wanted, &CurvePoint::setting);
  return found == curve.points.end() ? nullptr : &*found;
}

}  // namespace hypermile
