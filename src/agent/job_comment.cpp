// SPDX-License-Identifier: Apache-2.0
#include "agent/job_comment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

namespace hypermile {
namespace {

constexpr std::string_view kOurs = "hypermile: ";

// What a command prints; "" where it fails. SIGKILL, because we start it with SIGTERM blocked.
std::string output_of(const std::string& command) {
  struct Close {
    void operator()(std::FILE* file) const { ::pclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(
      ::popen(("exec timeout -s KILL 2 " + command + " 2>/dev/null").c_str(), "re"));
  std::string text(64 << 10, '\0');
  text.resize(file ? std::fread(text.data(), 1, text.size(), file.get()) : 0);
  return text;
}

}  // namespace

std::string comment_text(std::string_view step, const std::map<NodeNumber, NodeTotals>& totals,
                         std::size_t nodes) {
  double joules = 0;
  std::optional<double> saved = 0.0, longer;
  for (const auto& [node, one] : totals) {
    joules += one.joules;
    saved = saved && one.saved_j ? std::optional(*saved + *one.saved_j) : std::nullopt;
    if (one.time_change) longer = std::max(longer.value_or(-1), *one.time_change);
  }
  std::string text =
      fmt::format("{}step {}: {:.1f} kJ on {}{} nodes", kOurs, step, joules / 1e3,
                  totals.size() == nodes ? "" : fmt::format("{} of ", totals.size()), nodes);
  if (saved && joules + *saved > 0) {
    const double share = 100 * *saved / (joules + *saved);
    text += fmt::format(", {:.1f} % {} than at the default", std::abs(share),
                        share >= 0 ? "less" : "more");
  }
  if (longer)
    text +=
        fmt::format(", {:.1f} % {}", std::abs(100 * *longer), *longer >= 0 ? "longer" : "shorter");
  return text;
}

bool comment_is_ours(std::string_view shown) {
  if (!shown.starts_with("JobId=")) return false;
  const std::size_t at = shown.find(" Comment=");
  if (at == shown.npos) return true;
  const std::string_view value = shown.substr(at + 9);
  return value.starts_with(kOurs) || value.starts_with("(null)");
}

void write_job_comment(const std::string& job, const std::map<NodeNumber, NodeTotals>& totals,
                       std::size_t nodes) {
  const std::string number = job.substr(0, job.find('.'));
  const bool digits = !number.empty() && std::ranges::all_of(number, [](unsigned char c) {
    return std::isdigit(c) != 0;
  });
  if (totals.empty() || !digits) return;
  if (!comment_is_ours(output_of("scontrol show job -o " + number))) return;
  const std::string step = job.size() > number.size() ? job.substr(number.size() + 1) : "0";
  output_of(fmt::format("scontrol update JobId={} Comment='{}'", number,
                        comment_text(step, totals, nodes)));
}

}  // namespace hypermile
