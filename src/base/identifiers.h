// SPDX-License-Identifier: Apache-2.0
//
// String types that cannot be confused with each other or with plain text.
#pragma once

#include <compare>
#include <string>
#include <utility>

namespace hypermile {

template <class Tag>
class Identifier {
 public:
  Identifier() = default;
  explicit Identifier(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  auto operator<=>(const Identifier&) const = default;

 private:
  std::string text_;
};

using GpuUuid = Identifier<struct GpuUuidTag>;        // "GPU-xxxxxxxx-…" as NVML prints it
using PciAddress = Identifier<struct PciAddressTag>;  // "00000000:3B:00.0", see parse_pci_address
using RunId = Identifier<struct RunIdTag>;            // one run of hypermile on one job

}  // namespace hypermile
