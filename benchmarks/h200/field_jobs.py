# SPDX-License-Identifier: Apache-2.0
"""Jobs as people write them, one function each: field_jobs.py NAME FOLDER. They train on random data, do not know of hypermile, and keep
books of their steps (field_books.py). `field_jobs.py --list` names them. FIELD_DEVICE=cpu tries a job without a GPU."""
import os
import random
import sys

DEVICE = os.environ.get("FIELD_DEVICE", "cuda")
SMALL = DEVICE == "cpu"  # tiny shapes, to try the scripts


def torch_books(folder, watcher=None, **more):
    import torch

    if SMALL:
        from field_books import Books

        books = Books(folder, watcher, lambda: books.mark(), None, **more)
        return books
    from field_books import Books

    return Books(folder, watcher, torch.cuda.synchronize, lambda: torch.cuda.Event(enable_timing=True), **more)


def start(folder, **more):
    return torch_books(folder, os.getppid(), **more)


def autocast():
    import torch

    return torch.autocast(DEVICE, torch.bfloat16)


def optimizer_step(optimizer, loss):
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def pick(large, small):
    return small if SMALL else large


# Models


def convolutions(width=64, blocks=4, classes=1000):
    from torch import nn

    layers, inside = [], 3
    for number in range(blocks):
        outside = width << min(number, 3)
        for stride in (2, 1):
            layers += [nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU()]
            inside = outside
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, classes))


def transformer(layers=6, width=512, heads=8, words=8192):
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(words, width)
            layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
            self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
            self.head = nn.Linear(width, words)

        def forward(self, x):
            return self.head(self.body(self.embed(x)))

    return Model()


def language_loss(model, x):
    from torch.nn import functional as F

    return F.cross_entropy(model(x).flatten(0, 1).float(), x.flatten())


class RandomData:
    """A data set of `count` items, each a dictionary made by `item`."""

    def __init__(self, count, item):
        self.items = [item(i) for i in range(min(count, 256))]
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.items[index % len(self.items)]


# Hugging Face Trainer


def hf_train(folder, model, data, **arguments):
    import transformers

    books = start(folder)
    books.micro_batches = arguments.get("gradient_accumulation_steps", 1)

    class Count(transformers.TrainerCallback):
        going = True

        def on_step_begin(self, args, state, control, **kwargs):
            self.going = self.going and books.more()

        def on_step_end(self, args, state, control, **kwargs):
            books.ended()
            control.should_training_stop = not self.going

    device = {"use_cpu": True} if SMALL and hasattr(transformers.TrainingArguments, "use_cpu") else {"no_cuda": True} if SMALL else {"bf16": True}
    settings = transformers.TrainingArguments(output_dir=os.path.join(folder, "out"), max_steps=100000, save_strategy="no", report_to=[],
                                              logging_steps=20, disable_tqdm=True, **device, **arguments)
    trainer = transformers.Trainer(model=model, args=settings, train_dataset=data, eval_dataset=RandomData(pick(160, 16), data.__getitem__),
                                   callbacks=[Count()])
    trainer.train()
    books.close()


def words(count, length, label=None):
    import torch

    generator = torch.Generator().manual_seed(1)

    def item(_):
        x = torch.randint(8000, (length,), generator=generator)
        return {"input_ids": x, "labels": x if label is None else int(x[0]) % label}

    return RandomData(count, item)


def hf_bert_classify(folder):
    """HF Trainer: BERT-base classifies, with an evaluation every 40 steps."""
    import transformers

    config = transformers.BertConfig(num_hidden_layers=pick(12, 2), num_labels=5)
    name = "eval_strategy" if "eval_strategy" in transformers.TrainingArguments.__dataclass_fields__ else "evaluation_strategy"
    hf_train(folder, transformers.BertForSequenceClassification(config), words(100000, pick(128, 16), 5),
             per_device_train_batch_size=pick(32, 4), per_device_eval_batch_size=pick(32, 4), eval_steps=40, **{name: "steps"})


def hf_gpt2_accumulated(folder):
    """HF Trainer: GPT-2 with four micro-batches a step."""
    import transformers

    config = transformers.GPT2Config(n_layer=pick(12, 2), vocab_size=8192)
    hf_train(folder, transformers.GPT2LMHeadModel(config), words(100000, pick(256, 16)), per_device_train_batch_size=pick(8, 2),
             gradient_accumulation_steps=4)


# Lightning


def lightning_train(folder, module, loader, validation=None, micro_batches=1, **arguments):
    import lightning

    books = start(folder)
    books.micro_batches, books.unit = micro_batches, "batch"

    class Count(lightning.Callback):
        def on_train_batch_start(self, trainer, *_):
            if not books.more():
                trainer.should_stop = True
                return -1

        def on_train_batch_end(self, *_):
            books.ended()

    trainer = lightning.Trainer(max_epochs=-1, accelerator=pick("gpu", "cpu"), devices=1, logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
                                accumulate_grad_batches=micro_batches, callbacks=[Count()], default_root_dir=folder, **arguments)
    trainer.fit(module, loader, validation)
    books.close()


def lightning_module(network, loss):
    import lightning
    import torch

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.network = network

        def training_step(self, batch, _):
            return loss(self.network, batch)

        def validation_step(self, batch, _):
            self.log("loss", loss(self.network, batch))

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-4)

    return Module()


def lightning_short_epochs(folder):
    """Lightning: a convolution net with epochs of 32 batches, each followed by 8 of validation."""
    import torch
    from torch.nn import functional as F

    data = RandomData(32 * 64, lambda i: (torch.randn(3, pick(96, 16), pick(96, 16)), i % 1000))
    loader = torch.utils.data.DataLoader(data, batch_size=pick(64, 4))
    module = lightning_module(convolutions(), lambda model, batch: F.cross_entropy(model(batch[0]), batch[1]))
    lightning_train(folder, module, loader, loader, limit_train_batches=32, limit_val_batches=8, precision=pick("bf16-mixed", 32))


def lightning_accumulated(folder):
    """Lightning: a transformer with four batches a step of its optimizer."""
    import torch

    data = RandomData(400000, lambda _: torch.randint(8192, (pick(256, 16),)))
    loader = torch.utils.data.DataLoader(data, batch_size=pick(16, 2))
    lightning_train(folder, lightning_module(transformer(), language_loss), loader, micro_batches=4, precision=pick("bf16-mixed", 32))


# accelerate


def accelerate_vit(folder):
    """accelerate: a vision transformer, with a learning rate's schedule."""
    import accelerate
    import torch
    import transformers

    books = start(folder)
    accelerator = accelerate.Accelerator(mixed_precision=pick("bf16", "no"), cpu=SMALL)
    model = transformers.ViTForImageClassification(transformers.ViTConfig(num_hidden_layers=pick(12, 2), num_labels=100))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = RandomData(100000, lambda i: {"pixel_values": torch.randn(3, 224, 224), "labels": i % 100})
    loader = torch.utils.data.DataLoader(data, batch_size=pick(32, 2))
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 100)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    for batch in loader:
        if not books.more():
            break
        loss = model(**batch).loss
        accelerator.backward(loss)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    books.close()


# JAX


def jax_train(folder, step, state, at_once):
    """step(state) dispatches one step; the host waits for the GPU after `at_once` of them."""
    import jax
    from field_books import Books

    box = [state]

    def wait():
        jax.block_until_ready(box[0])
        books.mark()

    books = Books(folder, os.getppid(), wait, None, warm=at_once * 2)
    while books.more():
        box[0] = step(box[0])
        if len(books.hosts) % at_once == 0:
            wait()
    books.close()


def jax_sgd(loss, parameters, steps=1):
    import jax

    def update(parameters, _=None):
        slopes = jax.grad(loss)(parameters)
        return jax.tree_util.tree_map(lambda p, g: p - 1e-4 * g, parameters, slopes), None

    if steps == 1:
        return jax.jit(lambda p: update(p)[0])
    return jax.jit(lambda p: jax.lax.scan(update, p, None, length=steps)[0])


def jax_transformer(folder):
    """JAX: a jitted transformer; the host dispatches ten steps and waits."""
    import jax
    import jax.numpy as jnp

    width, heads, length, batch = 512, 8, pick(256, 16), pick(16, 2)
    keys = iter(jax.random.split(jax.random.PRNGKey(0), 100))
    make = lambda *shape: 0.02 * jax.random.normal(next(keys), shape, jnp.bfloat16)
    parameters = [{"qkv": make(width, 3 * width), "out": make(width, width), "up": make(width, 4 * width), "down": make(4 * width, width)}
                  for _ in range(pick(6, 1))]
    x = jax.random.normal(next(keys), (batch, length, width), jnp.bfloat16)

    def loss(parameters):
        y = x
        for p in parameters:
            q, k, v = jnp.split((y @ p["qkv"]).reshape(batch, length, heads, -1), 3, axis=-1)
            a = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k))
            y = y + jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(batch, length, width) @ p["out"]
            y = y + jax.nn.gelu(y @ p["up"]) @ p["down"]
        return jnp.mean((y - x).astype(jnp.float32) ** 2)

    jax_train(folder, jax_sgd(loss, parameters), parameters, 10)


def jax_convolutions(folder):
    """JAX: a small convolution net; the host waits every step."""
    import jax
    import jax.numpy as jnp

    key = jax.random.PRNGKey(0)
    parameters = [0.05 * jax.random.normal(key, (3, 3, i, o)) for i, o in ((3, 32), (32, 64), (64, 64), (64, 128))]
    x = jax.random.normal(key, (pick(256, 4), 32, 32, 3))

    def loss(parameters):
        y = x
        for p in parameters:
            y = jax.nn.relu(jax.lax.conv_general_dilated(y, p, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return jnp.mean(y**2)

    jax_train(folder, jax_sgd(loss, parameters), parameters, 1)


def jax_scan(folder):
    """JAX: sixteen steps of a perceptron inside one jitted scan."""
    import jax
    import jax.numpy as jnp

    key = jax.random.PRNGKey(0)
    size = pick(2048, 64)
    parameters = [0.02 * jax.random.normal(key, (size, size)) for _ in range(6)]
    x = jax.random.normal(key, (size, size))

    def loss(parameters):
        y = x
        for p in parameters:
            y = jnp.tanh(y @ p)
        return jnp.mean(y**2)

    jax_train(folder, jax_sgd(loss, parameters, 16), parameters, 2)


# PyTorch Geometric


def pyg_gcn(folder):
    """PyTorch Geometric: a GCN on one whole graph."""
    import torch
    import torch_geometric.nn as graph_nn
    from torch.nn import functional as F

    nodes = pick(100000, 500)
    x, edges = torch.randn(nodes, 128, device=DEVICE), torch.randint(nodes, (2, 8 * nodes), device=DEVICE)
    y = torch.randint(40, (nodes,), device=DEVICE)
    model = graph_nn.GCN(128, 256, 3, 40).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    books = start(folder)
    while books.more():
        loss = F.cross_entropy(model(x, edges), y)
        optimizer_step(optimizer, loss)
        loss.item()
    books.close()


def pyg_gin_batches(folder):
    """PyTorch Geometric: GIN on batches of small graphs, every one of another size."""
    import torch
    import torch_geometric.nn as graph_nn
    from torch.nn import functional as F
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader

    def graph():
        nodes = random.randint(10, 40)
        return Data(x=torch.randn(nodes, 64), edge_index=torch.randint(nodes, (2, 3 * nodes)), y=torch.randint(10, (1,)))

    loader = DataLoader([graph() for _ in range(pick(2000, 40))], batch_size=pick(128, 4), shuffle=True)
    model = graph_nn.GIN(64, 128, 4, 10).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    books = start(folder)
    going = True
    while going:
        for batch in loader:
            going = going and books.more()
            if not going:
                break
            batch = batch.to(DEVICE)
            out = graph_nn.global_mean_pool(model(batch.x, batch.edge_index), batch.batch)
            optimizer_step(optimizer, F.cross_entropy(out, batch.y))
    books.close()


# Plain PyTorch


def loop(folder, step, sync_every=20, warm=6):
    import torch

    books = start(folder, warm=warm)
    while books.more():
        step(len(books.hosts))
        if len(books.hosts) % sync_every == 0 and not SMALL:
            torch.cuda.synchronize()  # as a loop that prints its loss does
    books.close()


def image_step(model, batch, size):
    import torch
    from torch.nn import functional as F

    model = model.to(DEVICE, memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    x = torch.randn(batch, 3, size, size, device=DEVICE).to(memory_format=torch.channels_last)
    y = torch.randint(1000, (batch,), device=DEVICE)

    def step(_=0):
        with autocast():
            loss = F.cross_entropy(model(x), y)
        optimizer_step(optimizer, loss)

    return step, model


def eager_convolutions(folder):
    """PyTorch, eager: convolutions in bfloat16."""
    loop(folder, image_step(convolutions(), pick(256, 2), pick(128, 16))[0])


def compiled_convolutions(folder):
    """torch.compile, default mode: convolutions."""
    import torch

    loop(folder, image_step(torch.compile(convolutions()), pick(256, 2), pick(128, 16))[0])


def compiled_graphs(folder):
    """torch.compile, reduce-overhead: a transformer whose passes are CUDA graphs."""
    import torch

    model = torch.compile(transformer(layers=pick(4, 1)).to(DEVICE), mode=pick("reduce-overhead", "default"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    x = torch.randint(8192, (pick(8, 1), pick(256, 8)), device=DEVICE)

    def step(_):
        torch.compiler.cudagraph_mark_step_begin()
        with autocast():
            loss = language_loss(model, x)
        optimizer_step(optimizer, loss)

    loop(folder, step, warm=10)


def cuda_graph(folder):
    """A whole training step captured as one CUDA graph."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    width = 2048
    model = nn.Sequential(*(part for _ in range(6) for part in (nn.Linear(width, width), nn.ReLU())), nn.Linear(width, 10)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, capturable=True)
    x, y = torch.randn(4096, width, device=DEVICE), torch.randint(10, (4096,), device=DEVICE)

    def once():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            once()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        once()
    loop(folder, lambda _: graph.replay())


def llama_long_step(folder):
    """A Llama of 0.7 billion parameters with steps of a third of a second."""
    import torch
    import transformers

    config = transformers.LlamaConfig(hidden_size=pick(2048, 64), intermediate_size=pick(5632, 64), num_hidden_layers=pick(12, 1),
                                      num_attention_heads=pick(16, 2), num_key_value_heads=pick(16, 2), vocab_size=16384)
    model = transformers.LlamaForCausalLM(config).to(DEVICE, torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    x = torch.randint(16384, (pick(8, 1), pick(2048, 8)), device=DEVICE)
    loop(folder, lambda _: optimizer_step(optimizer, model(input_ids=x, labels=x).loss), sync_every=1)


def diffusion_unet(folder):
    """Diffusion: a U-Net learns noise, with an exponential moving average of its weights."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class UNet(nn.Module):
        def __init__(self, width=128):
            super().__init__()
            block = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, 1, 1), nn.GroupNorm(8, o), nn.SiLU(), nn.Conv2d(o, o, 3, 1, 1), nn.SiLU())
            self.down = nn.ModuleList((block(3, width), block(width, 2 * width), block(2 * width, 2 * width)))
            self.up = nn.ModuleList((block(4 * width, 2 * width), block(3 * width, width)))
            self.out = nn.Conv2d(width, 3, 1)

        def forward(self, x):
            a = self.down[0](x)
            b = self.down[1](F.avg_pool2d(a, 2))
            c = self.down[2](F.avg_pool2d(b, 2))
            y = self.up[0](torch.cat((F.interpolate(c, scale_factor=2), b), 1))
            return self.out(self.up[1](torch.cat((F.interpolate(y, scale_factor=2), a), 1)))

    model, average = UNet(pick(128, 8)).to(DEVICE), UNet(pick(128, 8)).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    x = torch.randn(pick(64, 2), 3, 32, 32, device=DEVICE)

    def step(_):
        noise, level = torch.randn_like(x), torch.rand(len(x), 1, 1, 1, device=DEVICE)
        with autocast():
            loss = F.mse_loss(model(level * x + (1 - level) * noise), noise)
        optimizer_step(optimizer, loss)
        with torch.no_grad():
            for mean, now in zip(average.parameters(), model.parameters()):
                mean.lerp_(now, 0.001)

    loop(folder, step)


def speech_wav2vec2(folder):
    """Speech: Wav2Vec2 with CTC on clips of four lengths."""
    import torch
    import transformers

    config = transformers.Wav2Vec2Config(num_hidden_layers=pick(8, 1), vocab_size=32, mask_time_prob=0.0, layerdrop=0.0,
                                         ctc_zero_infinity=True)
    model = transformers.Wav2Vec2ForCTC(config).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    clips = [torch.randn(pick(8, 1), 16000 * seconds, device=DEVICE) for seconds in pick((3, 4, 5, 6), (1,))]
    labels = torch.randint(1, 32, (pick(8, 1), 20), device=DEVICE)

    def step(_):
        with autocast():
            loss = model(input_values=random.choice(clips), labels=labels).loss
        optimizer_step(optimizer, loss)

    loop(folder, step)


def speech_lstm_ctc(folder):
    """Speech: convolutions, a cuDNN LSTM in both directions and CTC."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    front = nn.Sequential(nn.Conv1d(80, 256, 5, 2, 2), nn.ReLU()).to(DEVICE)
    middle = nn.LSTM(256, pick(384, 16), 3, batch_first=True, bidirectional=True).to(DEVICE)
    head = nn.Linear(2 * pick(384, 16), 32).to(DEVICE)
    optimizer = torch.optim.Adam([*front.parameters(), *middle.parameters(), *head.parameters()], lr=1e-4)
    batch, length = pick(32, 2), pick(600, 60)
    x, labels = torch.randn(batch, 80, length, device=DEVICE), torch.randint(1, 32, (batch, 25), device=DEVICE)
    long, short = torch.full((batch,), length // 2), torch.full((batch,), 25)

    def step(_):
        out = head(middle(front(x).transpose(1, 2))[0]).log_softmax(-1).transpose(0, 1)
        optimizer_step(optimizer, F.ctc_loss(out, labels, long, short, zero_infinity=True))

    loop(folder, step)


def recommender_dlrm(folder):
    """Recommender: embedding bags, two perceptrons and their products (DLRM)."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    tables = nn.ModuleList(nn.EmbeddingBag(pick(200000, 100), 64, mode="sum") for _ in range(26)).to(DEVICE)
    bottom = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, 64)).to(DEVICE)
    top = nn.Sequential(nn.Linear(64 + 351, 512), nn.ReLU(), nn.Linear(512, 1)).to(DEVICE)
    optimizer = torch.optim.SGD([*tables.parameters(), *bottom.parameters(), *top.parameters()], lr=1e-2)
    batch = pick(8192, 8)
    dense, clicked = torch.randn(batch, 13, device=DEVICE), torch.rand(batch, 1, device=DEVICE)
    sparse = torch.randint(pick(200000, 100), (26, batch, 4), device=DEVICE)
    above = torch.triu_indices(27, 27, 1, device=DEVICE)

    def step(_):
        x = bottom(dense)
        all_of = torch.stack([x, *(table(ids) for table, ids in zip(tables, sparse))], 1)
        products = (all_of @ all_of.transpose(1, 2))[:, above[0], above[1]]
        optimizer_step(optimizer, F.binary_cross_entropy_with_logits(top(torch.cat((x, products), 1)), clicked))

    loop(folder, step)


def mixed_lengths_lstm(folder):
    """Mixed shapes: an LSTM with automatic mixed precision, its scaler, and three sequence lengths at random."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    embed, body = nn.Embedding(8192, 256).to(DEVICE), nn.LSTM(256, 512, 2, batch_first=True).to(DEVICE)
    head = nn.Linear(512, 8192).to(DEVICE)
    optimizer = torch.optim.Adam([*embed.parameters(), *body.parameters(), *head.parameters()], lr=1e-4)
    scaler = torch.cuda.amp.GradScaler(enabled=not SMALL)

    def step(_):
        x = torch.randint(8192, (32, random.choice(pick((64, 128, 192), (4, 8)))), device=DEVICE)
        with torch.autocast(DEVICE, pick(torch.float16, torch.bfloat16)):
            loss = F.cross_entropy(head(body(embed(x))[0]).flatten(0, 1), x.flatten())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

    loop(folder, step)


def mixed_lengths_transformer(folder):
    """Mixed shapes: a transformer on batches of any length between 64 and 384."""
    import torch

    model = transformer(layers=pick(8, 1), width=768, heads=12).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step(_):
        x = torch.randint(8192, (pick(16, 1), random.randint(*pick((64, 384), (4, 8)))), device=DEVICE)
        with autocast():
            loss = language_loss(model, x)
        optimizer_step(optimizer, loss)

    loop(folder, step)


def lstm_cells(folder):
    """An LSTM written cell by cell: a thousand small launches a step."""
    import torch
    from torch import nn

    cell, head = nn.LSTMCell(128, 256).to(DEVICE), nn.Linear(256, 1).to(DEVICE)
    optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-4)
    x = torch.randn(24, 64, 128, device=DEVICE)

    def step(_):
        state = None
        for part in x:
            state = cell(part, state)
        optimizer_step(optimizer, head(state[0]).mean())

    loop(folder, step)


def gan(folder):
    """A GAN: generator and discriminator have optimizers of their own."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    makes = nn.Sequential(nn.ConvTranspose2d(64, 256, 4), nn.ReLU(), nn.ConvTranspose2d(256, 128, 4, 2, 1), nn.ReLU(),
                          nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(64, 3, 4, 2, 1), nn.Tanh()).to(DEVICE)
    judges = convolutions(64, 3, 1).to(DEVICE)
    first, second = torch.optim.Adam(makes.parameters(), lr=1e-4), torch.optim.Adam(judges.parameters(), lr=1e-4)
    batch = pick(256, 2)
    real, one = torch.randn(batch, 3, 32, 32, device=DEVICE), torch.ones(batch, 1, device=DEVICE)

    def step(_):
        fake = makes(torch.randn(batch, 64, 1, 1, device=DEVICE))
        loss = F.binary_cross_entropy_with_logits(judges(real), one) + F.binary_cross_entropy_with_logits(judges(fake.detach()), 0 * one)
        optimizer_step(second, loss)
        optimizer_step(first, F.binary_cross_entropy_with_logits(judges(fake), one))

    loop(folder, step)


def slow_loader(folder):
    """A loader of two workers that is slower than the GPU."""
    import time

    import torch
    from torch.nn import functional as F

    def item(i):
        return torch.randn(3, 64, 64), i % 1000

    class Slow(RandomData):
        def __getitem__(self, index):
            time.sleep(0.0012)
            return super().__getitem__(index)

    loader = torch.utils.data.DataLoader(Slow(100000, item), batch_size=pick(64, 4), num_workers=pick(2, 0))
    model = convolutions().to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    books = start(folder)
    for x, y in loader:
        if not books.more():
            break
        optimizer_step(optimizer, F.cross_entropy(model(x.to(DEVICE)), y.to(DEVICE)))
    books.close()


# Reinforcement learning


def actor_critic():
    from torch import nn

    body = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh()).to(DEVICE)
    return body, nn.Linear(256, 8).to(DEVICE), nn.Linear(256, 1).to(DEVICE)


def play_and_learn(folder, steps, epochs, parts):
    """Rounds of steps() of play, with one small forward pass each, and then epochs x parts minibatches. A unit is a round."""
    import torch
    from torch.nn import functional as F

    body, actor, critic = actor_critic()
    optimizer = torch.optim.Adam([*body.parameters(), *actor.parameters(), *critic.parameters()], lr=3e-4)
    world = torch.randn(64, 64, device=DEVICE) / 8
    books = start(folder, warm=3)
    books.unit = "round of rollout and updates"
    state = torch.randn(64, 64, device=DEVICE)
    while books.more():
        seen, done = [], []
        with torch.no_grad():
            for _ in range(steps()):
                choice = torch.distributions.Categorical(logits=actor(body(state))).sample()
                seen.append(state)
                done.append(choice)
                state = torch.tanh(state @ world + 0.1 * torch.randn_like(state))
        states, actions = torch.cat(seen), torch.cat(done)
        for _ in range(epochs):
            order = torch.randperm(len(states), device=DEVICE)
            for part in order.chunk(parts):
                hidden = body(states[part])
                chosen = F.log_softmax(actor(hidden), -1).gather(1, actions[part, None])
                loss = -(torch.exp(chosen - chosen.detach()).clamp(0.8, 1.2)).mean() + critic(hidden).pow(2).mean()
                optimizer_step(optimizer, loss)
    books.close()


def rl_ppo(folder):
    """PPO: rollouts of random length with one small forward pass a step, then 4 times 8 minibatches. A unit is a round."""
    play_and_learn(folder, lambda: random.randint(32, 128), 4, 8)


def rl_ppo_even(folder):
    """PPO with 128 steps a rollout, then 4 times 4 minibatches. A unit is a round."""
    play_and_learn(folder, lambda: 128, 4, 4)


def rl_a2c(folder):
    """A2C: five steps of play and one update. A unit is a round."""
    play_and_learn(folder, lambda: 5, 1, 1)


def rl_reinforce(folder):
    """REINFORCE: an episode of 10 to 200 steps and one update. A unit is a round."""
    play_and_learn(folder, lambda: random.randint(10, 200), 1, 1)


def rl_dqn(folder):
    """DQN: four steps of the world, then one update from a replay buffer."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    make = lambda: nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 8)).to(DEVICE)
    network, target = make(), make()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)
    memory = torch.randn(10000, 64, device=DEVICE)
    state = torch.randn(1, 64, device=DEVICE)

    def step(number):
        nonlocal state
        with torch.no_grad():
            for _ in range(4):
                network(state).argmax(-1).item()
                state = torch.tanh(state + 0.1 * torch.randn_like(state))
        batch = memory[torch.randint(10000, (256,), device=DEVICE)]
        with torch.no_grad():
            goal = target(batch).max(-1).values
        optimizer_step(optimizer, F.smooth_l1_loss(network(batch).max(-1).values, goal))
        if number % 500 == 0:
            target.load_state_dict(network.state_dict())

    loop(folder, step)


# Distributed data parallel


def ddp_rank(rank, ranks, backend, folder, watcher, port):
    import torch
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    if not SMALL:
        torch.cuda.set_device(0)
    dist.init_process_group(backend, rank=rank, world_size=ranks)
    model = torch.nn.parallel.DistributedDataParallel(transformer(layers=pick(4, 1), width=256).to(DEVICE))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    books = torch_books(folder, watcher if rank == 0 else None)
    x = torch.randint(8192, (pick(16, 1), pick(128, 8)), device=DEVICE)
    while True:
        say = torch.tensor([books.more() if rank == 0 else True, books.mode])
        if ranks > 1:
            dist.broadcast(say, 0)
        if not say[0]:
            break
        if rank > 0:
            books.use(int(say[1]))
            books.note()
        with autocast():
            loss = language_loss(model, x)
        optimizer_step(optimizer, loss)
    if rank > 0:
        books.use(0)
    books.close(rank=rank)
    dist.destroy_process_group()


def ddp_nccl(folder):
    """DDP over NCCL, one rank."""
    ddp_rank(0, 1, pick("nccl", "gloo"), folder, os.getppid(), 29531)


def ddp_gloo(folder):
    """DDP over gloo, two ranks on one GPU."""
    import torch.multiprocessing as mp

    mp.spawn(ddp_rank, (2, "gloo", folder, os.getppid(), 29532), nprocs=2)


JOBS = {job.__name__: job for job in (
    compiled_graphs, compiled_convolutions, jax_transformer, jax_convolutions, jax_scan, eager_convolutions, hf_bert_classify,
    hf_gpt2_accumulated, lightning_short_epochs, lightning_accumulated, accelerate_vit, pyg_gcn, pyg_gin_batches, cuda_graph,
    llama_long_step, diffusion_unet, speech_wav2vec2, speech_lstm_ctc, recommender_dlrm, mixed_lengths_lstm,
    mixed_lengths_transformer, lstm_cells, gan, slow_loader, rl_ppo, rl_ppo_even, rl_a2c, rl_reinforce, rl_dqn, ddp_nccl, ddp_gloo)}

if __name__ == "__main__":
    if sys.argv[1] == "--list":
        for job in JOBS.values():
            print(f"{job.__name__}\t{job.__doc__}")
    else:
        random.seed(1)
        if not sys.argv[1].startswith("jax"):
            import torch

            torch.manual_seed(1)
            torch.backends.cuda.matmul.allow_tf32 = True
        JOBS[sys.argv[1]](sys.argv[2])
