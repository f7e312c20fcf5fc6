// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_main.h"

int main(int argc, char** argv) {
  hypermile::StopSignals signals;
  return hypermile::agent_main({argv + 1, argv + argc}, signals);
}
