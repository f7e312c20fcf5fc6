# SPDX-License-Identifier: Apache-2.0
"""Installs into a folder of its own and uses the result: builds the C example with pkg-config and with CMake, checks that
groff has no warning about the manual pages, and loads the completions in every shell that this machine has."""

import concurrent.futures
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE, BUILD = os.environ["SOURCE_FOLDER"], os.environ["BUILD_FOLDER"]


def call(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def windows_of(text):
    """(seconds, joules, error) of each window that the example prints."""
    return re.findall(r"epoch \d: 40 iterations, ([\d.]+) s, ([\d.]+) J \(standard error ([\d.]+) J\) on 1 GPU", text)


class InstallationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hypermile-installed-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.prefix = os.path.join(cls.folder, "prefix")
        call("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.hypermile = os.path.join(cls.prefix, "bin", "hypermile")
        stand_in = cls.found("libnvidia-ml.so.1")
        cls.environment = {
            **os.environ, "HYPERMILE_NVML": stand_in, "HYPERMILE_SIM_GPUS": "rtx3080ti", "HYPERMILE_SIM_SPEED": "1",
            "HYPERMILE_SIM_STATE": os.path.join(cls.folder, "state"),
            "HYPERMILE_STATE": os.path.join(cls.folder, "journal"),
            "HYPERMILE_SOCKET": os.path.join(cls.folder, "socket"),
            "XDG_CONFIG_HOME": cls.folder}
        for name in ("HYPERMILE_DATA", "HYPERMILE_READ_ONLY", "CUDA_VISIBLE_DEVICES"):
            cls.environment.pop(name, None)
        cls.commands = re.findall(r"^  (\w+) ", call(cls.hypermile, "help").split("commands:")[1], re.M)

    @classmethod
    def found(cls, name):
        files = glob.glob(os.path.join(cls.prefix, "**", name), recursive=True)
        assert len(files) == 1, (name, files)
        return files[0]

    def with_library(self, **more):
        return {**self.environment, "LD_LIBRARY_PATH": os.path.dirname(self.found("libhypermile.so.0")), **more}

    def with_pkg_config(self):
        program = os.path.join(self.folder, "by_pkg_config")
        flags = call("pkg-config", "--cflags", "--libs", "hypermile",
                     env={**os.environ, "PKG_CONFIG_PATH": os.path.dirname(self.found("hypermile.pc"))}).split()
        call("cc", "-std=c99", "-D_POSIX_C_SOURCE=199309L", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
             os.path.join(SOURCE, "examples/c/train.c"), *flags, "-o", program)
        return program

    def with_cmake(self):
        build = os.path.join(self.folder, "by_cmake")
        call("cmake", "-S", os.path.join(SOURCE, "examples/c"), "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        call("cmake", "--build", build)
        return os.path.join(build, "train")

    def test_simulations_find_their_data_where_it_was_installed(self):
        done = json.loads(call(self.hypermile, "simulate", "--gpu", "sim:h200", "--workload", "dcgan", "--policy", "default",
                               "--iterations", "100", "--repeat", "1", "--json", cwd="/", env=self.environment))
        self.assertTrue(done)

    def test_the_c_example_builds_both_ways_and_measures(self):
        programs = [self.with_pkg_config(), self.with_cmake()]
        job = subprocess.Popen([self.hypermile, "simulate", "--realtime", "--json", "--seconds", "6s", "--workload",
                                "dcgan"], env=self.environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(job.wait)
        outputs = [call(program, "2", env=self.with_library()) for program in programs]
        truth = json.loads(job.communicate(timeout=60)[0])
        watts = truth["energy_j"] / truth["seconds"]
        for text in outputs:
            windows = windows_of(text)
            self.assertEqual(len(windows), 2, text)
            for seconds, joules, error in (map(float, window) for window in windows):
                self.assertAlmostEqual(error, 0.0408 * joules / seconds, delta=0.1)
        # This window ran beside the job, which has just begun to draw its power.
        seconds, joules, error = map(float, windows_of(outputs[0])[1])
        self.assertAlmostEqual(joules, watts * seconds, delta=4 * error + 0.05 * watts * seconds)

    def test_under_hypermile_run_its_ticks_are_the_iterations(self):
        summary = os.path.join(self.folder, "summary.json")
        call(self.hypermile, "run", "--observe", "--quiet", "--summary", summary, "--", self.with_pkg_config(), "2",
             env=self.with_library())
        with open(summary, encoding="utf-8") as file:
            process = json.load(file)["processes"][0]
        self.assertEqual((process["source"], process["phases"][0]["name"]), ("ticks", "train"))
        self.assertAlmostEqual(process["phases"][0]["iterations"], 80, delta=1)

    def test_a_window_that_cannot_be_measured_says_why(self):
        program = self.with_pkg_config()
        cases = (({"HYPERMILE_NVML": "/nowhere.so"}, "install the NVIDIA driver"),
                 ({"CUDA_VISIBLE_DEVICES": "7"}, "'7' names no GPU"),
                 ({"CUDA_VISIBLE_DEVICES": ""}, "no GPU to measure"),
                 ({"HYPERMILE_SIM_FAULTS": "nvmlDeviceGetTotalEnergyConsumption:3"}, "a GPU reports no energy"))
        with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
            texts = list(pool.map(lambda case: call(program, "1", env=self.with_library(**case[0])), cases))
        for (_, reason), text in zip(cases, texts):
            self.assertRegex(text, r"epoch 0: 40 iterations, [\d.]+ s, energy not known: .*" + re.escape(reason))

    def test_every_command_has_a_manual_page_without_groff_warnings(self):
        folder = os.path.join(self.prefix, "share", "man")
        pages = {os.path.basename(path): path for path in glob.glob(os.path.join(folder, "man?", "*.gz"))}
        self.assertEqual(sorted(pages), sorted([f"hypermile-{name}.1.gz" for name in self.commands] +
                                               ["hypermile.1.gz", "hypermiled.8.gz"]))
        if not shutil.which("groff"):
            self.skipTest("there is no groff here")
        for path in pages.values():
            with gzip.open(path) as file:
                done = subprocess.run(["groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-P-c"], input=file.read(),
                                      capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, b""), path)

    def test_the_daemons_page_has_its_options(self):
        with gzip.open(os.path.join(self.prefix, "share/man/man8/hypermiled.8.gz"), "rt") as file:
            page = file.read().replace("\\-", "-")
        for option in set(re.findall(r"--\w+", call(os.path.join(self.prefix, "bin", "hypermiled"), "--help"))):
            self.assertIn(option, page)

    def completed(self, line):
        words = line.split(" ")
        script = (f"source {self.found('hypermile')}; COMP_WORDS=({' '.join(map(repr, words))}); "
                  f"COMP_CWORD={len(words) - 1}; _hypermile; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return call("bash", "-c", script, cwd=os.path.join(SOURCE, "gpus")).split()

    def test_bash_completes_commands_options_choices_files_and_the_job(self):
        self.found = lambda name: os.path.join(self.prefix, "share/bash-completion/completions", name)
        self.assertLessEqual(set(self.commands), set(self.completed("hypermile ")))
        self.assertEqual(self.completed("hypermile run --max"), ["--max-slowdown"])
        for command in self.commands:
            self.assertIn("--json", self.completed(f"hypermile {command} --j"))
        self.assertEqual(self.completed("hypermile plan resnet50 --phase b"), ["backward"])
        self.assertEqual(self.completed("hypermile evaluate h200"), ["h200.toml"])
        self.assertIn("python3", self.completed("hypermile run -- pytho"))

    def test_zsh_and_fish_load_their_completions(self):
        scripts = {"zsh": ("share/zsh/vendor-completions/_hypermile",
                           "autoload -Uz compinit && compinit -u -D && source {} && (( $+functions[_hypermile] ))"),
                   "fish": ("share/fish/vendor_completions.d/hypermile.fish",
                            "source {}; complete -C 'hypermile run --max-s' | string match -q -- '--max-slowdown*'")}
        for shell, (path, check) in scripts.items():
            path = os.path.join(self.prefix, path)
            self.assertTrue(os.path.exists(path))
            if shutil.which(shell):
                call(shell, "-c", check.format(path), env={**os.environ, "HOME": self.folder})


if __name__ == "__main__":
    unittest.main()
