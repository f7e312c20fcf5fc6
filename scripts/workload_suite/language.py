# SPDX-License-Identifier: Apache-2.0
"""Transformers and recurrent networks from their published shapes.

Transformer base: Vaswani et al. 2017. BERT base: Devlin et al. 2018. GPT-2 small: Radford et al. 2019. Llama: Touvron et
al. 2023, at the shape of a 1.1 B model (22 layers of 2048, 32 heads, 4 key heads, 5632 in the gated perceptron). DeepSpeech2:
Amodei et al. 2015 (two convolutions, five bidirectional recurrent layers of 800). LSTM language model: Zaremba et al. 2014
(two layers of 650, 35 steps). Recurrent layers first run one product of all inputs, then one small product per time step.
"""

from .ops import Tape


def encoder_layer(t, n, length, d, heads, hidden, causal=False, fused=True, key_heads=None, gated=False):
    rows = n * length
    kv = d * (key_heads or heads) // heads
    t.layer_norm(rows * d, d)
    t.matmul(rows, d, d + 2 * kv, bias=not gated)
    t.pointwise(rows * d, reads=1, launches=3, flops=0)  # splits and merges the heads
    t.attention(n, heads, length, d // heads, causal, fused)
    t.matmul(rows, d, d, bias=not gated)
    t.dropout(rows * d)
    t.add(rows * d)
    t.layer_norm(rows * d, d)
    t.matmul(rows, d, hidden, bias=not gated)
    if gated:
        t.matmul(rows, d, hidden)
        t.pointwise(rows * hidden, flops=5)
    else:
        t.gelu(rows * hidden)
    t.matmul(rows, hidden, d, bias=not gated)
    t.dropout(rows * d)
    t.add(rows * d)


def bert(n, length=128, layers=12, d=768, heads=12, element=2):
    t = Tape(element, casts=element == 2)
    t.embedding(n * length, d, 30522)
    t.weights(514 * d, 2)
    t.layer_norm(n * length * d, d)
    for _ in range(layers):
        encoder_layer(t, n, length, d, heads, 4 * d)
    masked = round(0.15 * n * length)
    t.matmul(masked, d, d, bias=True)
    t.matmul(masked, d, 30522, weight=False)
    t.cross_entropy(masked, 30522)
    return t


def gpt2(n, length=1024, layers=12, d=768, heads=12, vocabulary=50257, element=2):
    t = Tape(element, casts=element == 2)
    t.embedding(n * length, d, vocabulary)
    t.weights(1024 * d)
    for _ in range(layers):
        encoder_layer(t, n, length, d, heads, 4 * d, causal=True)
    t.layer_norm(n * length * d, d)
    t.matmul(n * length, d, vocabulary, weight=False)
    t.cross_entropy(n * length, vocabulary)
    return t


def llama(n, length=2048, layers=22, d=2048, heads=32, key_heads=4, hidden=5632, vocabulary=32000, element=2):
    t = Tape(element)  # pure bfloat16, without casts
    t.embedding(n * length, d, vocabulary)
    for _ in range(layers):
        encoder_layer(t, n, length, d, heads, hidden, causal=True, key_heads=key_heads, gated=True)
    t.layer_norm(n * length * d, d)
    t.matmul(n * length, d, vocabulary)
    t.cross_entropy(n * length, vocabulary)
    return t


def transformer(n, length=32, layers=6, d=512, heads=8, vocabulary=37000, element=4):
    """Encoder and decoder on sentence pairs of `length` tokens each."""
    t = Tape(element, casts=element == 2)
    for _ in range(2):
        t.embedding(n * length, d, vocabulary // 2)  # shared between both sides
    for _ in range(layers):
        encoder_layer(t, n, length, d, heads, 4 * d, fused=False)
    for _ in range(layers):
        encoder_layer(t, n, length, d, heads, 4 * d, causal=True, fused=False)
        t.matmul(n * length, d, 4 * d, bias=True)  # the four products of the attention to the source
        t.attention(n, heads, length, d // heads, fused=False)
        t.layer_norm(n * length * d, d)
    t.matmul(n * length, d, vocabulary, weight=False)
    t.cross_entropy(n * length, vocabulary)
    return t


def recurrent(t, n, steps, inputs, hidden, gates=4, directions=1):
    """One layer as cuDNN runs it: a product of all inputs, then a thin product and a fused cell for each step."""
    for _ in range(directions):
        t.matmul(n * steps, inputs, gates * hidden, bias=True)
        flops = 2.0 * steps * n * hidden * gates * hidden
        elements = steps * (gates * hidden * hidden + n * hidden * (gates + 1))
        t.op("small", flops, elements, steps, (2 * flops, 2 * elements, steps + 1))
        t.op("stream", 10 * n * steps * hidden, 2 * n * steps * gates * hidden, steps,
             (10 * n * steps * hidden, 3 * n * steps * gates * hidden, steps))
        t.weights(gates * hidden * hidden)


def lstm_language_model(n=20, steps=35, hidden=650, vocabulary=33278, layers=2, element=4):
    t = Tape(element)
    t.embedding(n * steps, hidden, vocabulary)
    for _ in range(layers):
        recurrent(t, n, steps, hidden, hidden)
        t.dropout(n * steps * hidden)
    t.matmul(n * steps, hidden, vocabulary, bias=True)
    t.cross_entropy(n * steps, vocabulary)
    return t


def deep_speech2(n=16, frames=800, hidden=800, layers=5, element=4):
    t = Tape(element)
    steps = frames // 2
    t.conv(n, 1, 32, 41, 81, steps, stride=2, kw=11, first=True)
    t.batch_norm(n * 32 * 81 * steps, 32)
    t.conv(n, 32, 32, 21, 41, steps, kw=11, stride=1)
    t.batch_norm(n * 32 * 41 * steps, 32)
    inputs = 32 * 41
    for _ in range(layers):
        t.batch_norm(n * steps * inputs, inputs)
        recurrent(t, n, steps, inputs, hidden, gates=3, directions=2)
        inputs = hidden
    t.matmul(n * steps, hidden, 29, kind="small")
    t.op("stream", 0, 4e6, 2 * steps // 8, (0, 4e6, 2 * steps // 8))  # CTC is a chain of tiny kernels
    return t


def attention_summarizer(n=64, source=400, target=50, hidden=512, vocabulary=30000, element=4):
    """Encoder-decoder with attention; each decoder step is a chain of kernels (shapes of Nallapati et al. 2016)."""
    t = Tape(element)
    t.embedding(n * (source + target), 256, vocabulary)
    recurrent(t, n, source, 256, hidden, directions=2)
    recurrent(t, n, target, 256 + 2 * hidden, hidden)
    pairs = float(n) * source * 2 * hidden
    t.op("stream", 4 * pairs * target, 2 * pairs * target, 6 * target, (6 * pairs * target, 3 * pairs * target, 9 * target))
    t.matmul(n * target, hidden, vocabulary, bias=True)
    t.cross_entropy(n * target, vocabulary)
    return t
