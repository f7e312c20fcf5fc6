# SPDX-License-Identifier: Apache-2.0
"""What lets the examples run without a GPU: a job on hypermile's NVML stand-in, one of whose iterations is waited for in
each training step, so that a step takes as long as that GPU's clocks allow.

    export HYPERMILE_NVML=$PWD/build/lib/nvmlsim/libnvidia-ml.so.1 HYPERMILE_SIM_GPUS=rtx3080ti
    python python/examples/plain_loop.py

On a machine with a GPU nothing of this is needed: leave the two lines that use it out."""

import subprocess

from hypermile.program import find_program


class SimulatedGpu:
    def __init__(self, workload="dcgan", gpu=0):
        self._job = subprocess.Popen([str(find_program()), "simulate", "--realtime", "--ticks", "--seconds", "1000h",
                                      "--workload", workload, "--gpu", str(gpu)], stdout=subprocess.PIPE, text=True)

    def work(self):
        """Returns when the GPU's next iteration is over."""
        if not self._job.stdout.readline()[:1].isdigit():
            raise RuntimeError("the simulated GPU's job has ended; is HYPERMILE_NVML the stand-in?")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._job.terminate()
        self._job.communicate()
