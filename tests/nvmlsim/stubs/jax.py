# SPDX-License-Identifier: Apache-2.0
"""What Zeus asks of a framework: is this one process, and wait for the GPU.

Zeus needs PyTorch or JAX, hundreds of megabytes, for these questions alone. The tests' jobs run in
a process of their own and a step is over when that process says so, hence there is nothing to wait
for.
"""


def devices(kind):
    return [kind]


def device_count():
    return 1


def device_put(value, device):
    del device
    return value


def block_until_ready(values):
    return values
