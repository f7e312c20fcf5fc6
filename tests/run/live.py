# SPDX-License-Identifier: Apache-2.0
"""The search on jobs in real time, on the NVML stand-in: jobs on one, two and four GPUs as root, through the daemon as an
ordinary user, and under sudo; and what hypermile itself costs. scripts/run-live calls it and writes the page with the table
that it prints.

usage: live.py [--seconds N]
"""

import argparse
import concurrent.futures
import json
import os
import sys
import time

from world import HYPERMILE, HYPERMILED, World, finish

ALICE = 60001
TICK = os.sysconf("SC_CLK_TCK")


class Footprint:
    """Processor time and memory of a process, read while it lives. Its first thread runs the Session and the Controller. Other
    threads call NVML, and the stand-in moves the simulated card within those calls, which a driver does not do."""

    def __init__(self, pid):
        self.pid, self.own, self.all, self.seconds, self.peak_kib = pid, 0.0, 0.0, 0.0, 0
        self.begin = time.monotonic()

    def cpu_of(self, thread):
        with open(f"/proc/{self.pid}/task/{thread}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def look(self):
        try:
            with open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
                peak = [line for line in file if line.startswith("VmHWM")]
            own, everything = self.cpu_of(self.pid), sum(map(self.cpu_of, os.listdir(f"/proc/{self.pid}/task")))
        except OSError:
            return
        if peak:  # a process that has ended but was not waited for has none
            self.own, self.all, self.peak_kib = own, everything, int(peak[0].split()[1])
            self.seconds = time.monotonic() - self.begin

    def text(self):
        return (f"{100 * self.own / self.seconds:.2f} % of a core ({100 * self.all / self.seconds:.2f} % with the simulated "
                f"cards), {self.peak_kib / 1024:.1f} MiB")


def as_root(world, job, options):
    return world.run(job, *options)


def through_the_daemon(world, job, options):
    world.daemon()
    return world.run(job, *options, user=ALICE, group=ALICE, extra_groups=[])


def under_sudo(world, job, options):
    """As the user nobody, with sudo's own rules replaced for these processes only."""
    with open(world.path("sudoers"), "w", encoding="utf-8") as file:
        file.write(f'Defaults env_keep += "HYPERMILE_*"\nnobody ALL=(root) NOPASSWD: {HYPERMILE}\n')
    os.chmod(world.path("sudoers"), 0o440)
    script = 'mount --bind "$0" /etc/sudoers && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"'
    return world.start(["unshare", "--mount", "sh", "-c", script, world.path("sudoers"), "sudo", "-n", HYPERMILE, "run",
                        "--summary", world.path("summary.json"), "--log", world.path("log.jsonl"), *options, "--", *job])


CASES = [("rtx3080ti", 1, as_root), ("h200", 1, as_root), ("rtx3080ti", 2, as_root), ("h200", 4, as_root),
         ("rtx3080ti", 1, through_the_daemon), ("rtx3080ti", 2, through_the_daemon), ("rtx3080ti", 1, under_sudo),
         ("a4000", 1, under_sudo)]


def run_case(case, seconds):
    gpu, count, start = case
    with World(",".join([gpu] * count)) as world:
        job = world.job(seconds, *(["--ranks", str(count)] if count > 1 else []), workload="resnet50")
        process = start(world, job, [])
        cost = Footprint(process.pid)
        while process.poll() is None:
            cost.look()
            time.sleep(0.2)
        code, _, err = finish(process)
        summary = world.summary()
        return {"gpu": gpu, "count": count, "how": start.__name__.replace("_", " "), "code": code, "said": err,
                "control": summary["control"], "job": summary["job"], "restored": not world.changed(), "cost": cost,
                "iterations": summary["processes"][0]["phases"][0]["iterations"] if summary["processes"] else 0}


def percent(figures, key, sign=1):
    if key not in figures:
        return "-"
    interval = figures.get(key + "_interval95")
    return f"{100 * sign * figures[key]:.1f}" + (f" ± {100 * interval:.1f}" if interval is not None else "") + " %"


def setting(values):
    names = {"sm_mhz": "sm", "mem_mhz": "mem", "power_limit_w": "limit"}
    return " ".join(f"{names[key]}={value:.0f}" for key, value in values.items()) or "default"


def row(result):
    control = result["control"]
    phase = max(control["phases"], key=lambda each: each["iterations"], default={})
    job, kept = result["job"], phase.get("kept_measured", {})
    return [f"{result['count']} × {result['gpu']}", result["how"], str(result["code"]), f"{result['iterations']:.0f}",
            setting(phase.get("kept", {})) if phase.get("held") else "still searching",
            percent(job, "energy_change", -1), percent(job, "time_change"), percent(kept, "energy_change", -1),
            percent(kept, "time_change"),
            f"{phase['settled_after_s']:.0f} s" if "settled_after_s" in phase else "-",
            "yes" if result["restored"] and control["restored"] else "NO",
            "-" if result["how"] == "under sudo" else result["cost"].text()]


HEAD = ["GPUs", "how", "exit", "iterations", "kept", "energy saved, whole job", "slower, whole job",
        "energy saved, kept setting", "slower, kept setting", "found after", "GPUs restored", "what hypermile cost"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--at-once", type=int, default=2)
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        results = list(pool.map(lambda case: run_case(case, options.seconds), CASES))
    for line in [HEAD, ["---"] * len(HEAD), *map(row, results)]:
        print("| " + " | ".join(line) + " |")
    print("\nOne of them in full:\n\n```\n" + results[0]["said"].strip() + "\n```")
    bad = [r for r in results if r["code"] != 0 or not r["restored"]]
    print(json.dumps([{"gpu": r["gpu"], "said": r["said"]} for r in bad]), file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
