// SPDX-License-Identifier: Apache-2.0
#include "sim/stand_in/fault_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse.h"

namespace hypermile {
namespace {

using Action = FaultItem::Action;

Error bad_item(std::string_view item, std::string_view why) {
  return Error{ErrorCode::kUsage, fmt::format("fault '{}': {}", item, why),
               "write FUNCTION[#GPU]:ACTION[@WHEN], for example nvmlDeviceGetPowerUsage:15@3"};
}

// Removes the last `mark` and what follows it from `text`, and returns what followed.
std::optional<std::string_view> cut(std::string_view& text, char mark) {
  const std::size_t at = text.rfind(mark);
  if (at == text.npos) return std::nullopt;
  const std::string_view tail = text.substr(at + 1);
  text = text.substr(0, at);
  return tail;
}

Result<unsigned long> parse_count(std::string_view text) {
  ASSIGN_OR_RETURN(const long long number, parse_integer(text));
  if (number >= 0) return static_cast<unsigned long>(number);
  return Error{ErrorCode::kUsage, "must not be negative"};
}

Result<void> parse_when(std::string_view text, FaultItem& item) {
  const bool open = text.ends_with('+');
  if (open) text.remove_suffix(1);
  const std::size_t dash = text.find('-');
  ASSIGN_OR_RETURN(item.first, parse_count(text.substr(0, dash)));
  item.last = item.first;
  if (dash != text.npos) {
    ASSIGN_OR_RETURN(item.last, parse_count(text.substr(dash + 1)));
  }
  if (open) item.last = ~0UL;
  if (item.first == 0 || item.last < item.first) {
    return Error{ErrorCode::kUsage, "calls are counted from 1 upwards"};
  }
  return {};
}

Result<void> parse_action(std::string_view text, FaultItem& item) {
  constexpr std::string_view kDelay = "delay=";
  if (text == "lost") {
    item.action = Action::kLost;
  } else if (text == "hang") {
    item.action = Action::kHang;
  } else if (text == "ignore") {
    item.action = Action::kIgnore;
  } else if (text.starts_with(kDelay)) {
    item.action = Action::kDelay;
    ASSIGN_OR_RETURN(item.delay, parse_duration(text.substr(kDelay.size())));
  } else {
    ASSIGN_OR_RETURN(const unsigned long code, parse_count(text));
    if (code > nvml::kUnknown) return Error{ErrorCode::kUsage, "return codes end at 999"};
    item.code = static_cast<nvml::Return>(code);
  }
  return {};
}

Result<FaultItem> parse_item(std::string_view text) {
  FaultItem item;
  std::string_view rest = text;
  if (const auto when = cut(rest, '@')) {
    if (const auto ok = parse_when(*when, item); !ok) return bad_item(text, ok.error().message);
  }
  const auto action = cut(rest, ':');
  if (!action) return bad_item(text, "has no action");
  if (const auto ok = parse_action(*action, item); !ok) return bad_item(text, ok.error().message);
  if (const auto gpu = cut(rest, '#')) {
    const auto index = parse_count(*gpu);
    if (!index || *index > 255) return bad_item(text, "needs a GPU index after '#'");
    item.gpu = static_cast<unsigned>(*index);
  }
  if (rest != "*" && !rest.starts_with("nvml"))
    return bad_item(text, "does not name an NVML function");
  item.function = rest;
  return item;
}

bool matches(const FaultItem& item, std::string_view function, std::optional<unsigned> gpu) {
  if (item.gpu && item.gpu != gpu) return false;
  return item.function == "*" ? gpu.has_value() : item.function == function;
}

}  // namespace

Result<std::vector<FaultItem>> parse_faults(std::string_view text) {
  constexpr std::string_view kSeparators = ", \t\r\n";
  std::vector<FaultItem> items;
  while (true) {
    const std::size_t start = text.find_first_not_of(kSeparators);
    if (start == text.npos) return items;
    text.remove_prefix(start);
    const std::string_view word = text.substr(0, text.find_first_of(kSeparators));
    text.remove_prefix(word.size());
    ASSIGN_OR_RETURN(FaultItem item, parse_item(word));
    items.push_back(std::move(item));
  }
}

Fault FaultScript::next(std::string_view function, std::optional<unsigned> gpu) {
  Fault fault;
  for (FaultItem& item : items_) {
    if (!matches(item, function, gpu)) continue;
    ++item.calls;
    const bool due =
        item.calls >= item.first && (item.calls <= item.last || item.action == Action::kLost);
    if (!due) continue;
    switch (item.action) {
      case Action::kReturn:
        fault.code = item.code;
        break;
      case Action::kLost:
        fault.code = nvml::kGpuIsLost;
        break;
      case Action::kHang:
        fault.hang = true;
        break;
      case Action::kDelay:
        fault.delay = std::max(fault.delay, item.delay);
        break;
      case Action::kIgnore:
        fault.ignore = true;
        break;
    }
  }
  return fault;
}

}  // namespace hypermile
