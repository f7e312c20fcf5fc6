// SPDX-License-Identifier: Apache-2.0
#include "plan/measured_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace hypermile {
namespace {

// Half a step of SM clocks, in MHz: a measured clock this near is a choice's.
constexpr double kNearMhz = 8;
// How far the model's relative cost of another clock is taken to be off where no measurement says
// it, the share of the default's clock over which that error builds up, and the share of a
// difference between two measured clocks that may be curvature. No measurement fixes these three:
// they were chosen on the simulated cases of docs/evidence/layerwise.md.
constexpr double kShapeError = 0.05;
constexpr double kShapeSpan = 0.3;
constexpr double kBetween = 0.25;

// A layer's measurement at one choice, as ratios to the model of the same layer alone. `choice` is
// the one with the clock that was seen, which may be below the clock that was asked for.
struct Point {
  std::size_t choice = 0;
  double time = 1, energy = 1;
  double time_error = 0, energy_error = 0;  // relative
  bool has_energy = false;
};

bool same_gear(const Choice& a, const Choice& b) {
  return a.memory == b.memory;
}

std::optional<std::size_t> choice_of(const CostTable& table, const Setting& setting) {
  if (setting.power_limit) return std::nullopt;
  if (setting.empty()) return 0;
  std::optional<std::size_t> found;
  double nearest = kNearMhz;
  for (std::size_t c = 0; c < table.choices.size(); ++c) {
    const Setting& other = table.choices[c].setting;
    if (other.memory_clock != setting.memory_clock) continue;
    if (other.sm_clock.has_value() != setting.sm_clock.has_value()) continue;
    const double distance =
        setting.sm_clock ? std::abs(*setting.sm_clock / Mhz(1) - *other.sm_clock / Mhz(1)) : 0;
    if (distance >= nearest) continue;
    nearest = distance;
    found = c;
  }
  return found;
}

class Overlay {
 public:
  Overlay(const MeasuredLayers& measured, const GpuSheet& sheet,
          const std::vector<PlanStage>& stages, const Efficiency& efficiency, CostTable modelled)
      : measured_(measured),
        sheet_(sheet),
        stages_(stages),
        efficiency_(efficiency),
        model_(std::move(modelled)),
        width_(model_.choices.size()) {
    made_.table = model_;
    made_.cells.resize(model_.costs.size());
    points_.resize(stages.size());
    for (std::size_t stage = 0; stage < stages.size(); ++stage) points_[stage] = points_of(stage);
  }

  bool any() const {
    return std::ranges::any_of(points_, [](const auto& points) { return !points.empty(); });
  }

  MeasuredTable make() {
    find_shape_error();
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      if (!points_[stage].empty()) fill_measured(stage);
    }
    fill_rest();
    summarize();
    return std::move(made_);
  }

 private:
  const MeasuredPass& pass_of(std::size_t stage, const MeasuredLayer& layer) const {
    return stages_[stage].phase == PlanPhase::kBackward ? layer.backward : layer.forward;
  }

  std::vector<Point> points_of(std::size_t stage) const {
    const auto found = measured_.layers.find(stages_[stage].key);
    std::vector<Point> points;
    if (stages_[stage].key.empty() || found == measured_.layers.end()) return points;
    for (const MeasuredLayer& layer : found->second) {
      auto choice = choice_of(model_, layer.setting);
      if (choice && layer.sm) choice = at_clock(*choice, *layer.sm);
      if (!choice) continue;
      const Choice& at = model_.choices[*choice];
      const StageCost& inside = model_.at(stage, *choice);
      const double alone =
          stage_time(sheet_.constants, stages_[stage].alone, efficiency_, at.sm, at.memory);
      const MeasuredPass& pass = pass_of(stage, layer);
      Point point;
      point.choice = *choice;
      point.time = pass.time_s.value / alone;
      point.time_error = pass.time_s.error / pass.time_s.value;
      point.has_energy = pass.energy_j.has_value();
      if (pass.energy_j) {
        point.energy = pass.energy_j->value / (inside.energy_j * alone / inside.time_s);
        point.energy_error = pass.energy_j->error / pass.energy_j->value;
      } else {
        // Without an energy counter, the model's power and the measured time.
        point.energy = point.time;
        point.energy_error = std::hypot(point.time_error, kShapeError);
      }
      points.push_back(point);
    }
    std::ranges::sort(points, {}, [&](const Point& p) {
      return std::pair(model_.choices[p.choice].memory, model_.choices[p.choice].sm);
    });
    return points;
  }

  // The choice of the same memory clock with the nearest SM clock; of two at the same clock, the
  // one that was asked for.
  std::size_t at_clock(std::size_t asked, Mhz seen) const {
    std::size_t nearest = asked;
    for (std::size_t c = 0; c < width_; ++c) {
      if (!same_gear(model_.choices[c], model_.choices[asked])) continue;
      const auto distance = [&](std::size_t i) {
        return std::abs(model_.choices[i].sm.value() - seen.value());
      };
      if (distance(c) < distance(nearest)) nearest = c;
    }
    return nearest;
  }

  // How much the ratio to the model changes from the default to other measured clocks.
  void find_shape_error() {
    double squares = 0, count = 0;
    for (const std::vector<Point>& points : points_) {
      const auto normal = std::ranges::find(points, std::size_t{0}, &Point::choice);
      if (normal == points.end()) continue;
      for (const Point& point : points) {
        if (point.choice == 0) continue;
        squares += std::pow(point.energy / normal->energy - 1, 2);
        ++count;
      }
    }
    shape_error_ = count > 0 ? std::sqrt(squares / count) : kShapeError;
  }

  void fill_measured(std::size_t stage) {
    const std::vector<Point>& points = points_[stage];
    for (std::size_t c = 0; c < width_; ++c) {
      StageCost& cost = made_.table.costs[stage * width_ + c];
      Cell& cell = made_.cells[stage * width_ + c];
      const Point* below = nullptr;
      const Point* above = nullptr;
      for (const Point& point : points) {
        if (!same_gear(model_.choices[point.choice], model_.choices[c])) continue;
        if (model_.choices[point.choice].sm <= model_.choices[c].sm) below = &point;
        if (above == nullptr && model_.choices[point.choice].sm >= model_.choices[c].sm) {
          above = &point;
        }
      }
      if (below != nullptr && above != nullptr) {
        between(*below, *above, c, cost, cell);
        cell.source = source_of(stage, c);
      } else {
        const Point* near = below != nullptr ? below : above != nullptr ? above : &normal(points);
        cost.time_s *= near->time;
        cost.energy_j *= near->energy;
        const double shape = shape_error_ * away(near->choice, c);
        cell.time_error = std::hypot(near->time_error, shape);
        cell.energy_error = std::hypot(near->energy_error, shape);
      }
    }
  }

  // How much of the shape's error counts at `choice` for a ratio that was measured at another one:
  // all of it at another memory clock, and in proportion to the distance between SM clocks.
  double away(std::size_t measured, std::size_t choice) const {
    const Choice& from = model_.choices[measured];
    const Choice& to = model_.choices[choice];
    if (!same_gear(from, to)) return 1;
    const double distance = std::abs(from.sm.value() - to.sm.value());
    return std::min(1.0, distance / (kShapeSpan * model_.choices.front().sm.value()));
  }

  // The default's point, or any.
  static const Point& normal(const std::vector<Point>& points) {
    const auto found = std::ranges::find(points, std::size_t{0}, &Point::choice);
    return found == points.end() ? points.front() : *found;
  }

  void between(const Point& below, const Point& above, std::size_t choice, StageCost& cost,
               Cell& cell) const {
    const double low = model_.choices[below.choice].sm.value();
    const double high = model_.choices[above.choice].sm.value();
    const double at = model_.choices[choice].sm.value();
    const double up = high > low ? (at - low) / (high - low) : 0;
    const auto mix = [&](double a, double b) { return (1 - up) * a + up * b; };
    const bool measured = below.choice == choice || above.choice == choice;
    const Point& exact = above.choice == choice ? above : below;
    if (measured) {
      cost.time_s *= exact.time;
      cost.energy_j *= exact.energy;
      cell.time = CellOrigin::kMeasured;
      cell.energy = exact.has_energy ? CellOrigin::kMeasured : CellOrigin::kModelled;
      cell.time_error = exact.time_error;
      cell.energy_error = exact.energy_error;
      return;
    }
    const double time = mix(below.time, above.time), energy = mix(below.energy, above.energy);
    const double curved = 4 * up * (1 - up) * kBetween;
    cost.time_s *= time;
    cost.energy_j *= energy;
    cell.time = CellOrigin::kInterpolated;
    cell.energy =
        below.has_energy && above.has_energy ? CellOrigin::kInterpolated : CellOrigin::kModelled;
    cell.time_error = std::hypot(mix(below.time_error, above.time_error),
                                 curved * (above.time - below.time) / time);
    cell.energy_error = std::hypot(mix(below.energy_error, above.energy_error),
                                   curved * (above.energy - below.energy) / energy);
  }

  // Stages of one layer and pass share their rows, and so their errors.
  std::uint32_t source_of(std::size_t stage, std::size_t choice) {
    const bool backward = stages_[stage].phase == PlanPhase::kBackward;
    const auto [place, added] =
        layer_number_.try_emplace(stages_[stage].key + (backward ? " b" : " f"),
                                  static_cast<std::uint32_t>(layer_number_.size()));
    return 1 + place->second * static_cast<std::uint32_t>(width_) +
           static_cast<std::uint32_t>(choice);
  }

  // Stages that were not measured: the model, scaled by all measured stages at the same choice.
  void fill_rest() {
    for (std::size_t c = 0; c < width_; ++c) {
      StageCost measured, modelled;
      for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
        if (points_[stage].empty()) continue;
        measured.time_s += made_.table.at(stage, c).time_s;
        measured.energy_j += made_.table.at(stage, c).energy_j;
        modelled.time_s += model_.at(stage, c).time_s;
        modelled.energy_j += model_.at(stage, c).energy_j;
      }
      for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
        if (!points_[stage].empty()) continue;
        StageCost& cost = made_.table.costs[stage * width_ + c];
        cost.time_s *= measured.time_s / modelled.time_s;
        cost.energy_j *= measured.energy_j / modelled.energy_j;
        // The level cancels between a plan and the default; the shape does not.
        Cell& cell = made_.cells[stage * width_ + c];
        cell.time_error = cell.energy_error = c == 0 ? 0 : std::max(shape_error_, kShapeError);
      }
    }
  }

  void summarize() {
    double time = 0, energy = 0, model_time = 0, model_energy = 0, squares = 0;
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      if (points_[stage].empty()) continue;
      ++made_.layers;
      time += made_.table.at(stage, 0).time_s;
      energy += made_.table.at(stage, 0).energy_j;
      model_time += model_.at(stage, 0).time_s;
      model_energy += model_.at(stage, 0).energy_j;
    }
    made_.covered_time = time / made_.table.uniform(0).time_s;
    made_.time_ratio = time / model_time;
    made_.energy_ratio = energy / model_energy;
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      if (points_[stage].empty()) continue;
      const double ratio = made_.table.at(stage, 0).time_s / model_.at(stage, 0).time_s;
      squares += std::pow(ratio / made_.time_ratio - 1, 2) * made_.table.at(stage, 0).time_s / time;
    }
    made_.model_error = std::sqrt(squares);
  }

  const MeasuredLayers& measured_;
  const GpuSheet& sheet_;
  const std::vector<PlanStage>& stages_;
  const Efficiency& efficiency_;
  CostTable model_;
  std::size_t width_;
  std::vector<std::vector<Point>> points_;  // by stage, sorted by memory clock and SM clock
  std::map<std::string, std::uint32_t> layer_number_;
  double shape_error_ = kShapeError;
  MeasuredTable made_;
};

}  // namespace

std::string_view to_string(CellOrigin origin) {
  switch (origin) {
    case CellOrigin::kMeasured:
      return "measured";
    case CellOrigin::kInterpolated:
      return "interpolated";
    case CellOrigin::kModelled:
      return "modelled";
  }
  return "";
}

Result<MeasuredTable> apply_measured(const MeasuredLayers& measured, const GpuSheet& sheet,
                                     const std::vector<PlanStage>& stages,
                                     const Efficiency& efficiency, CostTable modelled) {
  if (!measured.gpu.empty() && measured.gpu != sheet.name) {
    return Error{
        ErrorCode::kUsage,
        fmt::format("{} was measured on {}, not on {}", measured.file, measured.gpu, sheet.name),
        "give the --gpu on which it was measured"};
  }
  Overlay overlay(measured, sheet, stages, efficiency, std::move(modelled));
  if (!overlay.any()) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{} has no layer of this network at this batch", measured.file),
                 "measure this network with hypermile.profile_layers(), or check --batch"};
  }
  return overlay.make();
}

}  // namespace hypermile
