// SPDX-License-Identifier: Apache-2.0
//
// The bundled page, compiled in by cmake/WebPage.cmake; empty where it could not be bundled.
#pragma once

#include <string_view>

namespace hypermile {

extern const std::string_view kPageAsset;

}  // namespace hypermile
