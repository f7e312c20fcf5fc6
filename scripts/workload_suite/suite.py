# SPDX-License-Identifier: Apache-2.0
"""The list of workloads: which network at which batch, and what surrounds its iterations.

Work (FLOP, bytes, launches) is derived from shapes by the other files. What surrounds it is assumed, and each file says so:
host time per launch, time of the loader, spread of lengths, how often a job evaluates, saves or stalls. The ranges come
from iterations recorded on an H200 (1 to 470 ms, launch-bound loops that vary by 2 to 3 %, a stalled loader) and from the
sizes of the data sets.
"""

from dataclasses import dataclass, field

from . import calibration, graphs, language, other, vision
from .ops import Tape


@dataclass
class Workload:
    name: str
    family: str  # one of FAMILIES
    about: str  # network, data and batch, for people
    tape: Tape
    optimizer: str = "adam"
    precision: str = "fp32"  # of the products: "fp32", "tf32" or "fp16"
    micro_batches: int = 1  # gradient accumulation
    host_us: float = 8.0  # host time per launch: eager PyTorch 8, inside a captured graph 0
    captured: bool = False  # the whole iteration is one CUDA graph
    kernel_floor_us: float = 0.0  # time of a kernel without work
    reached: dict = field(default_factory=dict)  # share of its peak that a kind of kernel reaches on an H200, where that was measured
    loader_ms: float = 0.0  # host time before each iteration that nothing hides
    jitter: float = 0.01  # relative standard deviation of one iteration's own length
    evaluate: tuple = ()  # (iterations between evaluations, forward batches of each)
    checkpoint: tuple = ()  # (iterations between checkpoints, seconds of each without the GPU)
    stall: tuple = ()  # (mean iterations between stalls, seconds of each)
    lengths: float = 0.0  # relative standard deviation of an iteration's work, batch by batch
    drift: tuple = ()  # (final relative change of the work, iterations until then)
    rounds: tuple = ()  # aperiodic jobs: (name, relative frequency, work against the first kind of round)
    source: str = ""  # the origin of the shapes, for the head of the file
    tags: tuple = ()
    notes: list = field(default_factory=list)


FAMILIES = ("vision", "language", "speech", "generative", "recommender", "graph", "solver", "small")


def _aibench():
    v, l, o = vision, language, other
    return [
        Workload("ai_image_classification", "vision", "ResNet-50 on ImageNet, batch 64", v.resnet(64), "sgd", "tf32",
                 checkpoint=(5000, 2.0)),
        Workload("ai_image_generation", "generative", "WGAN on LSUN bedrooms, batch 64, five critic steps",
                 v.dcgan(64, critic_steps=5), "rmsprop", "tf32"),
        Workload("ai_text_to_text", "language", "Transformer base on WMT English-German, 128 pairs of 32 tokens",
                 l.transformer(128), precision="tf32", lengths=0.18),
        Workload("ai_image_to_text", "vision", "show and tell on MSCOCO, frozen ResNet-101, batch 64", o.show_and_tell(),
                 precision="tf32", loader_ms=6.0, lengths=0.05),
        Workload("ai_image_to_image", "generative", "CycleGAN on horse2zebra, 256x256, batch 1", v.cyclegan(1),
                 precision="tf32", evaluate=(1334, 120)),
        Workload("ai_speech_to_text", "speech", "DeepSpeech2 on LibriSpeech, batch 16 of 8 s", l.deep_speech2(), "sgd", "tf32",
                 host_us=2.0, lengths=0.25, notes=["cuDNN issues a recurrent layer's steps itself: 2 us a launch"]),
        Workload("ai_face_embedding", "vision", "FaceNet on VGGFace2, 90 images of 160x160", v.resnet(90, 50, 160, 128), "adam",
                 "tf32", loader_ms=12.0),
        Workload("ai_face_3d", "vision", "3-D face recognition, RGB-D ResNet-50, batch 16", o.face_recognition_3d(), "sgd", "tf32",
                 loader_ms=25.0, stall=(400, 1.5)),
        Workload("ai_object_detection", "vision", "Faster R-CNN with FPN on VOC, 2 images of 800x924", v.faster_rcnn(2), "sgd",
                 "tf32", lengths=0.12, loader_ms=5.0),
        Workload("ai_recommendation", "recommender", "NCF on MovieLens-20M, batch 65536", o.ncf(), host_us=8.0,
                 evaluate=(1520, 40)),
        Workload("ai_video_prediction", "generative", "motion-focused prediction on robot pushing, 32 clips of 10 frames",
                 o.video_prediction(), precision="tf32"),
        Workload("ai_image_compression", "vision", "recurrent compression, 32 patches, 16 rounds", o.image_compression(),
                 precision="tf32"),
        Workload("ai_reconstruction_3d", "vision", "perspective transformer nets on ShapeNet, 6 objects of 24 views",
                 o.object_reconstruction(), precision="tf32", checkpoint=(1000, 3.0)),
        Workload("ai_text_summarization", "language", "attention encoder-decoder on Gigaword, batch 64",
                 l.attention_summarizer(), precision="tf32", host_us=6.0, lengths=0.15),
        Workload("ai_spatial_transformer", "small", "spatial transformer on MNIST, batch 64", o.spatial_transformer(), "sgd",
                 jitter=0.03, evaluate=(938, 157)),
        Workload("ai_learning_to_rank", "recommender", "ranking distillation on Gowalla, batch 512", o.rank_distillation(),
                 loader_ms=1.5, jitter=0.03),
    ]


def _graph_networks():
    out = []
    for model, data_name in graphs.PAIRS:
        tape, data, batch = graphs.graph_network(model, data_name)
        factor, reached = calibration.reached_by(model, graphs.graph_network)
        tape.multiply_launches(factor)
        large = f"batch {batch}" if data.batch > 1 else "the whole graph an iteration"
        out.append(Workload(
            f"gnn_{data_name}_{model}", "graph", f"{model} on {data_name}, {large}", tape, precision="fp32",
            host_us=calibration.HOST_US, kernel_floor_us=calibration.KERNEL_FLOOR_US, reached=reached,
            loader_ms=calibration.loader_ms(batch, batch * data.edges) if data.batch > 1 else 0.5, jitter=0.02,
            evaluate=(data.train_batches * data.batch // batch, data.eval_batches * data.batch // batch),
            lengths=data.spread / batch ** 0.5,
            notes=["launches, speeds of kernels, host and loader after networks that were measured on an H200 (workload_suite/calibration.py)"]))
    return out


def _modern():
    v, l, o = vision, language, other
    return [
        Workload("resnet50_b128", "vision", "ResNet-50 on ImageNet, mixed precision, batch 128", v.resnet(128, element=2, casts=True),
                 "sgd", "fp16", checkpoint=(5000, 2.0)),
        Workload("resnet18_stalled", "vision", "ResNet-18, batch 128, a loader that cannot keep up", v.resnet(128, 18), "sgd",
                 "tf32", loader_ms=35.0, jitter=0.05, stall=(150, 2.0)),
        Workload("vgg16", "vision", "VGG-16 on ImageNet, batch 64", v.vgg16(64), "sgd", "tf32"),
        Workload("mobilenet_v2", "vision", "MobileNetV2 on ImageNet, mixed precision, batch 128",
                 v.mobilenet_v2(128, element=2, casts=True), "sgd", "fp16", checkpoint=(4000, 1.5)),
        Workload("vit_b16", "vision", "ViT-B/16 on ImageNet, mixed precision, batch 64", v.vit_b16(64), precision="fp16"),
        Workload("dcgan", "generative", "DCGAN on CelebA, batch 128", v.dcgan(128), precision="tf32"),
        Workload("ddpm_cifar10", "generative", "denoising diffusion on CIFAR-10, batch 128", v.ddpm_unet(128), precision="tf32",
                 evaluate=(2000, 400), notes=["evaluation draws samples: forward passes only"]),
        Workload("diffusion_64", "generative", "diffusion U-Net at 64x64, mixed precision, batch 16, 4 micro-batches",
                 v.ddpm_unet(16, 64, 192, (1, 2, 3, 4), element=2, casts=True), precision="fp16", micro_batches=4),
        Workload("bert_base", "language", "BERT base pre-training, 64 sequences of 128, mixed precision", l.bert(64),
                 precision="fp16", checkpoint=(2000, 4.0)),
        Workload("bert_variable_length", "language", "BERT base fine-tuning, 32 sequences padded to the longest",
                 l.bert(32, 96), precision="fp16", lengths=0.35, evaluate=(1500, 150)),
        Workload("gpt2_accumulated", "language", "GPT-2 small, 4 sequences of 1024, 8 micro-batches", l.gpt2(4),
                 precision="fp16", micro_batches=8, checkpoint=(500, 5.0)),
        Workload("gpt2_long_step", "language", "GPT-2 small, 8 sequences of 1024, 60 micro-batches (0.5 M tokens a step)",
                 l.gpt2(8), precision="fp16", micro_batches=60, checkpoint=(100, 6.0)),
        Workload("llama_1b", "language", "1.1 B Llama shape, bfloat16, 1 sequence of 2048, 2 micro-batches", l.llama(1),
                 precision="fp16", micro_batches=2, evaluate=(500, 40)),
        Workload("gpt2_fine_tune_drift", "language", "GPT-2 small on a curriculum whose sequences grow",
                 l.gpt2(4, 768), precision="fp16", drift=(0.25, 6000)),
        Workload("lstm_wikitext", "language", "two-layer LSTM of 650 on WikiText-2, 20 x 35 tokens", l.lstm_language_model(),
                 "sgd", host_us=5.0, jitter=0.02, evaluate=(2900, 600)),
        Workload("dlrm", "recommender", "DLRM on Criteo, batch 2048", o.dlrm(), "sgd", jitter=0.03, loader_ms=0.4),
        Workload("deepfm", "recommender", "DeepFM on Criteo, batch 4096", o.deepfm(), jitter=0.02, loader_ms=0.3),
        Workload("mlp_tiny", "small", "perceptron on MNIST, batch 256", o.tiny_mlp(), jitter=0.05, host_us=25.0),
        Workload("mlp_cuda_graph", "small", "wide perceptron, the step captured in one CUDA graph",
                 o.tiny_mlp(4096, (784, 2048, 2048, 10)), captured=True, host_us=0.0, precision="tf32"),
        Workload("gcn_full_graph", "graph", "GCN on one graph of 400 000 nodes and 12 M edges",
                 _full_graph(400e3, 12e6, 256, 3), precision="tf32", host_us=8.0),
        Workload("ppo_atari", "small", "policy gradient on Atari: small network, the simulator of the game on the host",
                 _policy_network(256), loader_ms=4.0, jitter=0.08, stall=(40, 0.35)),
        Workload("tsvm", "solver", "ThunderSVM on MNIST: rounds of a shrinking problem", o.svm_round(), "sgd", jitter=0.2,
                 lengths=0.4, rounds=(("shrunk round", 0.6, 0.3), ("full round", 0.15, 4.0)), notes=["aperiodic: rounds differ too much to have a period"]),
        Workload("tgbm", "solver", "ThunderGBM, depth 6, 500 000 rows: trees of different shapes", o.boosting_round(), "sgd",
                 jitter=0.2, lengths=0.3, rounds=(("shallow tree", 0.7, 0.4), ("sorting", 0.1, 3.0)), notes=["aperiodic: rounds differ too much to have a period"]),
    ]


def _full_graph(nodes, edges, width, layers):
    tape = Tape()
    for _ in range(layers):
        graphs.LAYERS["gcn"](tape, nodes, edges, width)
    tape.cross_entropy(nodes, 40)
    return tape


def _policy_network(n):
    tape = Tape()
    for ci, co, k, h, stride in ((4, 32, 8, 20, 4), (32, 64, 4, 9, 2), (64, 64, 3, 7, 1)):
        out = tape.conv(n, ci, co, k, h, h, stride=stride, first=ci == 4)
        tape.relu(out)
    other.perceptron(tape, n, (3136, 512, 7))
    tape.pointwise(n * 7, launches=20)
    return tape


SOURCES = {
    "ai-bench": "After a component of AIBench Training; shapes from the papers named in scripts/workload_suite.",
    "benchmarking-gnns": "After benchmarking-gnns (Dwivedi et al. 2020): its data sets' sizes, its 100k-parameter configurations.",
    "modern": "Shapes from the papers named in scripts/workload_suite.",
}


def suite():
    workloads = []
    for tag, group in (("ai-bench", _aibench()), ("benchmarking-gnns", _graph_networks()), ("modern", _modern())):
        for workload in group:
            workload.source, workload.tags = SOURCES[tag], (tag,)
            workloads.append(workload)
    return workloads
