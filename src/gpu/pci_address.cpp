// SPDX-License-Identifier: Apache-2.0
#include "gpu/pci_address.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace hypermile {
namespace {

// Reads at most `digits` hexadecimal digits and nothing else.
std::optional<unsigned> hexadecimal(std::string_view text, std::size_t digits) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.size() > digits) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

Result<PciAddress> parse_pci_address(std::string_view text) {
  const Error error{ErrorCode::kUsage, fmt::format("'{}' is not a PCI address", text),
                    "write it as 0000:3b:00.0 or 3b:00.0"};
  std::string_view rest = text;
  std::string_view function = "0";
  if (const std::size_t dot = rest.find('.'); dot != rest.npos) {
    function = rest.substr(dot + 1);
    rest = rest.substr(0, dot);
  }
  const std::size_t last = rest.rfind(':');
  if (last == rest.npos) return error;
  const std::string_view device = rest.substr(last + 1);
  rest = rest.substr(0, last);
  const std::size_t first = rest.find(':');
  const std::string_view domain = first == rest.npos ? "0" : rest.substr(0, first);
  const std::string_view bus = first == rest.npos ? rest : rest.substr(first + 1);

  const auto domain_number = hexadecimal(domain, 8);
  const auto bus_number = hexadecimal(bus, 2);
  const auto device_number = hexadecimal(device, 2);
  const auto function_number = hexadecimal(function, 1);
  if (!domain_number || !bus_number || !device_number || !function_number) return error;
  return PciAddress(fmt::format("{:08X}:{:02X}:{:02X}.{:X}", *domain_number, *bus_number,
                                *device_number, *function_number));
}

}  // namespace hypermile
