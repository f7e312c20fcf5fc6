// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>

namespace hypermile {
namespace {

using enum OptionKind;

constexpr OptionSpec kTable[] = {
    {"json", kFlag, "", "false",
     "doctor monitor counters run attach sweep detect demo evaluate learn predict simulate plan "
     "leases reset report serve",
     "print one JSON document on stdout; everything else goes to stderr"},
    {"gpu", kText, "G", "", "doctor monitor counters run attach sweep simulate plan reset",
     "which GPU: index, UUID, PCI address, sim:NAME or replay:FILE#gpu/workload[/phase]; without "
     "it every GPU (doctor), the first one visible to CUDA (monitor, counters), those the job uses "
     "(run, "
     "attach, sweep), sim:rtx3080ti (simulate); plan takes the name of a sheet, as sim:a4000 or "
     "a4000"},
    {"pid", kInteger, "N", "", "attach sweep", "a process of the job that already runs", false},
    {"rings", kText, "FOLDER", "", "attach",
     "where the job leaves its ticks, if its environment did not say so when it started", false},
    {"observe", kFlag, "", "false", "run attach", "only watch: nothing is changed on any GPU"},
    {"counters", kFlag, "", "false", "run attach sweep",
     "read performance counters through CUPTI while features are collected, in a process of its "
     "own; needs the right to profile"},
    {"from", kText, "cupti|nvml", "cupti", "counters",
     "performance counters through CUPTI, which needs the right to profile, or NVML's activity "
     "counters (Hopper and newer)"},
    {"dry-run", kFlag, "", "false", "run attach",
     "print what would be done, and with which rights; run and change nothing", false},
    {"cache", kText, "F.json", "no", "run attach simulate",
     "remember what was found for this job, and begin the next run of it there, verified first; "
     "'default' is $XDG_CACHE_HOME/hypermile/jobs.json, 'no' none"},
    {"nvtx-step", kText, "NAME", "", "run sweep", "iterations are the NVTX ranges of this name",
     false},
    {"summary", kText, "F.json", "", "run attach",
     "write what the run has shown to this file as JSON"},
    {"live", kFlag, "", "false", "run attach",
     "renew the status line in place, also where the job itself writes to the terminal"},
    {"quiet", kFlag, "", "false", "run attach sweep", "no live line and no summary on stderr"},
    {"launches", kText, "F.csv[.gz]", "", "detect",
     "a recording of kernel launches: columns t_s and kernel, optionally blocks and stream", false},
    {"nvml", kText, "F.csv", "", "detect",
     "a recording of NVML's sensors: columns t_s and power_instant_mw, with energy_mj, util_gpu "
     "and util_mem where known; or kind, t_s and value",
     false},
    {"all", kFlag, "", "false", "reset",
     "every GPU; ends every lease, and the daemon grants no more until --reopen", false},
    {"reopen", kFlag, "", "false", "reset", "let the daemon grant leases again after --all", false},
    {"workload", kList, "W[,W…]", "resnet50", "simulate sweep",
     "simulated jobs by the names of their files in workloads/, or 'all'; one for sweep"},
    {"progress", kText, "ticks|launches", "ticks", "simulate",
     "how iterations are seen: exact ticks of the framework, or found in the stream of kernel "
     "launches"},
    {"realtime", kFlag, "", "false", "simulate",
     "train on a GPU of the NVML stand-in, in real time; --gpu is its index there"},
    {"ranks", kInteger, "N", "", "simulate",
     "with --realtime: a job of N processes, each on a GPU of its own from --gpu on, that wait for "
     "the slowest before every iteration"},
    {"ticks", kFlag, "", "false", "simulate",
     "with --realtime: a line \"N SECONDS\" as each iteration ends"},
    {"status", kFlag, "", "false", "simulate",
     "print the GPUs of the NVML stand-in with their locks, limits and clocks"},
    {"gpus", kInteger, "N", "", "simulate",
     "one job on so many simulated GPUs that wait for each other, under the whole Controller"},
    {"imbalance", kFraction, "X", "0", "simulate",
     "with --gpus: how much less work the lightest GPU has than the heaviest"},
    {"no-slack", kFlag, "", "false", "simulate",
     "with --gpus: tell all GPUs the same, also those that wait for the others"},
    {"seconds", kDuration, "N", "", "monitor counters simulate",
     "stop after this long; without it monitor runs until interrupted, and counters and simulate "
     "--realtime for 10s"},
    {"interval", kDuration, "T", "1s", "monitor counters",
     "time between two lines; counters --json writes its document again so often where it is "
     "given"},
    {"watch", kDuration, "T", "1.5s", "doctor",
     "how long to watch the sensors to find out how often they change"},
    {"log", kText, "F.jsonl", "", "monitor run attach sweep demo simulate",
     "append what happens to this event log"},
    {"report", kText, "F.html", "", "run attach sweep demo",
     "write a report of the run to this page: one file, offline", false},
    {"serve", kAddress, "[ADDR:PORT]", "", "run attach sweep",
     "show the run on a page while it lasts, and tell /metrics; 127.0.0.1:9487 without an address",
     false},
    {"listen", kText, "ADDR:PORT", kUsualAddress, "serve",
     "where to serve; port 0 is any free one; beyond this machine only with --token-file"},
    {"token-file", kText, "F", "", "serve run attach sweep",
     "a file of mode 600 whose first line whoever asks must show"},
    {"seed", kInteger, "N", "1", "monitor sweep demo evaluate learn simulate",
     "seed of all randomness"},
    {"policy", kList, "P[,P…]", "hypermile", "evaluate simulate run attach",
     "policies to judge, or 'all'; the one to follow (run, attach)"},
    {"max-slowdown", kSlowdown, "S", "5%", "evaluate predict simulate plan run attach",
     "how much slower the job may get: 5%, 0.05 or 1.05; 0 means no measurable slowdown (0.5 %)"},
    {"objective", kText, "O", "energy", "evaluate predict simulate run attach",
     "what to minimise: energy within --max-slowdown, edp, ed2p or cost:ETA"},
    {"batch", kInteger, "N", "", "plan",
     "examples an iteration; without it 1, or what the network's file says"},
    {"precision", kText, "P", "tf32", "plan", "fp32, tf32, bf16 or fp16"},
    {"phase", kText, "forward|backward|train", "train", "plan",
     "what is repeated: the forward pass, the backward pass with the optimizer, or all"},
    {"fuse", kFlag, "", "false", "plan",
     "run element-wise layers inside the kernel before them, as compilers do"},
    {"switch-latency", kDuration, "T", "", "plan",
     "from asking for an SM clock until it acts; without it what the GPU's sheet says, late as one "
     "in ten comes"},
    {"switch-call", kDuration, "T", "0s", "plan",
     "what the GPU itself loses to each request; nothing where another thread makes it"},
    {"switch-rate", kNumber, "N", "0", "plan",
     "requests a second at most; 0: as many as the latency allows"},
    {"calibrate", kText, "F.csv", "", "plan",
     "fit the kernels' efficiencies to measured layers: model, precision, layer, type, in_shape, "
     "out_shape, params, fwd_us, bwd_us"},
    {"layers", kFlag, "", "false", "plan", "show every layer, not only the longest"},
    {"page", kText, "F.html", "", "plan",
     "write roofline, timeline and time against energy to this page"},
    {"host-watts", kNumber, "W", "0", "evaluate predict simulate run attach",
     "what the rest of the node draws while the job runs"},
    {"power-budget", kNumber, "W", "", "evaluate predict simulate run attach",
     "mean power the kept Setting may not exceed"},
    {"iterations", kInteger, "N", "5000", "evaluate simulate run attach",
     "length of the job; without it simulate takes the workload's own, and run and attach guess"},
    {"effects", kNumber, "X", "1", "simulate sweep",
     "scale of the effects that no policy models: 1 as on real cards, 2 doubled, 0 off"},
    {"text", kFlag, "", "false", "report",
     "print the summary of each run of the log instead of making a page", false},
    {"out", kText, "FILE", "", "learn sweep report",
     "write the trained model (learn), the table (sweep, which goes on where FILE.journal ends) or "
     "the page (report; without it beside its log) to this file"},
    {"grid", kText, "GRID", "sm=16", "sweep",
     "which Settings: sm=16 (so many SM clocks, evenly), sm=all,mem=all, sm=1500/1200, limit=4"},
    {"name", kText, "NAME", "", "sweep",
     "what the job is called in the table; without it its command line, or the workload"},
    {"warm-up", kDuration, "T", "10s", "sweep", "at the default before anything is measured"},
    {"settle", kDuration, "T", "2s", "sweep", "at a new Setting before it is measured"},
    {"window", kDuration, "T", "", "sweep",
     "how long a Setting is measured; without it as the scatter of iterations asks for, 4s to 30s"},
    {"end-job", kFlag, "", "false", "sweep",
     "end the job (SIGTERM) once everything is measured; without it it runs on at the default"},
    {"kind", kText, "boosted|analytic|joined", "boosted", "learn",
     "gradient-boosted trees, a linear form of few features, or the mean of both"},
    {"model", kText, "MODEL", "", "predict evaluate run attach",
     "the model to ask, as learn has written it; evaluate: one that has not seen these sweeps, for "
     "policies to start from in place of the judge's guess, or 'none' for neither; run, attach: "
     "models/predictor.json without it"},
    {"check", kText, "F.csv", "", "predict",
     "compare with what this sweep has measured, rows at 0.6 of the default SM clock or more"},
    {"time-noise", kFraction, "X", "1%", "evaluate",
     "relative standard deviation of one window's time"},
    {"power-noise", kFraction, "X", "1%", "evaluate",
     "relative standard deviation of one window's power"},
    {"drift", kFraction, "X", "0", "evaluate", "slow relative drift of the time per iteration"},
    {"repeat", kInteger, "K", "3", "evaluate simulate",
     "runs of each policy on each curve; with --gpus, of each job on the same cards (one without "
     "it)"},
    {"controller", kFlag, "", "false", "evaluate",
     "play the whole Controller in virtual time, not the policy alone"},
    {"curves", kText, "F.csv", "", "evaluate",
     "judge only the curves listed here by set (the sweep's folder), gpu and workload"},
    {"knobs", kList, "sm,mem,limit", "", "evaluate predict simulate run attach",
     "knobs that may move; without it all that the sweep moved (evaluate), sm (predict), sm,mem "
     "(simulate, run, attach)"},
};

// Command names separated by blanks.
bool names_command(std::string_view commands, std::string_view command) {
  while (!commands.empty()) {
    const std::size_t end = std::min(commands.find(' '), commands.size());
    if (commands.substr(0, end) == command) return true;
    commands.remove_prefix(std::min(end + 1, commands.size()));
  }
  return false;
}

}  // namespace

std::span<const OptionSpec> option_table() {
  return kTable;
}

std::vector<OptionSpec> options_of(std::string_view command) {
  std::vector<OptionSpec> specs;
  std::ranges::copy_if(kTable, std::back_inserter(specs), [&](const OptionSpec& spec) {
    return names_command(spec.commands, command);
  });
  return specs;
}

std::string options_markdown() {
  std::string out =
      "# Options\n\n"
      "This page is made by `hypermile --options-markdown`, and a test keeps it in step with the "
      "program.\n\n"
      "Every option can also stand in a TOML configuration file: `--config F.toml`, or\n"
      "`$XDG_CONFIG_HOME/hypermile/config.toml` if that exists. Keys at the top of the file apply "
      "to every\n"
      "command that has the option. Keys in a table named after a command apply to that command "
      "alone.\n"
      "Most options can also stand in the environment: `HYPERMILE_MAX_SLOWDOWN` is "
      "`--max-slowdown`, and\n"
      "flags are `true` or `false`. The command line wins over the environment, and the "
      "environment over the\n"
      "file. An error message about a value says where the value came from.\n\n"
      "```toml\nseed = 7\n\n[evaluate]\nmax-slowdown = \"2%\"\n```\n\n"
      "| option | commands | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const OptionSpec& spec : kTable) {
    out += fmt::format(
        "| `--{}{}{}` | {} | {} | {} |\n", spec.name, spec.value.empty() ? "" : " ", spec.value,
        spec.commands, spec.fallback.empty() ? "" : fmt::format("`{}`", spec.fallback),
        fmt::format("{}{}", spec.help, spec.in_environment ? "" : " (not in the environment)"));
  }
  return out;
}

}  // namespace hypermile
