// SPDX-License-Identifier: Apache-2.0
#include "evidence/predict/contenders.h"

#include <fmt/format.h>

#include "predict/baselines.h"
#include "predict/model_predictor.h"

namespace hypermile {
namespace {

Maker model_maker(ModelKind kind, TrainingOptions options) {
  options.kind = kind;
  return [options](std::vector<Example> examples) -> Result<std::unique_ptr<Predictor>> {
    ASSIGN_OR_RETURN(Model model, train(examples, options));
    return std::unique_ptr<Predictor>(std::make_unique<ModelPredictor>(std::move(model)));
  };
}

template <class Baseline>
Result<std::unique_ptr<Predictor>> baseline(std::vector<Example> examples) {
  return std::unique_ptr<Predictor>(std::make_unique<Baseline>(mean_curve(examples)));
}

}  // namespace

TrainingOptions without_new_cards() {
  TrainingOptions options;
  options.leave_cards = false;
  return options;
}

std::vector<Contender> contenders(const TrainingOptions& options) {
  return {
      {"mean curve", baseline<MeanCurvePredictor>, false},
      {"roofline", baseline<RooflinePredictor>, false},
      {"nearest job",
       [](std::vector<Example> examples) -> Result<std::unique_ptr<Predictor>> {
         return std::unique_ptr<Predictor>(std::make_unique<NearestPredictor>(std::move(examples)));
       },
       false},
      {"boosted", model_maker(ModelKind::kBoosted, options)},
      {"analytic", model_maker(ModelKind::kAnalytic, options)},
      {"joined", model_maker(ModelKind::kJoined, options)}};
}

const std::vector<CounterSet>& counter_sets() {
  static const std::vector<CounterSet> sets = {
      {"V100, DCGM", "nvdvfs_v100_dcgm", "V100"},
      {"A100, DCGM", "ttu_a100_v100", "A100-SXM4-80GB"},
      {"GTX 980, nvprof", "nvdvfs_gtx980", "GTX 980"},
      {"V100, nvprof", "nvdvfs_v100_nvprof", "V100"},
  };
  return sets;
}

Result<std::vector<Example>> load(const std::string& data, const CounterSet& set) {
  ASSIGN_OR_RETURN(ExampleSet all, read_examples({data + "/" + set.folder + "/data.csv"}));
  std::erase_if(all.examples, [&](const Example& e) { return e.key.gpu != set.gpu; });
  return std::move(all.examples);
}

Result<std::vector<Example>> load_public(const std::string& data) {
  std::vector<std::string> paths;
  for (const CounterSet& set : counter_sets()) paths.push_back(data + "/" + set.folder);
  for (const char* set : {"zeus_power_trace", "zeus_profile_windows", "darsh_llm_powercap"}) {
    paths.push_back(data + "/" + set);
  }
  for (std::string& path : paths) path += "/data.csv";
  ASSIGN_OR_RETURN(ExampleSet all, read_examples(paths));
  return std::move(all.examples);
}

}  // namespace hypermile
