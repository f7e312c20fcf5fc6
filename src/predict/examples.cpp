// SPDX-License-Identifier: Apache-2.0
#include "predict/examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/whole_file.h"
#include "predict/feature_columns.h"
#include "sweep/curve.h"

namespace hypermile {
namespace {

// A larger ratio of times or energies is a mistake in the file, such as a wrong unit.
constexpr double kLargestRatio = 20;

std::string hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return fmt::format("{:016x}", hash);
}

std::string short_name(const std::string& path) {
  const std::filesystem::path full = std::filesystem::absolute(path);
  return full.parent_path().filename().string() + "/" + full.filename().string();
}

Result<std::string> read_bytes(const std::string& path) {
  auto text = read_whole_file(path);
  if (!text || text->empty()) {
    return Error{ErrorCode::kNotFound, path + ": cannot be read or is empty",
                 "check the path of the sweep"};
  }
  return *std::move(text);
}

Example example_of(const Curve& curve, const std::vector<const SweepRow*>& defaults,
                   const std::string& set, std::vector<std::string>& problems) {
  Example example{set, curve.key, workload_group(curve.key.workload), mean_features(defaults), {}};
  const CurvePoint& base = curve.default_point();
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    const CurvePoint& point = curve.points[i];
    MeasuredRatio ratio{relative(point.setting, curve.default_values, base.power),
                        point.time / base.time, 1};
    ratio.energy = ratio.time * (point.power / base.power);
    if (!(ratio.time < kLargestRatio && ratio.energy < kLargestRatio)) {
      problems.push_back(fmt::format(
          "{}: {}: {} takes {:.3g} times the default's time, {:.3g} times "
          "its energy; this setting is left out",
          set, to_string(curve.key), to_string(point.setting), ratio.time, ratio.energy));
      continue;
    }
    example.points.push_back(ratio);
  }
  return example;
}

}  // namespace

bool has_clocks(const Example& example) {
  return std::ranges::any_of(example.points, [](const MeasuredRatio& p) { return !p.at.limit; });
}

std::string workload_group(std::string_view workload) {
  std::string_view name = workload;
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) {
    name.remove_suffix(1);
  }
  for (const std::string_view mark : {"_input", "_arg", "#"}) {
    if (name.size() < workload.size() && name.size() > mark.size() && name.ends_with(mark)) {
      return std::string(name.substr(0, name.size() - mark.size()));
    }
  }
  return std::string(workload);
}

Result<void> add_examples(const std::string& path, ExampleSet& set) {
  ASSIGN_OR_RETURN(const std::string bytes, read_bytes(path));
  std::istringstream in(bytes);
  const SweepReading reading{true, feature_columns()};
  ASSIGN_OR_RETURN(const SweepFile file, read_sweep(in, path, reading));
  set.problems.insert(set.problems.end(), file.problems.begin(), file.problems.end());
  std::map<JobKey, std::vector<const SweepRow*>> defaults;
  for (const SweepRow& row : file.rows) {
    if (row.is_default) defaults[row.key].push_back(&row);
  }
  ExampleSource source{short_name(path), hash_of(bytes), file.rows.size(), 0};
  for (const Curve& curve : make_curves(file, {}).curves) {
    Example example = example_of(curve, defaults[curve.key], source.name, set.problems);
    if (example.points.empty()) continue;
    set.examples.push_back(std::move(example));
    ++source.jobs;
  }
  if (source.jobs == 0) {
    return Error{
        ErrorCode::kParse,
        fmt::format("{}: no job here has a default row and a usable row beside it ({} usable "
                    "rows{})",
                    path, file.rows.size(),
                    file.problems.empty() ? "" : "; first problem: " + file.problems[0]),
        "mark the default's rows with is_default=1; see docs/reference/sweep-file.md"};
  }
  set.sources.push_back(std::move(source));
  return {};
}

Result<ExampleSet> read_examples(const std::vector<std::string>& paths) {
  ExampleSet set;
  for (const std::string& path : paths) RETURN_IF_ERROR(add_examples(path, set));
  return set;
}

}  // namespace hypermile
