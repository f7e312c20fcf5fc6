// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>

namespace hypermile {
namespace {

using enum OptionKind;

constexpr OptionSpec kTable[] = {
    {"json", kFlag, "", "false",
     "doctor monitor counters run attach sweep detect demo evaluate learn predict "
     "simulate plan leases reset report serve list history compare statement",
     "print one JSON document on stdout; everything else goes to stderr"},
    {"gpu", kText, "G", "", "run attach sweep",
     "which GPU: its index, UUID or PCI address, sim:NAME or "
     "replay:FILE#gpu/workload[/phase]; without it: the GPUs that the job uses"},
    {"gpu", kText, "G", "", "counters",
     "which GPU: its index, UUID or PCI address, sim:NAME or "
     "replay:FILE#gpu/workload[/phase]; without it: the first GPU visible to CUDA"},
    {"gpu", kText, "G", "", "doctor monitor",
     "which GPU: its index, UUID or PCI address, sim:NAME or "
     "replay:FILE#gpu/workload[/phase]; without it: every GPU"},
    {"gpu", kText, "G", "", "simulate",
     "which GPU: its index, UUID or PCI address, sim:NAME or "
     "replay:FILE#gpu/workload[/phase]; without it: sim:rtx3080ti"},
    {"gpu", kText, "G", "", "plan", "the name of a simulated GPU, as sim:a4000 or a4000"},
    {"gpu", kText, "G", "", "reset", "which GPU: its index, UUID or PCI address"},
    {"pid", kInteger, "N", "", "attach sweep", "a process of a job that already runs", false},
    {"rings", kText, "FOLDER", "", "attach",
     "the folder in which the job leaves its ticks, if its environment did not name the "
     "folder when it started",
     false},
    {"observe", kFlag, "", "false", "run attach", "only watch; nothing is changed on any GPU"},
    {"counters", kFlag, "", "false", "run attach sweep simulate",
     "read performance counters while features are collected: through CUPTI in a separate "
     "process, which needs the right to profile, or those of a simulated GPU; on by itself "
     "for gpoeo and gpoeo-published"},
    {"from", kText, "cupti|nvml", "cupti", "counters",
     "where counters come from: performance counters through CUPTI, which needs the right "
     "to profile, or the activity counters of NVML (Hopper and newer)"},
    {"dry-run", kFlag, "", "false", "run attach",
     "print what would be done, and with which rights; run and change nothing", false},
    {"cache", kText, "F.json", "default", "run attach",
     "the file in which it is remembered what was found for the job: its next run begins there, "
     "after measuring it again; 'default' is $XDG_CACHE_HOME/hypermile/jobs.json, 'no' "
     "remembers nothing"},
    {"cache", kText, "F.json", "no", "simulate",
     "with --gpus: remember in this file what was found for the job, and begin its next run there; "
     "'default' is the file of run and attach"},
    {"nvtx-step", kText, "NAME", "", "run sweep", "an iteration is one NVTX range of this name",
     false},
    {"nodes-from", kText, "torchrun", "", "run",
     "the command is torchrun on one of several hosts: hypermile-agent runs it, and the agents "
     "of all hosts decide together",
     false},
    {"secret-file", kText, "F", "", "run",
     "with --nodes-from: a file of mode 0600 with the same 16 random bytes or more on all hosts; "
     "without it agents listen on the loopback alone"},
    {"node", kText, "HOST", "", "leases",
     "show the leases of another node, through ssh or what $HYPERMILE_REMOTE names (for example "
     "'srun --overlap --nodes=1 -w')",
     false},
    {"summary", kText, "F.json", "", "run attach",
     "write the summary of the run to this file as JSON"},
    {"live", kFlag, "", "false", "run attach",
     "renew the status line in place, even where the job itself writes to the terminal"},
    {"quiet", kFlag, "", "false", "run attach sweep", "show no live line and no summary on stderr"},
    {"launches", kText, "F.csv[.gz]", "", "detect",
     "a recording of kernel launches: columns t_s and kernel, optionally blocks and stream", false},
    {"nvml", kText, "F.csv", "", "detect",
     "a recording of the sensors of NVML: columns t_s and power_instant_mw, optionally "
     "energy_mj, util_gpu and util_mem; or columns kind, t_s and value",
     false},
    {"all", kFlag, "", "false", "reset",
     "reset every GPU and end every lease; the daemon grants no new lease until --reopen", false},
    {"reopen", kFlag, "", "false", "reset",
     "let the daemon grant leases again after --all, also to those whom --gpu took a GPU from",
     false},
    {"for", kDuration, "T", "", "reset",
     "how long no process of the user who held the GPU gets it again; without it, the process that "
     "held it does not for as long as it runs",
     false},
    {"workload", kList, "W[,W…]", "resnet50", "simulate sweep",
     "simulated jobs, named as their files in workloads/, or a group of them: all (the suite), "
     "paper "
     "(the suite's jobs after the two suites of GPOEO's paper), field (jobs as they were met in "
     "the "
     "field, outside the suite); sweep takes one job"},
    {"progress", kText, "ticks|launches", "ticks", "simulate",
     "how iterations are counted: by exact ticks of the framework, or by finding them in "
     "the stream of kernel launches"},
    {"realtime", kFlag, "", "false", "simulate",
     "train in real time on a GPU of the NVML stand-in; --gpu is its index there"},
    {"ranks", kInteger, "N", "", "simulate",
     "with --realtime: a job of N processes, each on its own GPU (from --gpu on), that "
     "wait for the slowest before every iteration",
     true, 1024},
    {"ticks", kFlag, "", "false", "simulate",
     "with --realtime: print a line \"N SECONDS\" at the end of each iteration"},
    {"paced", kFlag, "", "false", "simulate",
     "with --realtime: run one iteration for each line on standard input, and print its tick; for "
     "a "
     "rank that waits for ranks on other machines"},
    {"status", kFlag, "", "false", "simulate",
     "print the GPUs of the NVML stand-in with their locks, limits and clocks"},
    {"gpus", kInteger, "N", "", "simulate",
     "simulate one job on N GPUs that wait for each other, under the whole controller", true, 1024},
    {"gpus", kInteger, "N", "", "plan", "GPUs that exchange gradients", true, 1024},
    {"imbalance", kFraction, "X", "0", "simulate",
     "with --gpus: how much less work the GPU with least work has than the one with most"},
    {"steady", kFlag, "", "false", "run attach simulate evaluate",
     "keep one setting instead of sharing the job's time between two"},
    {"guard", kFlag, "", "false", "simulate evaluate",
     "keep every policy within the bound as hypermile keeps its own"},
    {"no-slack", kFlag, "", "false", "simulate",
     "with --gpus: give all GPUs the same setting, even those that wait for others"},
    {"seconds", kDuration, "T", "", "monitor",
     "stop after this time; without it: when it is interrupted"},
    {"seconds", kDuration, "T", "", "counters", "stop after this time; without it: after 10s"},
    {"seconds", kDuration, "T", "", "simulate",
     "with --realtime: stop after this time; without it: after 10s"},
    {"interval", kDuration, "T", "1s", "monitor counters",
     "time between two lines; where it is given, counters --json prints its document once "
     "per interval"},
    {"try", kFlag, "", "false", "doctor",
     "move each knob that the card lists by one step under a lease, read it back and give it back, "
     "within 15 s, and print facts for a report",
     false},
    {"yes", kFlag, "", "false", "doctor", "agree to --try without being asked", false},
    {"watch", kDuration, "T", "1.5s", "doctor",
     "how long to watch the sensors to find out how often they change"},
    {"log", kText, "F.jsonl", "", "monitor run attach sweep demo simulate",
     "append what happens to this event log"},
    {"report", kText, "F.html", "", "run attach sweep demo",
     "write a report of the run to this HTML file, which needs no network", false},
    {"serve", kAddress, "[ADDR:PORT]", "", "run attach sweep",
     "show a page of the run, and /metrics, while the run lasts; at 127.0.0.1:9487 unless "
     "an address is given",
     false},
    {"listen", kText, "ADDR:PORT", kUsualAddress, "serve",
     "the address to serve at; port 0 takes any free port; an address that other machines "
     "can reach needs --token-file"},
    {"token-file", kText, "F", "", "serve run attach sweep",
     "a file of mode 600; browsers must show the token in its first line"},
    {"seed", kInteger, "N", "1", "monitor sweep demo evaluate learn simulate",
     "seed of all random numbers"},
    {"policy", kList, "P", "hypermile", "run attach",
     "the policy to follow: hypermile's own, a published one such as gpoeo (Wang et al., TPDS "
     "2022), or one setting such as fixed:sm=1410; 'hypermile list policies' names them all"},
    {"policy", kList, "P[,P…]", "hypermile", "evaluate simulate",
     "the policies to judge, or 'all'; 'hypermile list policies' names them"},
    {"max-slowdown", kSlowdown, "S", "5%", "evaluate predict simulate plan run attach",
     "how much slower the job may get: 5%, 0.05 or 1.05 (up to 1.5); 0 means no measurable "
     "slowdown (0.5 %)"},
    {"objective", kText, "O", "energy", "evaluate predict simulate run attach",
     "what to minimise: energy within --max-slowdown, edp (energy times time), ed2p "
     "(energy times time squared), cost:ETA (ETA from 0 to 1 weighs energy against time) or "
     "performance:SAVE% (the fastest setting that saves so much energy)"},
    {"batch", kInteger, "N", "", "plan sweep",
     "examples in one iteration; without it: 1, or what the file of the network says", true,
     1'000'000},
    {"precision", kText, "P", "tf32", "plan sweep",
     "number format of the network: fp32, tf32, bf16 or fp16"},
    {"phase", kText, "forward|backward|train", "train", "plan",
     "what is repeated: the forward pass, the backward pass with the optimizer, or both"},
    {"fuse", kFlag, "", "false", "plan",
     "run element-wise layers inside the kernel before them, as compilers do"},
    {"switch-latency", kDuration, "T", "", "plan",
     "time from a request for an SM clock until the clock changes; without it: the time "
     "that nine in ten switches of this GPU keep to"},
    {"switch-call", kDuration, "T", "0s", "plan",
     "time that the GPU itself loses to each request; 0 where another thread makes the "
     "request"},
    {"switch-rate", kNumber, "N", "0", "plan",
     "most requests in a second; 0: as many as the latency allows"},
    {"calibrate", kText, "F.csv", "", "plan",
     "fit the efficiencies of the kernels to measured layers; columns model, precision, "
     "layer, type, in_shape, out_shape, params, fwd_us, bwd_us"},
    {"measured", kText, "F.csv", "", "plan",
     "let layers decide that hypermile.profile_layers() measured at one or several settings"},
    {"accumulate", kInteger, "N", "1", "plan", "micro-batches before each update"},
    {"checkpoint", kInteger, "N", "0", "plan",
     "with activation checkpointing: the number of parts that run their forward pass again"},
    {"link", kNumber, "GB/s", "25", "plan",
     "what each of several GPUs sends in a second while gradients are exchanged"},
    {"layers", kFlag, "", "false", "plan", "show every layer, not only the longest"},
    {"layers", kFlag, "", "false", "sweep", "measure single layers, for plan --measured"},
    {"page", kText, "F.html", "", "plan",
     "write roofline, timeline and time against energy to this HTML file"},
    {"host-watts", kNumber, "W", "0", "evaluate predict simulate run attach",
     "power that the rest of the machine draws while the job runs, in W"},
    {"price", kPrice, "P", "", "run attach statement",
     "what electricity costs, such as 0.30EUR/kWh; summaries then tell money beside joules"},
    {"carbon", kCarbon, "C", "", "run attach statement",
     "what electricity emits: such as 380g/kWh, or a country of carbon/intensity.csv such as FR; "
     "summaries then tell CO2e beside joules"},
    {"history", kText, "F.jsonl", "default", "run attach",
     "the file in which this run is remembered; 'default' is "
     "$XDG_STATE_HOME/hypermile/history.jsonl, 'no' remembers nothing"},
    {"history", kText, "F.jsonl", "default", "history compare",
     "the file in which runs are remembered; 'default' is "
     "$XDG_STATE_HOME/hypermile/history.jsonl"},
    {"power-budget", kNumber, "W", "", "evaluate predict simulate run attach",
     "mean power that the chosen setting may not exceed, in W"},
    {"iterations", kInteger, "N", "", "run attach",
     "length of the job; without it: guessed as the job runs", true, 1'000'000'000'000},
    {"iterations", kInteger, "N", "", "simulate",
     "length of each job; without it: as its workload file has it", true, 1'000'000'000'000},
    {"iterations", kInteger, "N", "5000", "evaluate", "length of each job", true,
     1'000'000'000'000},
    {"effects", kNumber, "X", "1", "simulate sweep",
     "scale of the effects that no policy models: 1 as on real cards, 2 doubled, 0 off"},
    {"text", kFlag, "", "false", "report",
     "print the summary of each run in the log instead of writing a page", false},
    {"csv", kFlag, "", "false", "history", "print all runs as CSV", false},
    {"last", kInteger, "N", "20", "history", "how many runs to list, the newest ones"},
    {"out", kText, "FILE", "", "learn", "the file for the trained model"},
    {"out", kText, "FILE", "", "sweep",
     "the file for the table; an interrupted sweep goes on from FILE.journal"},
    {"out", kText, "FILE", "", "report", "the page to write; without it: beside the log"},
    {"out", kText, "FILE", "", "statement", "the file to write; without it: standard output"},
    {"grid", kText, "GRID", "sm=16", "sweep",
     "which settings to measure: sm=16 (sixteen SM clocks, evenly spaced), "
     "sm=all,mem=all, sm=1500/1200, limit=4"},
    {"name", kText, "NAME", "", "sweep",
     "name of the job in the table; without it: its command line, or its workload"},
    {"warm-up", kDuration, "T", "10s", "sweep",
     "time at the default clocks before anything is measured"},
    {"settle", kDuration, "T", "2s", "sweep", "time at a new setting before it is measured"},
    {"window", kDuration, "T", "", "sweep",
     "how long each setting is measured; without it, 4s to 30s, longer where iterations "
     "scatter more"},
    {"end-job", kFlag, "", "false", "sweep",
     "end the job (SIGTERM) once everything is measured; without it, the job runs on at "
     "the default clocks"},
    {"kind", kText, "boosted|analytic|joined", "boosted", "learn",
     "gradient-boosted trees, a linear model of few features, or the mean of both"},
    {"model", kText, "MODEL", "", "run attach",
     "a model that learn has written; without it: models/predictor.json"},
    {"model", kText, "MODEL", "", "predict", "a model that learn has written"},
    {"model", kText, "MODEL", "", "evaluate simulate",
     "a model that learn has written, from which policies start; it must not have seen the sweeps "
     "or jobs that are judged; without it nobody predicts"},
    {"check", kText, "F.csv", "", "predict",
     "compare with what this sweep has measured, in rows at 0.6 of the default SM clock "
     "or more"},
    {"time-noise", kFraction, "X", "1%", "evaluate",
     "relative standard deviation of the time measured in one window"},
    {"power-noise", kFraction, "X", "1%", "evaluate",
     "relative standard deviation of the power measured in one window"},
    {"drift", kFraction, "X", "0", "evaluate", "slow relative drift of the time per iteration"},
    {"repeat", kInteger, "K", "3", "evaluate", "runs of each policy on each curve", true, 10'000},
    {"repeat", kInteger, "K", "", "simulate",
     "with --gpus: runs of each job on the same cards; without it: 1", true, 10'000},
    {"controller", kFlag, "", "false", "evaluate",
     "play the whole controller in virtual time, not the policy alone"},
    {"curves", kText, "F.csv", "", "evaluate",
     "judge only the curves listed in this file by set (the sweep's folder), gpu and "
     "workload"},
    {"knobs", kList, "sm,mem,limit", "", "run attach simulate",
     "the knobs that may move; without it: sm and mem"},
    {"knobs", kList, "sm,mem,limit", "", "evaluate",
     "the knobs that may move; without it: all that the sweep moved"},
    {"knobs", kList, "sm,mem,limit", "", "predict", "the knobs that may move; without it: sm"},
};

// `commands` are names separated by blanks.
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
