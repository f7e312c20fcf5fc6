// SPDX-License-Identifier: Apache-2.0
//
// The command line of hypermiled. It is parsed by hand, since this is our one program that runs as
// root and it has seven options.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace hypermile {

// Returns the exit status: 0, 2 for bad usage, 1 for other failures, with one line on `err`.
int daemon_main(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace hypermile
