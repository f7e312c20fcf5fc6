// SPDX-License-Identifier: Apache-2.0
//
// Makes the Layers of common operators from their shapes: the only place that defines an operator's
// operations and traffic. Called by the built-in networks, the readers of network files and the
// calibration. Shapes must have at least one dimension and positive extents, which the readers
// check; nothing here fails.
#pragma once

#include "plan/layer.h"

namespace hypermile {

struct SlidingWindow {
  std::int64_t kernel_h = 1, kernel_w = 1;
  std::int64_t stride_h = 1, stride_w = 1;
};

// `in` is N×Ci×…, `out` is N×Co×…; `taps` counts kernel points (k² in 2D).
Layer make_conv(std::string name, Shape in, Shape out, std::int64_t taps, std::int64_t groups,
                bool bias);
// Maps the last dimension to `out_features`.
Layer make_linear(std::string name, Shape in, std::int64_t out_features, bool bias);
// `count` products (rows × depth)·(depth × columns) of two activations.
Layer make_matmul(std::string name, Shape in, Shape out, double count, double rows, double depth,
                  double columns);
Layer make_batch_norm(std::string name, Shape shape);  // in training, with statistics of the batch
Layer make_layer_norm(std::string name, Shape shape);
Layer make_relu(std::string name, Shape shape);
Layer make_gelu(std::string name, Shape shape);
Layer make_add(std::string name, Shape shape);
Layer make_dropout(std::string name, Shape shape);
Layer make_softmax(std::string name, Shape shape);
Layer make_max_pool(std::string name, Shape in, Shape out, const SlidingWindow& window);
Layer make_average_pool(std::string name, Shape in, Shape out);
// Looks up a row for each index in `in`, in a table of `entries` × out's last dimension.
Layer make_embedding(std::string name, Shape in, Shape out, std::int64_t entries);
// From logits (rows × classes) to one loss.
Layer make_cross_entropy(std::string name, Shape logits);
// A sparse matrix with `edges` entries times a dense matrix of shape `in`.
Layer make_sparse_product(std::string name, Shape in, Shape out, double edges);
// Reads `inputs` elements and writes `out` once, as copies and unknown operators do.
Layer make_elementwise(std::string name, std::string type, Shape in, Shape out, double inputs);
// Moves no data.
Layer make_view(std::string name, std::string type, Shape in, Shape out);

}  // namespace hypermile
