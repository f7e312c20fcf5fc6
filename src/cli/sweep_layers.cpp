// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_layers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <ostream>

#include "base/whole_file.h"
#include "gpu/gpu_name.h"
#include "gpu/setting_grid.h"
#include "plan/network_file.h"
#include "plan/simulated_profile.h"
#include "run/gpu_access.h"
#include "trial/sweeping/sweep_grid.h"

namespace hypermile {
namespace {

constexpr double kNoise = 0.01;  // relative, of a simulated measurement

// In the environment of the command; python/hypermile/profile.py reads them.
constexpr const char* kSettingsVariable = "HYPERMILE_LAYERS_SETTINGS";
constexpr const char* kFileVariable = "HYPERMILE_LAYERS_OUT";
constexpr const char* kGpuVariable = "HYPERMILE_LAYERS_GPU";

Result<void> sweep_simulated_layers(const OptionValues& options, const std::string& model,
                                    const std::string& name, std::ostream& out) {
  const std::string path = options.text("out");
  if (std::filesystem::exists(path)) {
    return Error{ErrorCode::kUsage, path + " exists already", "give --out another name"};
  }
  ASSIGN_OR_RETURN(const GpuSheet sheet, load_gpu_sheet(model));
  const auto batch =
      options.given("batch") ? std::optional<std::int64_t>(options.integer("batch")) : std::nullopt;
  ASSIGN_OR_RETURN(const Network network, open_network(name, batch));
  SimulatedProfile how;
  ASSIGN_OR_RETURN(how.precision, parse_precision(options.text("precision")));
  ASSIGN_OR_RETURN(const SweepGrid grid, SweepGrid::parse(options.text("grid")));
  ASSIGN_OR_RETURN(how.settings, grid.choose(offered_settings(network, sheet, how.precision)));
  how.settings.insert(how.settings.begin(), Setting{});
  how.noise = kNoise;
  how.seed = static_cast<std::uint64_t>(options.integer("seed"));
  RETURN_IF_ERROR(write_whole_file(path, simulated_profile(network, sheet, how)));
  out << fmt::format("{}: layers of {} at {} settings, simulated\n", path, network.name,
                     how.settings.size());
  return {};
}

// The grid of a real card, as profile_layers() takes it.
Result<std::string> settings_of_card(const OptionValues& options, CommandContext& context) {
  const std::string name = options.given("gpu") ? options.text("gpu") : "0";
  ASSIGN_OR_RETURN(const OpenedGpu card, open_named_gpu(name, context.clock, 1));
  const Capabilities& capabilities = card.gpu->capabilities();
  Setting highest;
  if (!capabilities.sm_clocks.empty()) highest.sm_clock = capabilities.sm_clocks.front();
  if (!capabilities.memory_clocks.empty()) {
    highest.memory_clock = capabilities.memory_clocks.front();
  }
  ASSIGN_OR_RETURN(const SweepGrid grid, SweepGrid::parse(options.text("grid")));
  const std::vector<Knob> knobs = grid.knobs();
  ASSIGN_OR_RETURN(const std::vector<Setting> chosen,
                   grid.choose(setting_grid(capabilities, highest, knobs)));
  std::string text = "default";
  for (const Setting& setting : chosen) {
    if (!setting.empty()) text += ";" + to_string(setting);
  }
  return text;
}

}  // namespace

Result<void> sweep_layers(const CommandArguments& arguments, CommandContext& context) {
  const OptionValues& options = arguments.options;
  if (arguments.positional.empty()) {
    return Error{ErrorCode::kUsage, "sweep --layers needs a network or a command",
                 "give a network with --gpu sim:NAME, or after -- a command that calls "
                 "hypermile.profile_layers()"};
  }
  ASSIGN_OR_RETURN(const GpuName name,
                   parse_gpu_name(options.given("gpu") ? options.text("gpu") : "0"));
  if (const auto* simulated = std::get_if<SimulatedGpu>(&name)) {
    if (arguments.positional.size() > 1) {
      return Error{
          ErrorCode::kUsage,
          fmt::format("sweep --layers takes one network on a simulated card, not also '{}'",
                      arguments.positional[1]),
          "give options before --"};
    }
    return sweep_simulated_layers(options, simulated->model, arguments.positional.front(),
                                  context.out);
  }
  ASSIGN_OR_RETURN(const std::string settings, settings_of_card(options, context));
  setenv(kSettingsVariable, settings.c_str(), 1);
  setenv(kFileVariable, options.text("out").c_str(), 1);
  setenv(kGpuVariable, options.given("gpu") ? options.text("gpu").c_str() : "0", 1);
  std::vector<char*> words;
  for (const std::string& word : arguments.positional) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  context.out.flush();
  execvp(words.front(), words.data());
  return Error{
      ErrorCode::kNotFound,
      fmt::format("{} cannot be started: {}", arguments.positional.front(), std::strerror(errno)),
      "check the command after --"};
}

}  // namespace hypermile
