// SPDX-License-Identifier: Apache-2.0
//
// A CUDA driver that only initialises and knows one GPU at any address, for tests of counters.
#include <cstdlib>

extern "C" {

int cuInit(unsigned /*flags*/) {
  const char* const code = std::getenv("FAKE_DRIVER_INIT");
  return code == nullptr ? 0 : std::atoi(code);
}

int cuDeviceGetByPCIBusId(int* device, const char* /*address*/) {
  const char* const code = std::getenv("FAKE_DRIVER_DEVICE");
  if (code != nullptr) return std::atoi(code);
  *device = 0;
  return 0;
}
}
