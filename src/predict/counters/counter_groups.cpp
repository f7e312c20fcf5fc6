// SPDX-License-Identifier: Apache-2.0
#include "predict/counters/counter_groups.h"

#include <fmt/format.h>

#include <algorithm>

namespace hypermile {
namespace {

Error does_not_fit(const std::string& why) {
  return Error{ErrorCode::kUnsupported, why};
}

// A group with one more form; nullptr where the chip cannot sample them together.
std::unique_ptr<CounterHost> with(const CounterLibrary& library, const std::string& chip,
                                  const std::vector<std::uint8_t>& availability,
                                  std::vector<CounterForm> forms, const CounterForm& one_more) {
  forms.push_back(one_more);
  auto host = CounterHost::open(library, chip, availability);
  if (!host || !(*host)->take(std::move(forms))) return nullptr;
  return std::move(*host);
}

}  // namespace

CounterHost::~CounterHost() {
  if (host_ == nullptr) return;
  auto params = pm::fresh<pm::HostDeinitialize>();
  params.host = host_;
  library_.host_deinitialize(&params);
}

Result<std::unique_ptr<CounterHost>> CounterHost::open(
    const CounterLibrary& library, const std::string& chip,
    const std::vector<std::uint8_t>& availability) {
  std::unique_ptr<CounterHost> host(new CounterHost(library));
  auto params = pm::fresh<pm::HostInitialize>();
  params.type = pm::kPmSampling;
  params.chip = chip.c_str();
  params.availability = availability.empty() ? nullptr : availability.data();
  int code = library.host_initialize(&params);
  if (code == pm::kInvalidParameter) {
    params.size = sizeof params;
    code = library.host_initialize(&params);
  }
  if (code != pm::kSuccess) {
    return counter_error("cuptiProfilerHostInitialize", code).in(chip);
  }
  host->host_ = params.host;
  return host;
}

Result<void> CounterHost::take(std::vector<CounterForm> forms) {
  forms_ = std::move(forms);
  for (const CounterForm& form : forms_) {
    names_.push_back(form.metric);
    if (form.added != nullptr) names_.push_back(form.added);
  }
  auto add = pm::fresh<pm::AddMetrics>();
  add.host = host_;
  add.names = names_.data();
  add.count = names_.size();
  if (library_.add_metrics(&add) != pm::kSuccess) return does_not_fit("the chip lacks a metric");
  auto size = pm::fresh<pm::ConfigSize>();
  size.host = host_;
  if (library_.config_size(&size) != pm::kSuccess) return does_not_fit("no configuration");
  config_.resize(size.config_size);
  auto image = pm::fresh<pm::ConfigImage>();
  image.host = host_;
  image.config_size = config_.size();
  image.config = config_.data();
  if (library_.config_image(&image) != pm::kSuccess) return does_not_fit("no configuration");
  auto passes = pm::fresh<pm::Passes>();
  passes.config_size = config_.size();
  passes.config = config_.data();
  if (library_.passes(&passes) != pm::kSuccess || passes.passes != 1) {
    return does_not_fit("more than one pass");
  }
  return {};
}

Result<CounterGroups> group_counters(const CounterLibrary& library, const std::string& chip,
                                     const std::vector<std::uint8_t>& availability) {
  // Fails here for an unknown chip; otherwise every metric would seem to be missing.
  RETURN_IF_ERROR(CounterHost::open(library, chip, availability));
  CounterGroups groups;
  std::vector<Feature> grouped;
  for (const CounterForm& form : counter_forms()) {
    if (std::ranges::find(grouped, form.feature) != grouped.end()) continue;
    std::unique_ptr<CounterHost> alone = with(library, chip, availability, {}, form);
    if (!alone) continue;
    grouped.push_back(form.feature);
    const bool joined = std::ranges::any_of(groups, [&](std::unique_ptr<CounterHost>& group) {
      auto larger = with(library, chip, availability, group->forms(), form);
      if (!larger) return false;
      group = std::move(larger);
      return true;
    });
    if (!joined) groups.push_back(std::move(alone));
  }
  if (!groups.empty()) return groups;
  return Error{ErrorCode::kUnsupported,
               fmt::format("CUPTI cannot sample any counter of a {}", chip),
               "try a newer CUPTI, and name its path in HYPERMILE_CUPTI"};
}

}  // namespace hypermile
