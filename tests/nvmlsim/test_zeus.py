# SPDX-License-Identifier: Apache-2.0
"""Zeus, unmodified, on the stand-in: its energy windows and its power limit optimiser."""

import logging
import time
import unittest

import pynvml
from stand_in import Job, Machine, status
from zeus.device.gpu import get_gpus
from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import Done, Energy, GlobalPowerLimitOptimizer, MaxSlowdownConstraint

SPEED = 20


class ZeusTest(unittest.TestCase):
    """One machine for all tests, because Zeus opens its GPUs once per process and keeps them."""

    @classmethod
    def setUpClass(cls):
        logging.disable(logging.WARNING)
        cls.machine = cls.enterClassContext(Machine("rtx3080ti", speed=SPEED))
        pynvml.nvmlInit()
        cls.addClassCleanup(pynvml.nvmlShutdown)
        cls.card = pynvml.nvmlDeviceGetHandleByIndex(0)
        cls.monitor = ZeusMonitor(gpu_indices=[0], cpu_indices=[], sync_execution_with="jax")

    def test_a_window_holds_the_energy_that_the_card_drew(self):
        with Job() as job:
            job.steps(5)
            self.monitor.begin_window("window")
            before = pynvml.nvmlDeviceGetTotalEnergyConsumption(self.card)
            start = time.monotonic()
            job.steps(20)
            power = pynvml.nvmlDeviceGetPowerUsage(self.card) / 1000
            window = self.monitor.end_window("window")
            seconds = time.monotonic() - start
            after = pynvml.nvmlDeviceGetTotalEnergyConsumption(self.card)

        energy = window.gpu_energy[0]
        self.assertAlmostEqual(energy, (after - before) / 1000, delta=0.05 * energy)
        self.assertAlmostEqual(energy, power * seconds * SPEED, delta=0.15 * energy)
        self.assertAlmostEqual(window.time, seconds, delta=0.1 * seconds + 0.05)

    def test_knobs_through_zeus_reach_the_card(self):
        gpu = get_gpus().gpus[0]
        gpu.set_gpu_locked_clocks(210, 1200)
        self.assertEqual(status()[0]["sm_lock_mhz"], 1200)
        gpu.reset_gpu_locked_clocks()
        self.assertIsNone(status()[0]["sm_lock_mhz"])
        self.assertGreater(gpu.get_gpu_temperature(), 10)
        self.assertGreater(gpu.get_instant_power_usage(), 1000)

    def optimise(self, selector):
        optimizer = GlobalPowerLimitOptimizer(self.monitor, selector)
        steps = 0
        with Job() as job:
            optimizer.on_epoch_begin()
            while not isinstance(optimizer.state, Done):
                optimizer.on_step_begin()
                job.step()
                optimizer.on_step_end()
                steps += 1
                self.assertLess(steps, 2000, "Zeus does not settle")
        return optimizer, steps

    def test_the_optimiser_chooses_a_limit_and_sets_it(self):
        low, high = pynvml.nvmlDeviceGetPowerManagementLimitConstraints(self.card)
        limits = range(high // 1000, low // 1000 - 1, -25)

        optimizer, steps = self.optimise(MaxSlowdownConstraint(1.10))

        measured = {m.power_limit: m for m in optimizer.measurements}
        self.assertEqual(list(measured), list(limits), "it tries every limit")
        self.assertEqual(steps, 1 + 50 * len(limits) + 1)
        chosen = status()[0]["power_limit_w"]
        self.assertEqual(chosen, MaxSlowdownConstraint(1.10).select(optimizer.measurements))
        self.assertLess(chosen, limits[0])
        self.assertLessEqual(measured[chosen].time, 1.10 * measured[limits[0]].time)
        self.assertLess(measured[chosen].energy, measured[limits[0]].energy)
        self.assertGreater(
            measured[limits[-1]].time, 1.3 * measured[limits[0]].time, "a cap must slow down"
        )
        least = Energy().select(optimizer.measurements)
        self.assertLess(least, limits[0])


if __name__ == "__main__":
    unittest.main()
