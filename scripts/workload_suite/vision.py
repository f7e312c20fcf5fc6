# SPDX-License-Identifier: Apache-2.0
"""Image networks from their published layer shapes.

ResNet: He et al. 2015, v1.5 (stride in the 3x3). VGG16: Simonyan and Zisserman 2014. MobileNetV2: Sandler et al. 2018.
ViT-B/16: Dosovitskiy et al. 2020. U-Net of diffusion models: Ho et al. 2020 (CIFAR-10 model). DCGAN and WGAN: Radford et
al. 2015, Arjovsky et al. 2017. CycleGAN: Zhu et al. 2017 (nine residual blocks, 70x70 PatchGAN). Faster R-CNN: Ren et al.
2015 with ResNet-50 FPN. FaceNet: Schroff et al. 2015, whose Inception-ResNet is represented by a ResNet-50 at 160x160.
make-workloads compares the numbers of parameters with the published ones.
"""

from .language import encoder_layer
from .ops import Tape


def _conv_bn(t, n, ci, co, k, h, w, relu=True, **kwargs):
    out = t.conv(n, ci, co, k, h, w, **kwargs)
    t.batch_norm(out, co)
    if relu:
        t.relu(out)
    return out


def resnet(n, depth=50, size=224, classes=1000, element=4, casts=False, channels=3, tape=None):
    t = tape or Tape(element, casts)
    h = size // 2
    stem = _conv_bn(t, n, channels, 64, 7, h, h, stride=2, first=True)
    h //= 2
    t.pool(stem, n * 64 * h * h)
    bottleneck = depth >= 50
    blocks = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3)}[depth]
    ci = 64
    for stage, count in enumerate(blocks):
        mid = 64 << stage
        co = mid * 4 if bottleneck else mid
        for block in range(count):
            stride = 2 if block == 0 and stage > 0 else 1
            before, h = h, h // stride
            if bottleneck:
                _conv_bn(t, n, ci, mid, 1, before, before)
                _conv_bn(t, n, mid, mid, 3, h, h, stride=stride)
                out = _conv_bn(t, n, mid, co, 1, h, h, relu=False)
            else:
                _conv_bn(t, n, ci, mid, 3, h, h, stride=stride)
                out = _conv_bn(t, n, mid, co, 3, h, h, relu=False)
            if ci != co or stride != 1:
                _conv_bn(t, n, ci, co, 1, h, h, relu=False, stride=stride)
            t.add(out)
            t.relu(out)
            ci = co
    t.pool(n * ci * h * h, n * ci)
    if classes:
        t.matmul(n, ci, classes, bias=True)
        t.cross_entropy(n, classes)
    return t


def vgg16(n, size=224, classes=1000, head=True, tape=None, element=4):
    t = tape or Tape(element)
    h, ci = size, 3
    for stage in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(stage[1]):
            out = t.conv(n, ci, stage[0], 3, h, h, first=ci == 3)
            t.weights(stage[0])
            t.relu(out)
            ci = stage[0]
        t.pool(out, out / 4)
        h //= 2
    if head:
        for k, width in ((ci * h * h, 4096), (4096, 4096), (4096, classes)):
            t.matmul(n, k, width, bias=True)
            t.relu(n * width)
            t.dropout(n * width)
        t.cross_entropy(n, classes)
    return t


def mobilenet_v2(n, size=224, classes=1000, element=4, casts=False):
    t = Tape(element, casts)
    h = size // 2
    _conv_bn(t, n, 3, 32, 3, h, h, stride=2, first=True)
    ci = 32
    for expand, co, count, first_stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                            (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(count):
            stride = first_stride if block == 0 else 1
            wide = ci * expand
            if expand > 1:
                _conv_bn(t, n, ci, wide, 1, h, h)
            h //= stride
            _conv_bn(t, n, wide, wide, 3, h, h, groups=wide, stride=stride)
            out = _conv_bn(t, n, wide, co, 1, h, h, relu=False)
            if stride == 1 and ci == co:
                t.add(out)
            ci = co
    _conv_bn(t, n, ci, 1280, 1, h, h)
    t.matmul(n, 1280, classes, bias=True)
    t.cross_entropy(n, classes)
    return t


def vit_b16(n, element=2):
    t = Tape(element, casts=True)
    length, d = 197, 768
    t.conv(n, 3, d, 16, 14, 14, stride=16, first=True)
    t.weights(d * 198)
    for _ in range(12):
        encoder_layer(t, n, length, d, 12, 4 * d)
    t.layer_norm(n * length * d, d)
    t.matmul(n, d, 1000, bias=True)
    t.cross_entropy(n, 1000)
    return t


def ddpm_unet(n, size=32, base=128, multiples=(1, 2, 2, 2), element=4, casts=False):
    """Two residual blocks per level, self-attention at 16x16 and in the middle."""
    t = Tape(element, casts)

    def block(ci, co, h):
        for a, b in ((ci, co), (co, co)):
            e = n * a * h * h
            t.layer_norm(e, a)  # group norm
            t.pointwise(e, reads=1, flops=4)  # swish
            t.conv(n, a, b, 3, h, h)
        t.matmul(n, 4 * base, co, bias=True)
        if ci != co:
            t.conv(n, ci, co, 1, h, h)
        t.add(n * co * h * h)

    def self_attention(c, h):
        t.layer_norm(n * c * h * h, c)
        for _ in range(4):
            t.matmul(n * h * h, c, c, bias=True)
        t.attention(n, 1, h * h, c, fused=False)

    h, c = size, base
    t.conv(n, 3, base, 3, h, h, first=True)
    skips = [base]
    for level, m in enumerate(multiples):
        for _ in range(2):
            block(c, base * m, h)
            c = base * m
            skips.append(c)
            if h == 16:
                self_attention(c, h)
        if level + 1 < len(multiples):
            h //= 2
            t.conv(n, c, c, 3, h, h, stride=2)
            skips.append(c)
    block(c, c, h)
    self_attention(c, h)
    block(c, c, h)
    for level, m in reversed(list(enumerate(multiples))):
        for _ in range(3):
            block(c + skips.pop(), base * m, h)
            c = base * m
            if h == 16:
                self_attention(c, h)
        if level:
            h *= 2
            t.conv(n, c, c, 3, h, h)
    t.conv(n, c, 3, 3, h, h)
    t.pointwise(n * 3 * h * h, launches=4)
    return t


def dcgan(n, critic_steps=1, width=64, element=4):
    """64x64 images; the critic is updated `critic_steps` times for each update of the generator (five times in WGAN)."""
    t = Tape(element)

    def critic():
        ci, h = 3, 32
        for stage in range(4):
            co = width << stage
            _conv_bn(t, n, ci, co, 4, h, h, stride=2, first=stage == 0)
            ci, h = co, h // 2
        t.conv(n, ci, 1, 4, 1, 1)

    def generator():
        ci, h = 100, 4
        for stage in (3, 2, 1, 0):
            _conv_bn(t, n, ci, width << stage, 4, h, h)
            ci, h = width << stage, h * 2
        t.conv(n, ci, 3, 4, h, h)

    generator()
    critic()
    with t.again():
        for _ in range(critic_steps):  # on generated and on real images
            generator()
            critic()
            critic()
    return t


def cyclegan(n, size=256, element=4):
    t = Tape(element)

    def generator():
        _conv_bn(t, n, 3, 64, 7, size, size)
        _conv_bn(t, n, 64, 128, 3, size // 2, size // 2, stride=2)
        _conv_bn(t, n, 128, 256, 3, size // 4, size // 4, stride=2)
        for _ in range(9):
            _conv_bn(t, n, 256, 256, 3, size // 4, size // 4)
            out = _conv_bn(t, n, 256, 256, 3, size // 4, size // 4, relu=False)
            t.add(out)
        _conv_bn(t, n, 256, 128, 3, size // 2, size // 2)
        _conv_bn(t, n, 128, 64, 3, size, size)
        t.conv(n, 64, 3, 7, size, size)

    def patch_critic():
        h, ci = size, 3
        for co, stride in ((64, 2), (128, 2), (256, 2), (512, 1), (1, 1)):
            h //= stride
            _conv_bn(t, n, ci, co, 4, h, h, stride=stride)
            ci = co

    for _ in range(2):
        generator()
        patch_critic()
    with t.again():
        for _ in range(4):  # each generator also translates back and maps its own domain to itself;
            generator()
            patch_critic()  # each critic also judges real and generated images for its own update
    return t


def faster_rcnn(n, size=800, element=4):
    """ResNet-50 FPN at 800x1066 (the usual short side), 1000 proposals, 512 sampled boxes per image."""
    t = resnet(n, 50, int(size * 1.155), classes=None, element=element)
    for level, c in enumerate((256, 512, 1024, 2048)):
        h = int(size * 1.155) >> (level + 2)
        t.conv(n, c, 256, 1, h, h)
        t.conv(n, 256, 256, 3, h, h)
        t.conv(n, 256, 256, 3, h, h)  # proposal head
        t.conv(n, 256, 15, 1, h, h)
    t.op("gather", 0, 512 * n * 256 * 49 * 8, 12, (0, 512 * n * 256 * 49 * 8, 12))  # box pooling
    t.op("stream", 0, 4e5 * n, 150)  # sorting, suppression and matching, all tiny kernels
    t.matmul(512 * n, 256 * 49, 1024, bias=True)
    t.matmul(512 * n, 1024, 1024, bias=True)
    t.matmul(512 * n, 1024, 105, bias=True, kind="small")
    t.cross_entropy(512 * n, 21)
    return t
