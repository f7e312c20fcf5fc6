// SPDX-License-Identifier: Apache-2.0
//
// plan_evidence H200 NETWORKS: prints docs/evidence/layerwise.md. H200 is the folder of the first
// recordings on an H200; benchmarks/h200 has later recordings of layers. NETWORKS is a folder of
// network files. `plan_evidence --thesis` prints the rows of the thesis alone.
// scripts/evidence/layerwise calls both from the root of the source tree.
#include <fmt/format.h>

#include <filesystem>

#include "evidence/plan/cost_model.h"
#include "evidence/plan/experiment.h"
#include "evidence/plan/measured_plans.h"
#include "evidence/plan/networks.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--thesis") {
    fmt::print("{}", hypermile::thesis_rows());
    return 0;
  }
  const std::string networks = argc > 2 ? argv[2] : "";
  const std::string h200 = argc > 1 ? argv[1] : "../shared/data/h200";
  fmt::print(
      "# Clocks for layers\n\n"
      "Made by `scripts/evidence/layerwise`; nothing here is written by hand. The experiment is "
      "**simulated**: times and energies\nof layers follow from the GPUs' sheets and assumed "
      "efficiencies. The last two parts compare the cost model with layers\n**measured** on an "
      "H200.\n\n"
      "## The thesis's experiment\n\n"
      "ResNet50 and VGG16 at batch 32 on an RTX A4000 and an RTX 2000 Ada laptop GPU. The abstract "
      "of the thesis names these networks\nand GPUs (its \"RTX 2000 Mobile\" is assumed to be the "
      "Ada "
      "one), but not its batch, precision and figures.\n\n");
  fmt::print("{}", hypermile::experiment_evidence());
  fmt::print("\n## Networks on four cards\n\n{}", hypermile::networks_evidence(networks));
  fmt::print("\n## The training step as it is\n\n{}", hypermile::phases_evidence());
  fmt::print("\n## Measured layers against the model\n\n{}", hypermile::measured_plans_evidence());
  const std::string graphs = "benchmarks/h200/layers_graphs.csv";
  const std::string networks_measured = "benchmarks/h200/layers";
  fmt::print(
      "\n## Layers of four networks on an H200\n\n"
      "**Measured**, read-only, on 2026-11-18 with PyTorch 2.11 by "
      "`benchmarks/h200/measure_layers.py`: `profile_layers()` at the default,\nevery distinct "
      "shape of a forward pass, forward and backward. The model's constants are those fitted to "
      "the layers of ResNet50 and VGG16 from\nCUDA graphs (below); nothing was fitted to GPT-2 and "
      "the U-Net. GPT-2's last product has 50,257 columns, an odd number, which is the "
      "likely\ncause "
      "of its long time; the model does not know that.\n\n{}\n"
      "## Operations on an H200\n\n"
      "**Measured** there too: operations of one forward pass that `export_layers()` counts, "
      "against `torch.utils.flop_counter` of PyTorch 2.11.\nThat counter does not see cuDNN's "
      "recurrent layers, for which there are formulas.\n\n{}",
      hypermile::measured_networks_evidence(networks_measured, graphs),
      hypermile::flops_evidence(networks_measured + "/flops.csv"));
  if (std::filesystem::exists(graphs)) {
    fmt::print(
        "\n## The cost model against layers from CUDA graphs\n\n"
        "The same layers on an H200, recorded by `benchmarks/h200/record_layers.py`: each from a "
        "CUDA graph of many calls, on data\nthat the cache does not hold, in bursts that stay "
        "below "
        "the power limit. The tests are the same as in the next part. The\ntargets are 20 % per "
        "shape and 10 % for all layers together. Which constants are fitted was chosen by looking "
        "at both\nrecordings.\n\n{}",
        hypermile::cost_model_evidence(graphs, h200));
  }
  fmt::print(
      "\n## The cost model against an H200\n\n"
      "Single layers of ResNet50 and VGG16 at batch 64, with the smallest time of each distinct "
      "shape, forward and backward\nseparately. The model is fitted on one network and tested on "
      "the other. BatchNorm occurs in one network only, so each of\nits shapes is tested with a "
      "fit without that shape. The targets are 35 % per shape and 15 % for all layers "
      "together.\n\n{}",
      hypermile::cost_model_evidence(h200 + "/layers.csv", h200));
  return 0;
}
