// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target: bytes become a context and windows; the policy must stay within its list.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "policy/policies.h"
#include "testing/hostile_windows.h"
#include "testing/ledgered_policy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hypermile;
  std::size_t at = 0;
  const ByteSource byte = [&]() -> unsigned { return at < size ? data[at++] : 0U; };
  const auto& table = policy_table();
  const PolicyEntry& entry = table[byte() % table.size()];
  const std::string name = entry.name.starts_with("fixed:") ? "fixed:80%" : std::string(entry.name);
  const PolicyContext context = hostile_context(byte);
  auto made = make_policy(name, context);
  if (!made) std::abort();
  LedgeredPolicy policy(std::move(*made), context);
  while (at < size) {
    const Step step = policy.next();
    if (step.setting >= context.settings.size()) std::abort();
    if (!(step.iterations > 0) || !std::isfinite(step.iterations)) std::abort();
    policy.observe(hostile_window(byte, context, step));
  }
  return 0;
}
