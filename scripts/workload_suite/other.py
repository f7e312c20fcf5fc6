# SPDX-License-Identifier: Apache-2.0
"""Recommenders, small networks, sequence-of-image models and solvers, from their published shapes.

NCF: He et al. 2017 (NeuMF, 8 factors, perceptron 64-32-16-8). DLRM: Naumov et al. 2019 (26 tables of 64, perceptrons 512-256-64
and 512-256-1). DeepFM: Guo et al. 2017 (39 fields of 10, 400-400-400). Ranking distillation: Tang and Wang 2018 (Caser-like
student). Show and tell: Vinyals et al. 2015. Spatial transformer: Jaderberg et al. 2015 on MNIST. Motion-focused video
prediction: Finn et al. 2016 (ten frames of 64x64, seven convolutional LSTMs). Full-resolution image compression: Toderici
et al. 2017 (32x32 patches, 16 rounds of recurrent convolutions). Perspective transformer nets: Yan et al. 2016 (32^3 voxels).
Solvers: ThunderSVM and ThunderGBM (Wen et al. 2018, 2020), whose kernels change in size with the state of the solution.
"""

from .ops import Tape
from .vision import resnet
from .language import recurrent


def perceptron(t, n, widths):
    for k, width in zip(widths, widths[1:]):
        t.matmul(n, k, width, bias=True)
        t.relu(n * width)


def ncf(n=65536, users=138493, items=26744):
    t = Tape()
    for rows, width in ((users, 8), (items, 8), (users, 32), (items, 32)):
        t.embedding(n, width, rows)
    t.pointwise(n * 8)
    perceptron(t, n, (64, 32, 16, 8))
    t.matmul(n, 16, 1, bias=True, kind="small")
    t.pointwise(n, launches=4)
    return t


def dlrm(n=2048, tables=26, width=64, rows=200000):
    t = Tape()
    for _ in range(tables):
        t.embedding(n, width, rows, dense_gradient=False)
    perceptron(t, n, (13, 512, 256, 64))
    t.matmul(tables + 1, width, tables + 1, weight=False, batch=n, kind="small")
    t.pointwise(n * 27 * 27, launches=3)
    perceptron(t, n, (415, 512, 256, 1))
    t.pointwise(n, launches=3)
    t.parameters -= tables * width * rows  # sparse updates touch only the rows in use
    t.parameters += n * tables * width
    return t


def deepfm(n=4096, fields=39, width=10, rows=1000000):
    t = Tape()
    t.embedding(n * fields, width + 1, rows)
    t.pointwise(n * fields * width, launches=5)
    perceptron(t, n, (fields * width, 400, 400, 400, 1))
    t.pointwise(n, launches=3)
    return t


def rank_distillation(n=512, history=5, width=100, items=69000):
    t = Tape()
    t.embedding(n * history, width, items)
    for k in range(1, history + 1):
        t.conv(n, 1, 16, k, history - k + 1, 1, kw=width)
        t.relu(n * 16 * (history - k + 1))
    t.matmul(n, 16 * history + 4 * width, width, bias=True)
    t.embedding(n * 13, 2 * width, items)
    t.matmul(1, 2 * width, 13, weight=False, batch=n, kind="small")
    t.pointwise(n * 13, launches=12)
    return t


def tiny_mlp(n=256, widths=(784, 512, 256, 10)):
    t = Tape()
    perceptron(t, n, widths)
    t.cross_entropy(n, widths[-1])
    return t


def show_and_tell(n=64, words=20, hidden=512, vocabulary=9957):
    t = resnet(n, 101, 224, classes=None)
    t.freeze()
    t.matmul(n, 2048, 256, bias=True)
    t.embedding(n * words, 256, vocabulary)
    recurrent(t, n, words, 256, hidden)
    t.matmul(n * words, hidden, vocabulary, bias=True)
    t.cross_entropy(n * words, vocabulary)
    return t


def spatial_transformer(n=64):
    t = Tape()
    for ci, co, k, h in ((1, 8, 7, 22), (8, 10, 5, 7), (1, 10, 5, 24), (10, 20, 5, 8)):
        out = t.conv(n, ci, co, k, h, h, first=ci == 1)
        t.weights(co)
        t.pool(out, out / 4)
        t.relu(out / 4)
    perceptron(t, n, (90, 32, 6))
    t.op("gather", 0, 8 * n * 784, 2, (0, 8 * n * 784, 2))  # grid and bilinear sampling
    perceptron(t, n, (320, 50, 10))
    t.cross_entropy(n, 10)
    return t


def video_prediction(n=32, frames=9):
    t = Tape()

    def frame():
        for ci, co, h in ((32, 32, 32), (32, 32, 32), (32, 64, 16), (64, 64, 16), (64, 128, 8), (128, 64, 16), (64, 32, 32)):
            out = t.conv(n, ci + co, 4 * co, 5, h, h)
            t.pointwise(out / 4, reads=5, launches=9, flops=10)
            t.layer_norm(out / 4, co)
        t.conv(n, 3, 32, 5, 32, 32, stride=2)
        t.conv(n, 32, 10, 1, 64, 64)
        t.pointwise(n * 10 * 3 * 64 * 64, launches=14)  # copies that are moved and masked

    frame()
    with t.again():
        for _ in range(frames - 1):
            frame()
    return t


def image_compression(n=32, rounds=16):
    t = Tape()

    def compress():
        for ci, co, h in ((64, 256, 8), (256, 512, 4), (512, 512, 2), (128, 512, 2), (128, 512, 4), (128, 256, 8),
                          (64, 128, 16)):
            t.conv(n, ci, 4 * co, 3, h, h)
            t.conv(n, co, 4 * co, 1, h, h)
            t.pointwise(n * co * h * h, reads=5, launches=8, flops=10)
        t.pointwise(n * 3 * 32 * 32, launches=6)

    compress()
    with t.again():
        for _ in range(rounds - 1):
            compress()
    return t


def object_reconstruction(n=6, views=24, size=64):
    t = Tape()
    images = n * views
    for ci, co, h in ((3, 64, 32), (64, 128, 16), (128, 256, 8)):
        out = t.conv(images, ci, co, 5, h, h, stride=2, first=ci == 3)
        t.relu(out)
    perceptron(t, images, (256 * 64, 512, 512, 512 * 27))
    for ci, co, h in ((512, 256, 6), (256, 96, 15), (96, 1, 32)):
        out = t.conv(images, ci, co, 5, h, h * h, depth=5)
        t.relu(out)
    t.op("gather", 0, 8 * images * 32 ** 3, 6, (0, 8 * images * 32 ** 3, 6))  # projection along rays
    t.pointwise(images * 32 * 32, launches=6)
    return t


def face_recognition_3d(n=16):
    """ResNet-50 on four channels, colour and depth."""
    return resnet(n, 50, 224, classes=509, channels=4)


def svm_round(rows=60000, features=780, working_set=1024):
    """One outer round of ThunderSVM: kernel rows of the working set, then a local solve of many tiny kernels."""
    t = Tape()
    t.op("matrix", 2.0 * working_set / 2 * rows * features, rows * features + working_set / 2 * rows, 2)
    t.op("stream", rows * 4, 6 * rows, 12)
    t.op("stream", working_set * 400, working_set * 40, 8)
    t.op("gather", 0, working_set / 2 * rows, 2)
    return t


def boosting_round(rows=500000, features=200, depth=6, bins=256):
    """One tree of ThunderGBM: histograms of every feature at every level by atomic sums."""
    t = Tape()
    for _ in range(depth):
        t.op("gather", rows * features / 8, rows * features / 4 + 2 * rows * features / 8, 4)
        t.op("stream", features * bins * 64, features * bins * 128, 22)
    t.op("stream", 10 * rows, 8 * rows, 8)
    return t
