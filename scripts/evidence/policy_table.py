#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the JSON of `hypermile evaluate --json` and prints a Markdown table with one line for each policy, and how many curves it is
of. Called by scripts/evidence/search and scripts/evidence/starting-gear.

    hypermile evaluate … --json | scripts/evidence/policy_table.py [--held]

--held adds the median number of iterations after which a setting was first held.
"""

import json
import sys

HEAD = ("policy", "runs", "saved %", "share of oracle", "final", "slowdown % mean/max", "kept over / by 0.5", "job over", "losses",
        "at default", "windows")


def cells(s):
    def part(count):
        return 100 * count / s["runs"]

    low, high = s["share_of_oracle_95"]
    return (s["policy"], s["runs"], f"{s['mean_saved_pct']:.2f}", f"{100 * s['share_of_oracle']:.1f} ({100 * low:.0f}-{100 * high:.0f}) %",
            f"{100 * s['final_share_of_oracle']:.1f} %", f"{s['mean_slowdown_pct']:.2f} / {s['max_slowdown_pct']:.2f}",
            f"{part(s['violations_final']):.1f} / {part(s['violations_final_half_point']):.1f} %", f"{part(s['violations_job']):.1f} %",
            f"{part(s['losses']):.1f} %", f"{part(s['ends_at_default']):.1f} %", f"{s['mean_probes']:.1f}")


def main():
    held = "--held" in sys.argv
    result = json.load(sys.stdin)
    head = HEAD + (("first held",) if held else ())
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for summary in result["summary"]:
        last = (f"{summary['median_held_after_iterations']:.0f}",) if held else ()
        print("| " + " | ".join(map(str, cells(summary) + last)) + " |")
    print(f"\n{result['curves']} curves; mean oracle saving {result['summary'][0]['mean_oracle_saved_pct']:.2f} %")


if __name__ == "__main__":
    main()
