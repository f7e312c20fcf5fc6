// SPDX-License-Identifier: Apache-2.0
//
// Events of measured quantities as JSON and back, without the envelope that event_json.cpp puts
// around them; only event_json.cpp calls these functions. Reading throws the JSON library's
// exceptions where a field is missing or has the wrong type.
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
