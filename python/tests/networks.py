# SPDX-License-Identifier: Apache-2.0
"""Networks in plain PyTorch, with the shapes of the published ones, on which export_layers() is checked. Their blocks use what
real code uses: functional calls, shared weights, explicit and fused attention, loops, groups, transposed convolutions.

NETWORKS maps a name to a function that makes (model, inputs). Everything works on the meta device, where nothing is computed.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Residual(nn.Module):
    """A block of ResNet or ResNeXt, with functional ReLU and addition."""

    def __init__(self, channels, width, out, stride=1, groups=1):
        super().__init__()
        self.a, self.na = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
        self.b, self.nb = nn.Conv2d(width, width, 3, stride, 1, groups=groups, bias=False), nn.BatchNorm2d(width)
        self.c, self.nc = nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out)
        self.short = None
        if stride != 1 or channels != out:
            self.short = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = F.relu(self.na(self.a(x)))
        y = F.relu(self.nb(self.b(y)))
        y = self.nc(self.c(y))
        return F.relu(y + (x if self.short is None else self.short(x)))


class Basic(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.a, self.na = nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.b, self.nb = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        self.short = nn.Conv2d(channels, out, 1, stride, bias=False) if stride != 1 or channels != out else None

    def forward(self, x):
        y = self.nb(self.b(F.relu(self.na(self.a(x)))))
        y += x if self.short is None else self.short(x)
        return F.relu_(y)


class Stages(nn.Module):
    """Stem, blocks, mean, classifier."""

    def __init__(self, blocks, width):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        self.blocks, self.fc = nn.Sequential(*blocks), nn.Linear(width, 1000)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        return self.fc(self.blocks(x).mean((2, 3)))


def resnet18():
    blocks, channels = [], 64
    for stage, out in enumerate((64, 128, 256, 512)):
        for i in range(2):
            blocks.append(Basic(channels, out, 2 if stage and not i else 1))
            channels = out
    return Stages(blocks, 512), (torch.empty(8, 3, 224, 224),)


def residual(groups, wide):
    blocks, channels = [], 64
    for stage, (count, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512))):
        for i in range(count):
            blocks.append(Residual(channels, width * wide, width * 4, 2 if stage and not i else 1, groups))
            channels = width * 4
    return Stages(blocks, 2048), (torch.empty(8, 3, 224, 224),)


def vgg16():
    layers, channels = [], 3
    for count, out in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        for _ in range(count):
            layers += [nn.Conv2d(channels, out, 3, padding=1), nn.ReLU(inplace=True)]
            channels = out
        layers.append(nn.MaxPool2d(2))
    classifier = [nn.Flatten(), nn.Linear(25088, 4096), nn.ReLU(True), nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(True),
                  nn.Dropout(), nn.Linear(4096, 1000)]
    return nn.Sequential(*layers, *classifier), (torch.empty(8, 3, 224, 224),)


class Inverted(nn.Module):
    """A block of MobileNetV2 or, with `squeeze`, of EfficientNet."""

    def __init__(self, channels, out, stride, grow, taps=3, squeeze=False):
        super().__init__()
        wide = channels * grow
        self.grow = nn.Sequential(nn.Conv2d(channels, wide, 1, bias=False), nn.BatchNorm2d(wide)) if grow > 1 else None
        self.deep = nn.Conv2d(wide, wide, taps, stride, taps // 2, groups=wide, bias=False)
        self.norm = nn.BatchNorm2d(wide)
        self.less = nn.Conv2d(wide, max(1, channels // 4), 1) if squeeze else None
        self.more = nn.Conv2d(max(1, channels // 4), wide, 1) if squeeze else None
        self.out, self.last = nn.Conv2d(wide, out, 1, bias=False), nn.BatchNorm2d(out)
        self.adds = stride == 1 and channels == out

    def forward(self, x):
        act = F.silu if self.less is not None else F.relu6
        y = x if self.grow is None else act(self.grow(x))
        y = act(self.norm(self.deep(y)))
        if self.less is not None:
            y = y * torch.sigmoid(self.more(F.silu(self.less(F.adaptive_avg_pool2d(y, 1)))))
        y = self.last(self.out(y))
        return x + y if self.adds else y


def mobile(rows, squeeze, head):
    layers, channels = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU6()], 32
    for grow, out, count, stride, taps in rows:
        for i in range(count):
            layers.append(Inverted(channels, out, stride if i == 0 else 1, grow, taps, squeeze))
            channels = out
    layers += [nn.Conv2d(channels, head, 1, bias=False), nn.BatchNorm2d(head), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
               nn.Linear(head, 1000)]
    return nn.Sequential(*layers), (torch.empty(8, 3, 224, 224),)


def mobilenet_v2():
    return mobile(((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3), (6, 96, 3, 1, 3), (6, 160, 3, 2, 3),
                   (6, 320, 1, 1, 3)), False, 1280)


def efficientnet_b0():
    return mobile(((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
                   (6, 320, 1, 1, 3)), True, 1280)


class DenseLayer(nn.Module):
    def __init__(self, channels, grow=32):
        super().__init__()
        self.na, self.a = nn.BatchNorm2d(channels), nn.Conv2d(channels, 4 * grow, 1, bias=False)
        self.nb, self.b = nn.BatchNorm2d(4 * grow), nn.Conv2d(4 * grow, grow, 3, padding=1, bias=False)

    def forward(self, x):
        return torch.cat([x, self.b(F.relu(self.nb(self.a(F.relu(self.na(x))))))], 1)


def densenet121():
    layers, channels = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for stage, count in enumerate((6, 12, 24, 16)):
        for _ in range(count):
            layers.append(DenseLayer(channels))
            channels += 32
        if stage < 3:
            layers += [nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, channels // 2, 1, bias=False), nn.AvgPool2d(2)]
            channels //= 2
    layers += [nn.BatchNorm2d(channels), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000)]
    return nn.Sequential(*layers), (torch.empty(8, 3, 224, 224),)


class ConvNextBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.deep, self.norm = nn.Conv2d(width, width, 7, padding=3, groups=width), nn.LayerNorm(width)
        self.grow, self.less = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        y = self.norm(self.deep(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.less(F.gelu(self.grow(y)))).permute(0, 3, 1, 2)


def convnext_tiny():
    layers, channels = [nn.Conv2d(3, 96, 4, 4)], 96
    for stage, (count, width) in enumerate(((3, 96), (3, 192), (9, 384), (3, 768))):
        if stage:
            layers.append(nn.Conv2d(channels, width, 2, 2))
        layers += [ConvNextBlock(width) for _ in range(count)]
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(768, 1000)), (torch.empty(8, 3, 224, 224),)


class Attention(nn.Module):
    """`kind` is "explicit" (two products and a softmax) or "fused" (PyTorch's function, where there is one). `groups` shares
    keys and values among heads, as Llama does."""

    def __init__(self, width, heads, kind="explicit", causal=False, groups=1, bias=True):
        super().__init__()
        self.heads, self.kind, self.causal, self.groups = heads, kind, causal, groups
        self.shared = width // groups
        self.q, self.kv = nn.Linear(width, width, bias=bias), nn.Linear(width, 2 * self.shared, bias=bias)
        self.o = nn.Linear(width, width, bias=bias)

    def forward(self, x):
        batch, tokens, width = x.shape
        size = width // self.heads
        q = self.q(x).view(batch, tokens, self.heads, size).transpose(1, 2)
        k, v = self.kv(x).split(self.shared, -1)
        k, v = (t.reshape(batch, tokens, self.heads // self.groups, size).transpose(1, 2) for t in (k, v))
        if self.groups > 1:
            k, v = (t.unsqueeze(2).expand(-1, -1, self.groups, -1, -1).flatten(1, 2) for t in (k, v))
        if self.kind == "fused" and hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            scores = q @ k.transpose(-2, -1) / size**0.5
            if self.causal:
                scores = scores.masked_fill(torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
            y = scores.softmax(-1) @ v
        return self.o(y.transpose(1, 2).reshape(batch, tokens, width))


class Block(nn.Module):
    def __init__(self, width, heads, kind="explicit", causal=False, first=True):
        super().__init__()
        self.attention = Attention(width, heads, kind, causal)
        self.na, self.nb = nn.LayerNorm(width), nn.LayerNorm(width)
        self.grow, self.less = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first = first  # whether norms come before

    def forward(self, x):
        if self.first:
            x = x + self.attention(self.na(x))
            return x + self.less(F.gelu(self.grow(self.nb(x))))
        x = self.na(x + self.attention(x))
        return self.nb(x + self.less(F.gelu(self.grow(x))))


class Gpt(nn.Module):
    """GPT-2: learnt positions, causal attention, an output layer that shares the embedding's weights."""

    def __init__(self, depth, width, heads, kind, words=50257, tokens=1024):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.zeros(tokens, width))
        self.blocks = nn.ModuleList(Block(width, heads, kind, causal=True) for _ in range(depth))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.words(ids) + self.places[:ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.words.weight)


class Bert(nn.Module):
    def __init__(self, depth=12, width=768, heads=12):
        super().__init__()
        self.words, self.places, self.kinds = nn.Embedding(30522, width), nn.Embedding(512, width), nn.Embedding(2, width)
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(0.1)
        self.blocks = nn.Sequential(*(Block(width, heads, first=False) for _ in range(depth)))
        self.pool = nn.Linear(width, width)

    def forward(self, ids):
        places = torch.arange(ids.shape[1], device=ids.device).unsqueeze(0).expand_as(ids)
        x = self.words(ids) + self.places(places) + self.kinds(torch.zeros_like(ids))
        return torch.tanh(self.pool(self.blocks(self.drop(self.norm(x)))[:, 0]))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.scale * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, groups, inner):
        super().__init__()
        self.na, self.nb = RmsNorm(width), RmsNorm(width)
        self.attention = Attention(width, heads, "fused", causal=True, groups=groups, bias=False)
        self.gate, self.up = nn.Linear(width, inner, bias=False), nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        x = x + self.attention(self.na(x))
        y = self.nb(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def llama_1b():
    blocks = [LlamaBlock(2048, 32, 4, 8192) for _ in range(2)]  # 2 of 16 blocks
    return nn.Sequential(nn.Embedding(8000, 2048), *blocks, RmsNorm(2048), nn.Linear(2048, 8000, bias=False)), (
        torch.zeros(2, 512, dtype=torch.long),)


class Vit(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.patch = nn.Conv2d(3, 768, 16, 16)
        self.token, self.places = nn.Parameter(torch.zeros(1, 1, 768)), nn.Parameter(torch.zeros(1, 197, 768))
        self.blocks = nn.Sequential(*(Block(768, 12, kind) for _ in range(12)))
        self.norm, self.head = nn.LayerNorm(768), nn.Linear(768, 1000)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.norm(self.blocks(x))[:, 0])


class UNet(nn.Module):
    def __init__(self, base=64, depth=4):
        super().__init__()
        self.down, self.up, self.wide, channels = nn.ModuleList(), nn.ModuleList(), nn.ModuleList(), 3
        for i in range(depth + 1):
            self.down.append(self.pair(channels, base << i))
            channels = base << i
        for i in reversed(range(depth)):
            self.wide.append(nn.ConvTranspose2d(channels, base << i, 2, 2))
            self.up.append(self.pair(2 * (base << i), base << i))
            channels = base << i
        self.last = nn.Conv2d(channels, 2, 1)

    @staticmethod
    def pair(channels, out):
        return nn.Sequential(nn.Conv2d(channels, out, 3, padding=1), nn.GroupNorm(8, out), nn.ReLU(),
                             nn.Conv2d(out, out, 3, padding=1), nn.GroupNorm(8, out), nn.ReLU())

    def forward(self, x):
        kept = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for wide, block, other in zip(self.wide, self.up, reversed(kept[:-1])):
            x = block(torch.cat([wide(x), other], 1))
        return self.last(x)


class Dlrm(nn.Module):
    """Bottom and top perceptrons, look-ups, and products between all pairs of features."""

    def __init__(self, tables=26, rows=10000, width=64):
        super().__init__()
        self.bottom = nn.Sequential(nn.Linear(13, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, width), nn.ReLU())
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        pairs = (tables + 1) * tables // 2
        self.top = nn.Sequential(nn.Linear(pairs + width, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        all_ = torch.stack([x] + [table(sparse[:, i]) for i, table in enumerate(self.tables)], 1)
        pairs = torch.bmm(all_, all_.transpose(1, 2))
        at = torch.tril_indices(all_.shape[1], all_.shape[1], -1, device="cpu")
        flat = pairs.flatten(1).index_select(1, (at[0] * all_.shape[1] + at[1]).to(pairs.device))
        return self.top(torch.cat([x, flat], 1))


class MixerBlock(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.na, self.nb = nn.LayerNorm(width), nn.LayerNorm(width)
        self.ta, self.tb = nn.Linear(tokens, 256), nn.Linear(256, tokens)
        self.ca, self.cb = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.tb(F.gelu(self.ta(self.na(x).transpose(1, 2)))).transpose(1, 2)
        return x + self.cb(F.gelu(self.ca(self.nb(x))))


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.blocks = nn.Conv2d(3, 512, 16, 16), nn.Sequential(*(MixerBlock(196, 512) for _ in range(8)))
        self.head = nn.Linear(512, 1000)

    def forward(self, x):
        return self.head(self.blocks(self.patch(x).flatten(2).transpose(1, 2)).mean(1))


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.words, self.rnn, self.head = nn.Embedding(1000, 128), kind(128, 256, num_layers=2, batch_first=True), nn.Linear(256, 1000)

    def forward(self, ids):
        return self.head(self.rnn(self.words(ids))[0])


class Loop(nn.Module):
    """A recurrent cell, called once for each token by a loop in Python."""

    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.GRUCell(64, 128), nn.Linear(128, 10)

    def forward(self, x):
        state = x.new_zeros(x.shape[0], 128)
        for i in range(x.shape[1]):
            state = self.cell(x[:, i], state)
        return self.head(state)


class GraphConvolution(nn.Module):
    """Two graph convolutions over a list of edges, by gathering and adding rows."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(128, 256, bias=False), nn.Linear(256, 40, bias=False)

    def forward(self, x, source, target):
        for layer in (self.a, self.b):
            x = layer(x)
            x = torch.zeros_like(x).index_add(0, target, x.index_select(0, source))
        return x


def encoder():
    layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True)
    return nn.TransformerEncoder(layer, 6), (torch.empty(8, 128, 512),)


def ids(batch, tokens):
    return torch.zeros(batch, tokens, dtype=torch.long)


def edges(nodes, count):
    return torch.zeros(count, dtype=torch.long)


NETWORKS = {
    "resnet18": resnet18,
    "resnet50": lambda: residual(1, 1),
    "resnext50": lambda: residual(32, 2),
    "vgg16": vgg16,
    "mobilenet_v2": mobilenet_v2,
    "efficientnet_b0": efficientnet_b0,
    "densenet121": densenet121,
    "convnext_tiny": convnext_tiny,
    "vit_b16": lambda: (Vit("explicit"), (torch.empty(8, 3, 224, 224),)),
    "vit_b16_fused": lambda: (Vit("fused"), (torch.empty(8, 3, 224, 224),)),
    "mixer": lambda: (Mixer(), (torch.empty(8, 3, 224, 224),)),
    "gpt2": lambda: (Gpt(12, 768, 12, "explicit"), (ids(2, 1024),)),
    "gpt2_fused": lambda: (Gpt(12, 768, 12, "fused"), (ids(2, 1024),)),
    "bert_base": lambda: (Bert(), (ids(8, 128),)),
    "llama": llama_1b,
    "encoder": encoder,
    "unet": lambda: (UNet(), (torch.empty(2, 3, 256, 256),)),
    "dlrm": lambda: (Dlrm(), (torch.empty(256, 13), ids(256, 26))),
}

# Networks whose products formulas give, because flop_counter does not see recurrent kernels. FLOPs of one forward pass.
BY_FORMULA = {
    "lstm": (lambda: (Recurrent(nn.LSTM), (ids(8, 32),)),
             2 * 8 * 32 * (4 * 256 * (128 + 256) + 4 * 256 * (256 + 256) + 256 * 1000)),
    "gru": (lambda: (Recurrent(nn.GRU), (ids(8, 32),)),
            2 * 8 * 32 * (3 * 256 * (128 + 256) + 3 * 256 * (256 + 256) + 256 * 1000)),
    "loop": (lambda: (Loop(), (torch.empty(8, 20, 64),)), 2 * 8 * 20 * 3 * 128 * (64 + 128) + 2 * 8 * 128 * 10),
    "graph": (lambda: (GraphConvolution(), (torch.empty(2708, 128), edges(2708, 10556), edges(2708, 10556))),
              2 * 2708 * (128 * 256 + 256 * 40)),
}
