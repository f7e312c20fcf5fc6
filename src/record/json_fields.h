// SPDX-License-Identifier: Apache-2.0
//
// Members that several events share, as JSON and back: optional quantities, whole numbers,
// instants, identities. Only the files of this folder that read and write JSON include it. Reading
// throws the JSON library's exceptions, which parse_event() turns into an Error.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "record/event.h"

namespace hypermile::json_fields {

using json = nlohmann::json;

// JSON has no NaN or infinity: a value that is unknown or not finite is left out.
inline void put(json& j, const char* key, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) j[key] = *value;
}
template <class Tag>
void put(json& j, const char* key, const std::optional<Quantity<Tag>>& value) {
  put(j, key, value ? std::optional(value->value()) : std::nullopt);
}
template <class Tag>
void get(const json& j, const char* key, std::optional<Quantity<Tag>>& value) {
  if (j.contains(key)) value = Quantity<Tag>(j.at(key).get<double>());
}
inline void get(const json& j, const char* key, std::optional<double>& value) {
  if (j.contains(key)) value = j.at(key).get<double>();
}
template <class Value>
void get_if(const json& j, const char* key, Value& value) {
  if (j.contains(key)) value = j.at(key).get<Value>();
}

// The library casts any number, but a fraction or 1e67 is not a count, a code or a set of bits.
template <class Integer>
Integer integer_from(const json& j, const char* key) {
  const json& value = j.at(key);
  if (!value.is_number_integer()) {
    throw json::other_error::create(501, std::string(key) + " is not a whole number", &j);
  }
  return value.get<Integer>();
}

// No run lasts longer than this, and an Instant would overflow at a later time.
inline constexpr double kFarthestSeconds = 9e9;

inline Instant instant_from(const json& j, const char* key) {
  const auto seconds = j.at(key).get<double>();
  if (!(std::abs(seconds) <= kFarthestSeconds)) {
    throw json::other_error::create(501, std::string(key) + " is out of range", &j);
  }
  return Instant() + Seconds(seconds);
}

inline GpuUuid gpu_from(const json& j) {
  return GpuUuid(j.at("gpu").get<std::string>());
}

inline json identity_json(const GpuIdentity& gpu) {
  json j = {{"uuid", gpu.uuid.text()},
            {"name", gpu.name},
            {"pci", gpu.pci.text()},
            {"driver", gpu.driver_version}};
  if (gpu.index) j["index"] = *gpu.index;
  return j;
}
inline GpuIdentity identity_from(const json& j) {
  GpuIdentity gpu;
  gpu.uuid = GpuUuid(j.at("uuid").get<std::string>());
  gpu.name = j.at("name").get<std::string>();
  gpu.pci = PciAddress(j.at("pci").get<std::string>());
  gpu.driver_version = j.at("driver").get<std::string>();
  if (j.contains("index")) gpu.index = integer_from<int>(j, "index");
  return gpu;
}

}  // namespace hypermile::json_fields
