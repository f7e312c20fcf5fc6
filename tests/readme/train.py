# SPDX-License-Identifier: Apache-2.0
"""The README's `python train.py`: a job that trains on the stand-in's GPU and knows nothing of hypermile's watching."""

import os
import subprocess

subprocess.run(["hypermile", "simulate", "--realtime", "--seconds", os.environ.get("TRAIN_SECONDS", "8s"), "--workload", "dcgan"],
               check=True)
