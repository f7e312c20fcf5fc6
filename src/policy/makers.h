// SPDX-License-Identifier: Apache-2.0
//
// How each policy is made; only the table in policies.cpp calls these. A policy's class stays in
// its own file.
#pragma once

#include <memory>
#include <string_view>

#include "policy/policy.h"

namespace hypermile {

std::unique_ptr<Policy> make_default_policy(const PolicyContext& context);
std::unique_ptr<Policy> make_hypermile_policy(const PolicyContext& context);

// `setting` is what follows "fixed:": a Setting of the list ("sm=1200"), or a share of the
// default's SM clock, or limit where no clock can be set ("95%"), which takes the nearest Setting
// at or above it. kUsage where there is no such Setting.
Result<std::unique_ptr<Policy>> make_fixed_policy(std::string_view setting,
                                                  const PolicyContext& context);

// kUsage where nobody knows the truth.
Result<std::unique_ptr<Policy>> make_oracle_policy(const PolicyContext& context);

// The baselines: published methods and simple rivals, see each one's file and
// docs/design/policies.md.
std::unique_ptr<Policy> make_zeus_policy(const PolicyContext& context);
std::unique_ptr<Policy> make_gpoeo_policy(const PolicyContext& context);
// kUsage where nobody records traces (PolicyContext::traces).
Result<std::unique_ptr<Policy>> make_gpoeo_published_policy(const PolicyContext& context);
std::unique_ptr<Policy> make_mf_gpoeo_policy(const PolicyContext& context);
std::unique_ptr<Policy> make_odpp_policy(const PolicyContext& context);
std::unique_ptr<Policy> make_depo_policy(const PolicyContext& context);
std::unique_ptr<Policy> make_bisection_policy(const PolicyContext& context);
std::unique_ptr<Policy> make_bisection_margin_policy(const PolicyContext& context);
std::unique_ptr<Policy> make_sweep9_policy(const PolicyContext& context);

}  // namespace hypermile
