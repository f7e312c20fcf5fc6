// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "lease/daemon/daemon_main.h"

int main(int argc, char** argv) {
  return hypermile::daemon_main({argv + 1, argv + argc}, std::cout, std::cerr);
}
