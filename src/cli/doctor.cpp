// SPDX-License-Identifier: Apache-2.0
//
// `hypermile doctor`: what this machine has and what is missing, each with a verdict and a fix. It
// changes nothing, except that it removes what killed runs have left in shared memory. Exits with 1
// where there is no GPU to work with.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/command.h"
#include "cli/daemon_diagnosis.h"
#include "cli/diagnosis.h"
#include "inject/stale_rings.h"
#include "measure/sensor_probe.h"
#include "run/find_cupti.h"
#include "run/gpu_access.h"

namespace hypermile {
namespace {

void print_gpu(const GpuDiagnosis& gpu, std::ostream& out) {
  out << fmt::format("\n{}{} ({})\n",
                     gpu.identity.index ? fmt::format("GPU {}: ", *gpu.identity.index) : "",
                     gpu.identity.name, gpu.identity.uuid.text());
  for (const DoctorFinding& finding : gpu.findings) out << "  " << to_line(finding) << "\n";
  out << fmt::format("  {:<19} {:>18} {:>12} {:>12}  {}\n", "sensor", "value", "changes", "call",
                     "");
  for (const SensorReport& sensor : gpu.sensors) {
    out << fmt::format(
        "  {:<19} {:>18} {:>12} {:>12}  {}\n", sensor.name,
        sensor.present ? sensor.value : "absent",
        sensor.refresh ? fmt::format("{:.1f} ms", sensor.refresh->value() * 1e3) : "-",
        sensor.cost ? fmt::format("{:.1f} µs", sensor.cost->value() * 1e6) : "-", sensor.note);
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

Result<void> run_doctor(const CommandArguments& arguments, CommandContext& context) {
  ASSIGN_OR_RETURN(Patients patients, find_patients(arguments.options, context));
  patients.findings.push_back(diagnose_cupti(find_cupti()));
  for (DoctorFinding& finding : diagnose_daemon()) patients.findings.push_back(std::move(finding));
  report_stale_rings(patients.findings);
  std::vector<GpuDiagnosis> gpus;
  for (OpenedGpu& gpu : patients.gpus) {
    if (context.terminal) {
      context.err << fmt::format("watching the sensors of {} …\n", gpu.gpu->identity().name);
    }
    GpuDiagnosis diagnosis = diagnose_gpu(*gpu.gpu);
    diagnosis.sensors =
        probe_sensors(*gpu.gpu, context.clock, arguments.options.duration("watch"), context.stop);
    gpus.push_back(std::move(diagnosis));
  }
  if (arguments.options.flag("json")) {
    context.out << diagnosis_json(patients.findings, gpus).dump() << "\n";
  } else {
    for (const DoctorFinding& finding : patients.findings) context.out << to_line(finding) << "\n";
    for (const GpuDiagnosis& gpu : gpus) print_gpu(gpu, context.out);
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
    "  hypermile doctor --json\n",
    run_doctor,
};

}  // namespace hypermile
