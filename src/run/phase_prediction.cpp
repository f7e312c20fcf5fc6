// SPDX-License-Identifier: Apache-2.0
#include "run/phase_prediction.h"

#include <memory>
#include <utility>

#include "predict/model_file.h"
#include "predict/model_predictor.h"
#include "predict/ratio_prediction.h"

namespace hypermile {

Result<PredictForPhase> predict_by_model(const std::string& path) {
  ASSIGN_OR_RETURN(Model model, read_model(path));
  const auto predictor = std::make_shared<const ModelPredictor>(std::move(model));
  return PredictForPhase([predictor](const PhaseFacts& facts, const PolicyContext& context) {
    return make_ratio_prediction(predictor, facts.gpus.front()->identity().name, context);
  });
}

}  // namespace hypermile
