# SPDX-License-Identifier: Apache-2.0
"""A training loop of JAX: a step is one call of the compiled function.

    python jax_loop.py [STEPS]"""

import sys

import hypermile
import jax
import jax.numpy as jnp
from simulated_gpu import SimulatedGpu

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200


def loss(weights, inputs):
    return jnp.mean((inputs @ weights) ** 2)


@jax.jit
def update(weights, key):
    return weights - 1e-2 * jax.grad(loss)(weights, jax.random.normal(key, (32, 64)))


weights = jnp.ones((64, 1))
keys = jax.random.split(jax.random.PRNGKey(1), steps)
update(weights, keys[0])  # compiles, which is no iteration
with SimulatedGpu() as gpu, hypermile.observe() as run:
    for key in keys:
        hypermile.step()
        gpu.work()
        weights = update(weights, key)
    jax.block_until_ready(weights)

print(run.result)
print(f"{len(run.result.windows)} windows, {run.result.totals.get('iterations', 0):.0f} iterations")
