# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's own Python binding, unmodified, on the stand-in."""

import os
import time
import unittest

import pynvml
from stand_in import Job, Machine, status


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


class PynvmlTest(unittest.TestCase):
    def setUp(self):
        self.enterContext(Machine("rtx3080ti,h200", speed=10))
        pynvml.nvmlInit()
        self.addCleanup(pynvml.nvmlShutdown)
        self.card = pynvml.nvmlDeviceGetHandleByIndex(0)
        self.hopper = pynvml.nvmlDeviceGetHandleByIndex(1)

    def test_enumerates_the_gpus(self):
        self.assertEqual(pynvml.nvmlDeviceGetCount(), 2)
        self.assertIn("3080 Ti", pynvml.nvmlDeviceGetName(self.card))
        self.assertIn("H200", pynvml.nvmlDeviceGetName(self.hopper))
        for index, device in enumerate([self.card, self.hopper]):
            uuid = pynvml.nvmlDeviceGetUUID(device)
            bus = pynvml.nvmlDeviceGetPciInfo(device).busId
            self.assertEqual(uuid, status()[index]["uuid"])
            by_uuid = pynvml.nvmlDeviceGetHandleByUUID(uuid)
            by_bus = pynvml.nvmlDeviceGetHandleByPciBusId(bus)
            self.assertEqual(pynvml.nvmlDeviceGetIndex(by_uuid), index)
            self.assertEqual(pynvml.nvmlDeviceGetIndex(by_bus), index)
        self.assertEqual(pynvml.nvmlDeviceGetArchitecture(self.card), pynvml.NVML_DEVICE_ARCH_AMPERE)
        self.assertEqual(pynvml.nvmlDeviceGetCudaComputeCapability(self.hopper), (9, 0))
        self.assertGreater(pynvml.nvmlSystemGetCudaDriverVersion(), 12000)
        self.assertTrue(pynvml.nvmlSystemGetDriverVersion())

    def test_reads_every_sensor(self):
        card = self.card
        self.assertGreater(pynvml.nvmlDeviceGetPowerUsage(card), 1000)
        self.assertGreater(pynvml.nvmlDeviceGetTotalEnergyConsumption(card), 0)
        self.assertEqual(pynvml.nvmlDeviceGetUtilizationRates(card).gpu, 0)
        self.assertTrue(0 < pynvml.nvmlDeviceGetTemperature(card, 0) < 100)
        self.assertTrue(0 < pynvml.nvmlDeviceGetTemperatureV(card, 0) < 100)
        self.assertGreater(pynvml.nvmlDeviceGetClockInfo(card, pynvml.NVML_CLOCK_SM), 0)
        fields = pynvml.nvmlDeviceGetFieldValues(card, [pynvml.NVML_FI_DEV_POWER_INSTANT, (186, 2)])
        self.assertEqual(fields[0].nvmlReturn, pynvml.NVML_SUCCESS)
        self.assertGreater(fields[0].value.uiVal, 1000)
        self.assertEqual(fields[1].nvmlReturn, pynvml.NVML_ERROR_NOT_SUPPORTED)
        kind, samples = pynvml.nvmlDeviceGetSamples(card, pynvml.NVML_TOTAL_POWER_SAMPLES, 0)
        self.assertEqual(kind, pynvml.NVML_VALUE_TYPE_UNSIGNED_INT)
        stamps = [sample.timeStamp for sample in samples]
        self.assertEqual(stamps, sorted(stamps))
        self.assertLess(abs(stamps[-1] / 1e6 - time.time()), 5)
        memory = pynvml.nvmlDeviceGetMemoryInfo(card, version=pynvml.nvmlMemory_v2)
        self.assertEqual(memory.total, memory.free + memory.used + memory.reserved)
        self.assertEqual(memory.total, pynvml.nvmlDeviceGetMemoryInfo(card).total)

    def test_clocks_are_listed_set_and_reset_and_another_process_sees_it(self):
        memory = pynvml.nvmlDeviceGetSupportedMemoryClocks(self.card)
        graphics = pynvml.nvmlDeviceGetSupportedGraphicsClocks(self.card, memory[0])
        self.assertEqual(graphics, sorted(graphics, reverse=True))
        self.assertIsNone(status()[0]["sm_lock_mhz"])

        pynvml.nvmlDeviceSetGpuLockedClocks(self.card, 210, 1200)
        pynvml.nvmlDeviceSetMemoryLockedClocks(self.card, memory[1], memory[1])
        pynvml.nvmlDeviceSetPowerManagementLimit(self.card, 250000)

        seen = status()
        self.assertEqual(seen[0]["sm_lock_mhz"], 1200)
        self.assertEqual(seen[0]["mem_lock_mhz"], memory[1])
        self.assertEqual(seen[0]["power_limit_w"], 250)
        self.assertIsNone(seen[1]["sm_lock_mhz"])
        self.assertEqual(pynvml.nvmlDeviceGetPowerManagementLimit(self.card), 250000)

        pynvml.nvmlDeviceResetGpuLockedClocks(self.card)
        pynvml.nvmlDeviceResetMemoryLockedClocks(self.card)
        self.assertIsNone(status()[0]["sm_lock_mhz"])
        self.assertIsNone(status()[0]["mem_lock_mhz"])

    def test_a_job_shows_and_slows_down_with_its_clock(self):
        with Job() as job:
            job.step()
            fast = -job.steps(3) + job.steps(6)
            processes = pynvml.nvmlDeviceGetComputeRunningProcesses(self.card)
            self.assertEqual([p.pid for p in processes], [job.process.pid])
            self.assertGreater(pynvml.nvmlDeviceGetUtilizationRates(self.card).gpu, 50)
            pynvml.nvmlDeviceSetGpuLockedClocks(self.card, 210, 900)
            self.assertTrue(
                wait_until(lambda: pynvml.nvmlDeviceGetClockInfo(self.card, 1) <= 900)
            )
            job.step()
            slow = -job.steps(3) + job.steps(6)
            self.assertGreater(slow, fast * 1.2)
        self.assertTrue(
            wait_until(lambda: not pynvml.nvmlDeviceGetComputeRunningProcesses(self.card))
        )

    def test_refuses_what_a_card_refuses(self):
        refusals = [
            (lambda: pynvml.nvmlDeviceGetHandleByIndex(9), pynvml.NVML_ERROR_INVALID_ARGUMENT),
            (lambda: pynvml.nvmlDeviceGetHandleByUUID("GPU-x"), pynvml.NVML_ERROR_NOT_FOUND),
            (lambda: pynvml.nvmlDeviceGetFanSpeed(self.card), pynvml.NVML_ERROR_NOT_SUPPORTED),
            (lambda: pynvml.nvmlDeviceSetPowerManagementLimit(self.card, 1),
             pynvml.NVML_ERROR_INVALID_ARGUMENT),
            (lambda: pynvml.nvmlDeviceGetNvLinkState(self.card, 0),
             pynvml.NVML_ERROR_FUNCTION_NOT_FOUND),
        ]
        for call, code in refusals:
            with self.assertRaises(pynvml.NVMLError) as caught:
                call()
            self.assertEqual(caught.exception.value, code)

    @unittest.skipIf(os.geteuid() != 0, "only root can become somebody else")
    def test_others_than_root_may_read_and_not_set(self):
        child = os.fork()
        if child == 0:
            os.setuid(65534)
            code = 1
            try:
                pynvml.nvmlDeviceGetPowerUsage(self.card)
                pynvml.nvmlDeviceSetGpuLockedClocks(self.card, 210, 1200)
            except pynvml.NVMLError_NoPermission:
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertIsNone(status()[0]["sm_lock_mhz"])

    def test_gpm_metrics_of_a_hopper(self):
        support = pynvml.nvmlGpmQueryDeviceSupport(self.hopper)
        self.assertTrue(support.isSupportedDevice)
        with Job(gpu=1) as job:
            job.steps(2)
            first, second = pynvml.nvmlGpmSampleAlloc(), pynvml.nvmlGpmSampleAlloc()
            pynvml.nvmlGpmSampleGet(self.hopper, first)
            job.steps(30)
            pynvml.nvmlGpmSampleGet(self.hopper, second)
            request = pynvml.c_nvmlGpmMetricsGet_t()
            request.version = pynvml.NVML_GPM_METRICS_GET_VERSION
            request.numMetrics = 1
            request.sample1, request.sample2 = first, second
            request.metrics[0].metricId = pynvml.NVML_GPM_METRIC_GRAPHICS_UTIL
            pynvml.nvmlGpmMetricsGet(request)
            self.assertEqual(request.metrics[0].nvmlReturn, pynvml.NVML_SUCCESS)
            self.assertGreater(request.metrics[0].value, 20)
            pynvml.nvmlGpmSampleFree(first)
            pynvml.nvmlGpmSampleFree(second)


if __name__ == "__main__":
    unittest.main()
