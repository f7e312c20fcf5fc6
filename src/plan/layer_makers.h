// SPDX-License-Identifier: Apache-2.0
//
// Makes Layers of the common operators from their shapes: the one place where an operator's
// operations and traffic are written down. Used by the built-in networks, by the readers of network
// files and by the calibration. Shapes must have at least one dimension and positive extents; the
// readers check that before they come here.
#pragma once

#include "plan/layer.h"

namespace hypermile {

struct SlidingWindow {
  std::int64_t kernel_h = 1, kernel_w = 1;
  std::int64_t stride_h = 1, stride_w = 1;
};

// in N×Ci×…, out N×Co×…; taps: kernel points (k² for 2D).
Layer make_conv(std::string name, Shape in, Shape out, std::int64_t taps, std::int64_t groups,
                bool bias);
// The last dimension is mapped to `out_features`.
Layer make_linear(std::string name, Shape in, std::int64_t out_features, bool bias);
// count × (rows × depth)·(depth × columns), both activations.
Layer make_matmul(std::string name, Shape in, Shape out, double count, double rows, double depth,
                  double columns);
Layer make_batch_norm(std::string name, Shape shape);  // training: statistics of the batch
Layer make_layer_norm(std::string name, Shape shape);
Layer make_relu(std::string name, Shape shape);
Layer make_gelu(std::string name, Shape shape);
Layer make_add(std::string name, Shape shape);
Layer make_dropout(std::string name, Shape shape);
Layer make_softmax(std::string name, Shape shape);
Layer make_max_pool(std::string name, Shape in, Shape out, const SlidingWindow& window);
Layer make_average_pool(std::string name, Shape in, Shape out);
// Rows of a table of `entries` × out's last dimension, one for each index in `in`.
Layer make_embedding(std::string name, Shape in, Shape out, std::int64_t entries);
// Logits rows × classes to one loss.
Layer make_cross_entropy(std::string name, Shape logits);
// Sparse matrix of `edges` entries times a dense one with shape `in`.
Layer make_sparse_product(std::string name, Shape in, Shape out, double edges);
// Reads `inputs` elements and writes `out` once: copies, and operators that are not known.
Layer make_elementwise(std::string name, std::string type, Shape in, Shape out, double inputs);
// Moves nothing.
Layer make_view(std::string name, std::string type, Shape in, Shape out);

}  // namespace hypermile
