// SPDX-License-Identifier: Apache-2.0
//
// Any text as the value of any option: refused with a line, or a value that makes sense when it is
// read.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cli/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hypermile;
  if (size == 0) return 0;
  const OptionSpec& spec = option_table()[data[0] % option_table().size()];
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Result<void> valid = validate_option(spec, text);
  if (!valid) {
    if (valid.error().code != ErrorCode::kUsage || valid.error().message.empty()) std::abort();
    return 0;
  }
  OptionValues values(spec.commands.substr(0, spec.commands.find(' ')));
  values.set(spec.name, text);
  switch (spec.kind) {
    case OptionKind::kInteger:
      if (values.integer(spec.name) < 0 || values.integer(spec.name) > spec.most) std::abort();
      break;
    case OptionKind::kNumber:
    case OptionKind::kFraction:
      if (!std::isfinite(values.number(spec.name)) || values.number(spec.name) < 0) std::abort();
      break;
    case OptionKind::kSlowdown:
      if (!(values.number(spec.name) >= 0 && values.number(spec.name) <= 1)) std::abort();
      break;
    case OptionKind::kDuration:
      if (!(values.duration(spec.name).value() >= 0 && values.duration(spec.name).value() <= 1e9))
        std::abort();
      break;
    case OptionKind::kList:
      for (const std::string& item : values.list(spec.name))
        if (item.empty()) std::abort();
      break;
    default:
      (void)values.text(spec.name);
  }
  return 0;
}
