// SPDX-License-Identifier: Apache-2.0
//
// Parses PCI addresses as people and tools write them. A pure function.
#pragma once

#include <string_view>

#include "base/identifiers.h"
#include "base/result.h"

namespace hypermile {

// Turns "0000:3b:00.0", "3b:00.0" or "3b:00" into NVML's form, "00000000:3B:00.0". Domain and
// function are 0 unless given. kUsage for any other text.
Result<PciAddress> parse_pci_address(std::string_view text);

}  // namespace hypermile
