// SPDX-License-Identifier: Apache-2.0
#include "record/setting_json.h"

#include <nlohmann/json.hpp>

#include "record/json_fields.h"

namespace hypermile {

using namespace json_fields;

nlohmann::json setting_json(const Setting& setting) {
  json j = json::object();
  put(j, "sm_mhz", setting.sm_clock);
  put(j, "mem_mhz", setting.memory_clock);
  put(j, "power_limit_w", setting.power_limit);
  return j;
}

Setting setting_from(const nlohmann::json& j) {
  Setting setting;
  get(j, "sm_mhz", setting.sm_clock);
  get(j, "mem_mhz", setting.memory_clock);
  get(j, "power_limit_w", setting.power_limit);
  return setting;
}

}  // namespace hypermile
