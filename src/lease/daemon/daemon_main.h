// SPDX-License-Identifier: Apache-2.0
//
// The command line of hypermiled. Parsed by hand: it is the one program of ours that runs as root,
// and it has six options.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace hypermile {

// The exit status: 0, 2 on bad usage, 1 on other failures, with one line on `err`.
int daemon_main(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hypermile
