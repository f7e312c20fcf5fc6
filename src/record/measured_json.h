// SPDX-License-Identifier: Apache-2.0
//
// Events of what was measured as JSON and back, without the envelope that event_json.cpp puts
// around them; it is the only one that calls these. Reading throws what nlohmann::json throws where
// a field is missing or of another type.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "record/event.h"

namespace hypermile {

nlohmann::json body_json(const SampleEvent& e);
void read_body(const nlohmann::json& j, SampleEvent& e);
nlohmann::json body_json(const WindowEvent& e);
void read_body(const nlohmann::json& j, WindowEvent& e);
nlohmann::json body_json(const FeaturesEvent& e);
void read_body(const nlohmann::json& j, FeaturesEvent& e);
nlohmann::json body_json(const Throttle& e);
void read_body(const nlohmann::json& j, Throttle& e);
nlohmann::json body_json(const DriverCalls& e);
void read_body(const nlohmann::json& j, DriverCalls& e);

}  // namespace hypermile
