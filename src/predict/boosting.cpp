// SPDX-License-Identifier: Apache-2.0
#include "predict/boosting.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

namespace hypermile {
namespace {

struct FreeMatrix {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

Error refusal() {
  return Error{ErrorCode::kInternal, fmt::format("XGBoost: {}", XGBGetLastError())};
}

Result<Matrix> matrix_of(const BoostingRows& rows) {
  const auto count = static_cast<bst_ulong>(rows.inputs.size());
  DMatrixHandle handle = nullptr;
  if (XGDMatrixCreateFromMat(rows.inputs.front().data(), count, kInputCount,
                             std::numeric_limits<float>::quiet_NaN(), &handle) != 0) {
    return refusal();
  }
  Matrix matrix(handle);
  if (XGDMatrixSetFloatInfo(handle, "label", rows.targets.data(), count) != 0 ||
      XGDMatrixSetFloatInfo(handle, "weight", rows.weights.data(), count) != 0) {
    return refusal();
  }
  return matrix;
}

Result<void> configure(void* booster, const BoostingOptions& options) {
  const std::vector<int> directions(options.directions.begin(), options.directions.end());
  const std::pair<const char*, std::string> parameters[] = {
      {"objective", "reg:squarederror"},
      {"tree_method", "exact"},
      {"max_depth", std::to_string(options.depth)},
      {"eta", fmt::format("{}", options.rate)},
      {"subsample", fmt::format("{}", options.rows)},
      {"colsample_bytree", fmt::format("{}", options.columns)},
      {"lambda", "1"},
      {"base_score", "0.5"},
      {"nthread", "1"},  // members train in parallel, and one thread each gives repeatable trees
      {"seed", std::to_string(options.seed)},
      {"verbosity", "0"},
      {"monotone_constraints", fmt::format("({})", fmt::join(directions, ","))},
  };
  for (const auto& [name, value] : parameters) {
    if (XGBoosterSetParam(booster, name, value.c_str()) != 0) return refusal();
  }
  return {};
}

// XGBoost stores the two children of a node next to each other, left before right.
Result<Tree> tree_from(const nlohmann::json& json) {
  const auto& left = json.at("left_children");
  const auto& right = json.at("right_children");
  const auto& inputs = json.at("split_indices");
  const auto& splits = json.at("split_conditions");
  const auto& missing_left = json.at("default_left");
  Tree tree(left.size());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    tree[i].split = splits.at(i).get<float>();
    if (left.at(i).get<int>() < 0) continue;
    tree[i].input = inputs.at(i).get<std::int32_t>();
    tree[i].left = left.at(i).get<std::int32_t>();
    if (right.at(i).get<std::int32_t>() != tree[i].left + 1) {
      return Error{ErrorCode::kInternal, "XGBoost's model has an unexpected form"};
    }
    const auto& flag = missing_left.at(i);
    tree[i].missing_left = flag.is_boolean() ? flag.get<bool>() : flag.get<int>() != 0;
  }
  return tree;
}

Result<Forest> forest_of(void* booster) {
  bst_ulong size = 0;
  const char* text = nullptr;
  if (XGBoosterSaveModelToBuffer(booster, R"({"format": "json"})", &size, &text) != 0) {
    return refusal();
  }
  const auto json = nlohmann::json::parse(text, text + size, nullptr, false);
  Forest forest;
  try {
    const auto& learner = json.at("learner");
    const std::string base = learner.at("learner_model_param").at("base_score");
    forest.base = std::strtod(base.c_str(), nullptr);
    for (const auto& tree : learner.at("gradient_booster").at("model").at("trees")) {
      ASSIGN_OR_RETURN(forest.trees.emplace_back(), tree_from(tree));
    }
  } catch (const nlohmann::json::exception& problem) {
    return Error{ErrorCode::kInternal,
                 fmt::format("XGBoost's model has an unexpected form: {}", problem.what())};
  }
  RETURN_IF_ERROR(check(forest));
  return forest;
}

}  // namespace

Result<Forest> boost(const BoostingRows& rows, const BoostingOptions& options) {
  if (rows.inputs.empty()) return Error{ErrorCode::kUsage, "no rows to learn from"};
  ASSIGN_OR_RETURN(const Matrix matrix, matrix_of(rows));
  DMatrixHandle known[] = {matrix.get()};
  BoosterHandle handle = nullptr;
  if (XGBoosterCreate(known, 1, &handle) != 0) return refusal();
  const Booster booster(handle);
  RETURN_IF_ERROR(configure(handle, options));
  for (int round = 0; round < options.rounds; ++round) {
    if (XGBoosterUpdateOneIter(handle, round, matrix.get()) != 0) return refusal();
  }
  return forest_of(handle);
}

}  // namespace hypermile
