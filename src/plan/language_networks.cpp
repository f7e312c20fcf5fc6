// SPDX-License-Identifier: Apache-2.0
//
// BERT-base and GPT-2 (124 M). Attention consists of separate kernels: products, softmax and
// dropout.
#include <string>

#include "plan/builtin_networks.h"
#include "plan/layer_makers.h"

namespace hypermile {
namespace {

struct Transformer {
  std::int64_t batch, tokens, width, heads, blocks, vocabulary, positions;
  bool pre_norm;  // GPT-2 normalises before a block, BERT after it
};

double number(std::int64_t value) {
  return static_cast<double>(value);
}

void attention(std::vector<Layer>& layers, const std::string& name, const Transformer& t) {
  const Shape data = {t.batch, t.tokens, t.width};
  const Shape wide = {t.batch, t.tokens, 3 * t.width};
  const Shape scores = {t.batch, t.heads, t.tokens, t.tokens};
  const double count = number(t.batch * t.heads);
  const double depth = number(t.width / t.heads);
  layers.push_back(make_linear(name + ".qkv", data, 3 * t.width, true));
  layers.push_back(make_elementwise(name + ".heads", "Transpose", wide, wide, elements(wide)));
  layers.push_back(make_matmul(name + ".scores", data, scores, count, number(t.tokens), depth,
                               number(t.tokens)));
  layers.push_back(make_softmax(name + ".softmax", scores));
  layers.push_back(make_dropout(name + ".dropout", scores));
  layers.push_back(make_matmul(name + ".context", scores, data, count, number(t.tokens),
                               number(t.tokens), depth));
  layers.push_back(make_elementwise(name + ".merge", "Transpose", data, data, elements(data)));
  layers.push_back(make_linear(name + ".proj", data, t.width, true));
}

void block(std::vector<Layer>& layers, const std::string& name, const Transformer& t) {
  const Shape data = {t.batch, t.tokens, t.width};
  const Shape hidden = {t.batch, t.tokens, 4 * t.width};
  if (t.pre_norm) layers.push_back(make_layer_norm(name + ".ln_1", data));
  attention(layers, name + ".attn", t);
  layers.push_back(make_dropout(name + ".dropout_1", data));
  layers.push_back(make_add(name + ".add_1", data));
  layers.push_back(make_layer_norm(name + (t.pre_norm ? ".ln_2" : ".ln_1"), data));
  layers.push_back(make_linear(name + ".mlp.fc", data, 4 * t.width, true));
  layers.push_back(make_gelu(name + ".mlp.gelu", hidden));
  layers.push_back(make_linear(name + ".mlp.proj", hidden, t.width, true));
  layers.push_back(make_dropout(name + ".dropout_2", data));
  layers.push_back(make_add(name + ".add_2", data));
  if (!t.pre_norm) layers.push_back(make_layer_norm(name + ".ln_2", data));
}

Network make_transformer(std::string name, const Transformer& t) {
  Network network;
  network.name = std::move(name);
  network.batch = t.batch;
  network.optimizer = Optimizer::kAdam;
  std::vector<Layer>& layers = network.layers;
  const Shape ids = {t.batch, t.tokens};
  const Shape data = {t.batch, t.tokens, t.width};
  layers.push_back(make_embedding("embed.words", ids, data, t.vocabulary));
  layers.push_back(make_embedding("embed.positions", ids, data, t.positions));
  layers.push_back(make_add("embed.add", data));
  if (!t.pre_norm) layers.push_back(make_layer_norm("embed.ln", data));
  layers.push_back(make_dropout("embed.dropout", data));
  for (std::int64_t i = 0; i < t.blocks; ++i) block(layers, "h." + std::to_string(i), t);
  if (t.pre_norm) layers.push_back(make_layer_norm("ln_f", data));
  // The output layer shares the weights of the word table, which count once.
  Layer head = make_linear("lm_head", data, t.vocabulary, false);
  head.other_inputs = head.params;
  head.params = 0;
  const Shape logits = head.out;
  layers.push_back(std::move(head));
  layers.push_back(make_cross_entropy("loss", logits));
  return network;
}

}  // namespace

Network make_bert_base(std::int64_t batch) {
  return make_transformer("bert-base", {batch, 128, 768, 12, 12, 30'522, 512, false});
}

Network make_gpt2(std::int64_t batch) {
  return make_transformer("gpt2", {batch, 1024, 768, 12, 12, 50'257, 1024, true});
}

}  // namespace hypermile
