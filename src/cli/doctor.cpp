// SPDX-License-Identifier: Apache-2.0
//
// `hypermile doctor`: what this machine has and what is missing, each with a verdict and a fix. It
// changes nothing, except that it removes what killed runs have left in shared memory, and that
// --try moves knobs under a lease (knob_trial.h) once the user has agreed. Exits with 1
// where there is no GPU to work with.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/terminal_text.h"
#include "cli/command.h"
#include "cli/daemon_diagnosis.h"
#include "cli/diagnosis.h"
#include "cli/knob_trial.h"
#include "gpu/nvml/nvml_setters.h"
#include "inject/stale_rings.h"
#include "lease/protocol/socket_address.h"
#include "measure/sensor_probe.h"
#include "run/clock_access.h"
#include "run/find_cupti.h"
#include "run/gpu_access.h"

namespace hypermile {
namespace {

void print_gpu(const GpuDiagnosis& gpu, std::ostream& out) {
  out << fmt::format("\n{}{} ({})\n",
                     gpu.identity.index ? fmt::format("GPU {}: ", *gpu.identity.index) : "",
                     gpu.identity.name, gpu.identity.uuid.text());
  for (const DoctorFinding& finding : gpu.findings) out << "  " << to_lines(finding, 2) << "\n";
  constexpr std::size_t kNotes = 61;
  out << fmt::format("  {:<18} {:>18} {:>9} {:>9}\n", "sensor", "value", "changes", "call");
  for (const SensorReport& sensor : gpu.sensors) {
    out << fmt::format(
        "  {:<18} {:>18} {:>9} {:>9}{}\n", sensor.name, sensor.present ? sensor.value : "absent",
        sensor.refresh ? fmt::format("{:.1f} ms", sensor.refresh->value() * 1e3) : "-",
        sensor.cost ? fmt::format("{:.1f} µs", sensor.cost->value() * 1e6) : "-",
        sensor.note.empty() ? "" : "  " + wrapped(sensor.note, kNotes, kNotes));
  }
}

// The GPUs to look at, and what was found about the machine while opening them.
struct Patients {
  std::vector<OpenedGpu> gpus;
  std::vector<DoctorFinding> findings;
};

Result<Patients> find_patients(const OptionValues& options, CommandContext& context) {
  Patients patients;
  if (options.given("gpu")) {
    ASSIGN_OR_RETURN(OpenedGpu gpu, open_named_gpu(options.text("gpu"), context.clock, 1));
    patients.gpus.push_back(std::move(gpu));
    return patients;
  }
  Result<MachineGpus> machine = open_all_gpus(context.clock);
  if (!machine) {
    patients.findings.push_back(
        {"driver", DoctorVerdict::kFail, machine.error().message, machine.error().remedy});
    return patients;
  }
  patients.findings.push_back(
      {"driver", DoctorVerdict::kOk, fmt::format("NVIDIA driver {}", machine->driver_version), ""});
  for (const Error& problem : machine->problems) {
    patients.findings.push_back({"gpu", DoctorVerdict::kFail, problem.message, problem.remedy});
  }
  for (const std::string& note : machine->notes) {
    patients.findings.push_back({"cuda", DoctorVerdict::kWarn, note, ""});
  }
  patients.gpus = std::move(machine->gpus);
  return patients;
}

// The user's rights on these GPUs: where every one of them is barred, rights do not help.
ClockRights rights_on(const std::vector<OpenedGpu>& gpus, const ClockRights& rights) {
  if (gpus.empty()) return {false, "there is no GPU", "'hypermile demo' needs none"};
  for (const OpenedGpu& each : gpus) {
    if (each.gpu->capabilities().barrier == ControlBarrier::kNone) return rights;
  }
  const DoctorFinding barred = diagnose_control(gpus.front().gpu->capabilities(), rights);
  return {false, barred.detail, barred.fix};
}

// Removes folders in shared memory that killed runs have left.
void report_stale_rings(std::vector<DoctorFinding>& findings) {
  const std::size_t removed = remove_stale_rings();
  if (removed == 0) return;
  findings.push_back({"rings", DoctorVerdict::kOk,
                      removed == 1
                          ? "removed the folder that a killed run had left"
                          : fmt::format("removed {} folders that killed runs had left", removed),
                      ""});
}

// Asks on the terminal; scripts say --yes.
Result<void> ask_for_yes(const OptionValues& options, std::size_t gpus, CommandContext& context) {
  if (options.flag("yes")) return {};
  if (!somebody_can_answer()) {
    return Error{ErrorCode::kUsage, "nobody is here to agree that GPUs are changed",
                 "add --yes, or run it at a terminal"};
  }
  context.err << fmt::format(
      "This lowers each clock and the power limit of {} by one step, for at most 15 s\n"
      "each. A job there may run a little slower meanwhile. Go on? [y/N] ",
      counted(gpus, "GPU"));
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return {};
  return Error{ErrorCode::kUsage, "nothing was changed", "answer y to go on"};
}

Result<CardTrial> try_card(Gpu& gpu, Clock& clock) {
  const GpuIdentity& identity = gpu.identity();
  if (gpu.capabilities().barrier != ControlBarrier::kNone) {
    return Error{ErrorCode::kUnsupported,
                 identity.uuid.text() + " cannot be controlled: see 'hypermile doctor'"};
  }
  ClockAccess access = open_clock_access(somebody_can_answer());
  if (access.refused) return *access.refused;
  const bool guarded = access.guardian.has_value();
  if (guarded) return try_knobs(gpu, *std::move(access.guardian), true, clock);
  ASSIGN_OR_RETURN(DaemonConnection daemon, DaemonConnection::connect(default_socket_path()));
  return try_knobs(gpu, std::move(daemon), false, clock);
}

Result<void> run_trials(const CommandArguments& arguments, CommandContext& context) {
  if (read_only_mode()) {
    return Error{ErrorCode::kReadOnly, "HYPERMILE_READ_ONLY is set: no GPU may be changed",
                 "unset it on a machine whose GPUs you may change"};
  }
  ASSIGN_OR_RETURN(Patients patients, find_patients(arguments.options, context));
  for (const OpenedGpu& gpu : patients.gpus) {
    if (gpu.iterations) {
      return Error{ErrorCode::kUsage, "a simulated or replayed GPU has no setters to try",
                   "name a card, or none"};
    }
  }
  if (patients.gpus.empty()) {
    return Error{ErrorCode::kNotFound, "there is no GPU to try", "see 'hypermile doctor'"};
  }
  RETURN_IF_ERROR(ask_for_yes(arguments.options, patients.gpus.size(), context));
  nlohmann::json all = nlohmann::json::array();
  std::string failed;
  for (OpenedGpu& gpu : patients.gpus) {
    ASSIGN_OR_RETURN(const CardTrial trial, try_card(*gpu.gpu, context.clock));
    if (!arguments.options.flag("json")) context.out << to_text(trial) << std::flush;
    all.push_back(to_json(trial));
    if (!trial.held()) failed += (failed.empty() ? "" : ", ") + trial.identity.uuid.text();
  }
  if (arguments.options.flag("json")) {
    context.out << nlohmann::json{{"trials", std::move(all)}}.dump() << "\n";
  }
  if (failed.empty()) return {};
  return Error{ErrorCode::kNotReady, "not every knob did what it should on " + failed,
               "the lease has ended and the GPU is restored; please report the lines above"};
}

Result<void> run_doctor(const CommandArguments& arguments, CommandContext& context) {
  if (arguments.options.flag("try")) return run_trials(arguments, context);
  ASSIGN_OR_RETURN(Patients patients, find_patients(arguments.options, context));
  patients.findings.push_back(diagnose_cupti(find_cupti()));
  patients.findings.push_back(diagnose_host_energy(HostEnergy(powercap_folder())));
  DaemonDiagnosis daemon = diagnose_daemon();
  for (DoctorFinding& finding : daemon.findings) patients.findings.push_back(std::move(finding));
  report_stale_rings(patients.findings);
  const ClockRights rights = rights_on(patients.gpus, judge_rights(daemon.rights));
  std::vector<GpuDiagnosis> gpus;
  for (OpenedGpu& gpu : patients.gpus) {
    if (context.terminal) {
      context.err << fmt::format("watching the sensors of {} …\n", gpu.gpu->identity().name);
    }
    GpuDiagnosis diagnosis = diagnose_gpu(*gpu.gpu, rights);
    diagnosis.sensors =
        probe_sensors(*gpu.gpu, context.clock, arguments.options.duration("watch"), context.stop);
    gpus.push_back(std::move(diagnosis));
  }
  if (arguments.options.flag("json")) {
    context.out << diagnosis_json(patients.findings, gpus, rights).dump() << "\n";
  } else {
    for (const DoctorFinding& finding : patients.findings) {
      context.out << to_lines(finding, 0) << "\n";
    }
    for (const GpuDiagnosis& gpu : gpus) print_gpu(gpu, context.out);
    const std::string answer = to_line(rights);
    context.out << "\n" << (context.terminal ? wrapped(answer, 2, 0) : answer) << "\n";
  }
  if (!gpus.empty()) return {};
  for (const DoctorFinding& finding : patients.findings) {
    if (finding.verdict == DoctorVerdict::kFail) {
      return Error{ErrorCode::kNoDriver, "no GPU to work with: " + finding.detail, finding.fix};
    }
  }
  return Error{ErrorCode::kNotFound, "the driver knows no GPU",
               "check 'nvidia-smi -L' and the kernel log; without a GPU try 'hypermile demo'"};
}

}  // namespace

const Command kDoctorCommand = {
    "doctor",
    "say what this machine has: driver, GPUs, knobs, sensors, rights; with verdicts and fixes",
    "",
    "  hypermile doctor\n"
    "  hypermile doctor --gpu 0 --watch 3s\n"
    "  hypermile doctor --json\n"
    "  hypermile doctor --try --gpu 0     # moves each knob by one step and gives it back\n",
    run_doctor,
};

}  // namespace hypermile
