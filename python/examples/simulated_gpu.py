# SPDX-License-Identifier: Apache-2.0
"""Lets the examples run without a GPU: a simulated job runs on hypermile's NVML stand-in, and each training step waits for
one of its iterations. So a step takes as long as the simulated GPU's clocks allow.

    export HYPERMILE_NVML=$(python -c 'from hypermile.program import stand_in; print(stand_in())') HYPERMILE_SIM_GPUS=rtx3080ti
    python python/examples/plain_loop.py

On a machine with a GPU, remove the two lines that use this file."""

import subprocess

from hypermile.program import find_program


class SimulatedGpu:
    def __init__(self, workload="dcgan", gpu=0):
        self._job = subprocess.Popen([str(find_program()), "simulate", "--realtime", "--ticks", "--seconds", "1000h",
                                      "--workload", workload, "--gpu", str(gpu)], stdout=subprocess.PIPE, text=True)

    def work(self):
        """Returns when the simulated GPU has finished its next iteration."""
        if not self._job.stdout.readline()[:1].isdigit():
            raise RuntimeError("the simulated GPU's job has ended; set HYPERMILE_NVML to the NVML stand-in")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._job.terminate()
        self._job.communicate()
