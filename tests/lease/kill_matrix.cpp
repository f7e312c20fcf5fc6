// SPDX-License-Identifier: Apache-2.0
//
// Kills client, guardian and daemon at every step of a lease, on the NVML stand-in, and checks that
// the GPU is restored: `kill_matrix HYPERMILED STAND_IN [--runs N
// --every STRIDE] [--seed S] [--jobs J] [--case C]`. --runs makes N random runs, half before a
// random system call of the victim and half at a random instant; --every tries each case at every
// STRIDEth step. Exits 0 if no change was left, 77 if this machine does not allow the test.
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "kill_case.h"

namespace hypermile {
namespace {

struct Options {
  KillWorld::Programs programs;
  int runs = 100;
  int every = 0;
  std::uint64_t seed = 1;
  int jobs = 2;
  int only = -1;  // run only this case
};

struct Planned {
  int which = 0;
  Moment moment;
};

// One line for each run, short enough for a pipe to take in one piece.
struct Line {
  int which = 0;
  int step = 0;
  double at_s = 0;
  double took_s = 0;
  char changed = 0, struck = 0, left = 0, restored = 0, late = 0, by_next_start = 0;
  int tries_late = 0;
  char trouble[96] = {};
};

Line line_of(const Planned& planned, const KillResult& result) {
  Line line;
  line.which = planned.which;
  line.step = planned.moment.step;
  line.at_s = planned.moment.at.value_or(Seconds(-1)).value();
  line.took_s = result.took.value_or(Seconds(-1)).value();
  line.changed = result.changed;
  line.struck = result.struck;
  line.left = result.left;
  line.restored = result.restored;
  line.late = result.late;
  line.tries_late = result.tries_late;
  line.by_next_start = result.by_next_start;
  result.trouble.copy(line.trouble, sizeof line.trouble - 1);
  return line;
}

// How many steps a victim takes, counted in an undisturbed run.
std::vector<int> count_steps(const Options& options) {
  std::vector<int> steps;
  for (const KillCase& which : kKillCases) {
    const KillResult result = run_case(which, Moment{1 << 30, {}}, options.programs);
    if (!result.changed || !result.restored) {
      std::cerr << which.name << ": " << result.trouble << "\n";
      std::exit(1);
    }
    steps.push_back(result.steps);
  }
  return steps;
}

std::vector<Planned> plan(const Options& options, const std::vector<int>& steps) {
  std::vector<Planned> all;
  const int cases = static_cast<int>(kKillCases.size());
  if (options.every > 0) {
    for (int which = 0; which < cases; ++which) {
      if (options.only >= 0 && which != options.only) continue;
      const int most = steps[static_cast<std::size_t>(which)];
      for (int step = 0; step < most; step += options.every) all.push_back({which, {step, {}}});
    }
    return all;
  }
  Random random(options.seed);
  for (int run = 0; run < options.runs; ++run) {
    const int which = options.only >= 0 ? options.only : run % cases;
    const bool needs_tracer = kKillCases[static_cast<std::size_t>(which)].blow == Blow::kFullDisk;
    const double share = random.uniform();
    Moment moment;
    if (random.uniform() < 0.5 && !needs_tracer) {
      moment.at = milliseconds(60 * share);
    } else {
      moment.step = static_cast<int>(share * steps[static_cast<std::size_t>(which)]);
    }
    all.push_back({which, moment});
  }
  return all;
}

void work(const Options& options, const std::vector<Planned>& all, int worker, int out) {
  for (std::size_t i = static_cast<std::size_t>(worker); i < all.size();
       i += static_cast<std::size_t>(options.jobs)) {
    const KillCase& which = kKillCases[static_cast<std::size_t>(all[i].which)];
    const Line line = line_of(all[i], run_case(which, all[i].moment, options.programs));
    if (::write(out, &line, sizeof line) != sizeof line) ::_exit(1);
  }
}

struct Totals {
  int runs = 0, struck = 0, left = 0, unchanged = 0, left_changed = 0, late = 0, tries_late = 0;
  std::map<int, int> per_case;
  std::vector<double> alive_s, start_s;
};

void add(Totals& totals, const Line& line) {
  ++totals.runs;
  ++totals.per_case[line.which];
  totals.struck += line.struck;
  totals.left += line.left;
  totals.unchanged += line.changed ? 0 : 1;
  if (line.left) {
    (line.by_next_start ? totals.start_s : totals.alive_s).push_back(line.took_s);
  }
  totals.tries_late += line.tries_late;
  if (line.changed && line.restored && !line.late) return;
  totals.late += line.late;
  totals.left_changed += line.changed && !line.restored ? 1 : 0;
  std::cout << fmt::format("FAILED {}, step {}, at {:.4f} s, took {:.3f} s: {}\n",
                           kKillCases[static_cast<std::size_t>(line.which)].name, line.step,
                           line.at_s, line.took_s, line.trouble)
            << std::flush;
}

std::string spread(std::vector<double> seconds) {
  if (seconds.empty()) return "none";
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](double share) {
    return 1e3 * seconds[static_cast<std::size_t>(share * static_cast<double>(seconds.size() - 1))];
  };
  return fmt::format("median {:.1f} ms, p99 {:.1f} ms, longest {:.1f} ms ({} runs)", at(0.5),
                     at(0.99), at(1), seconds.size());
}

int report(const Totals& totals, const std::vector<int>& steps) {
  for (const auto& [which, runs] : totals.per_case) {
    const auto index = static_cast<std::size_t>(which);
    std::cout << fmt::format("{:<36} {:>6} runs, {:>5} steps\n", kKillCases[index].name, runs,
                             steps[index]);
  }
  std::cout << fmt::format(
      "{} runs, {} struck in time; {} without a change before the blow, {} with one still there "
      "after it; {} left changed\n"
      "late: {} runs, {} tries\n"
      "restored with a daemon or guardian alive: {}\n"
      "restored by the next start: {}\n",
      totals.runs, totals.struck, totals.unchanged, totals.left, totals.left_changed, totals.late,
      totals.tries_late, spread(totals.alive_s), spread(totals.start_s));
  return totals.left_changed + totals.unchanged + totals.late == 0 ? 0 : 1;
}

int run(const Options& options) {
  if (::geteuid() != 0) {
    std::cout << "skipped: daemon and guardian are started as root\n";
    return 77;
  }
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return 1;
  const std::vector<int> steps = count_steps(options);
  const std::vector<Planned> all = plan(options, steps);
  std::vector<pid_t> workers;
  for (int worker = 0; worker < options.jobs; ++worker) {
    const pid_t process = ::fork();
    if (process == 0) {
      ::close(ends[0]);
      work(options, all, worker, ends[1]);
      ::_exit(0);
    }
    workers.push_back(process);
  }
  ::close(ends[1]);
  Totals totals;
  for (Line line; ::read(ends[0], &line, sizeof line) == sizeof line;) {
    add(totals, line);
    if (totals.runs % 500 == 0) std::cout << totals.runs << " of " << all.size() << std::endl;
  }
  bool in_order = totals.runs == static_cast<int>(all.size());
  for (const pid_t worker : workers) {
    int status = 0;
    ::waitpid(worker, &status, 0);
    if (status != 0) std::cout << fmt::format("a worker ended with status {:#x}\n", status);
    in_order = in_order && status == 0;
  }
  return report(totals, steps) == 0 && in_order ? 0 : 1;
}

}  // namespace
}  // namespace hypermile

int main(int argc, char** argv) {
  hypermile::Options options;
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2 || words.size() % 2 != 0) {
    std::cerr << "usage: kill_matrix HYPERMILED STAND_IN [--runs N | --every STRIDE] [--seed S] "
                 "[--jobs J] [--case C]\n";
    return 2;
  }
  options.programs = {words[0], words[1]};
  for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
    const int value = std::atoi(words[i + 1].c_str());
    if (words[i] == "--runs") options.runs = value;
    if (words[i] == "--every") options.every = value;
    if (words[i] == "--seed") options.seed = static_cast<std::uint64_t>(value);
    if (words[i] == "--case") options.only = value;
    if (words[i] == "--jobs") options.jobs = std::max(1, value);
  }
  // Guardians leave every control group; they shall not leave the one that confines this program.
  ::unshare(CLONE_NEWCGROUP);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // the client may be gone when something is written to it
  return hypermile::run(options);
}
