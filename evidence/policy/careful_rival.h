// SPDX-License-Identifier: Apache-2.0
//
// A rival that is given what protects our own search, so that tables separate the search from its
// care: looks that are plainly too slow are cut, the default is measured again as often as ours is,
// and what the rival sees of time and power is corrected by how far the default has moved since it
// was first seen. Used by the ablation; pure.
#pragma once

#include <memory>

#include "policy/policy.h"

namespace hypermile {

// `rival` was made for `context`, too.
std::unique_ptr<Policy> make_careful(std::unique_ptr<Policy> rival, const PolicyContext& context);

}  // namespace hypermile
