// SPDX-License-Identifier: Apache-2.0
#include "run/injection.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

TEST(Injection, NamesOurLibraryAndTheFolder) {
  Environment environment;

  const auto notes = inject({"/lib/ours.so", "/dev/shm/x", std::nullopt}, environment);

  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(environment.strings(), (std::vector<std::string>{"CUDA_INJECTION64_PATH=/lib/ours.so",
                                                             "HYPERMILE_RING_DIR=/dev/shm/x"}));
}

TEST(Injection, AsksNvtxForStepsWhereTheyAreNamed) {
  Environment environment;

  const auto notes = inject({"/lib/ours.so", "/dev/shm/x", "train step"}, environment);

  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(environment.get("NVTX_INJECTION64_PATH"), "/lib/ours.so");
  EXPECT_EQ(environment.get("HYPERMILE_NVTX_STEP"), "train step");
}

TEST(Injection, LeavesOtherToolsInTheirPlaceAndSaysSo) {
  Environment environment;
  environment.set("CUDA_INJECTION64_PATH", "/opt/nsight.so");
  environment.set("NVTX_INJECTION64_PATH", "/opt/nvtx.so");

  const auto notes = inject({"/lib/ours.so", "/dev/shm/x", "step"}, environment);

  EXPECT_EQ(environment.get("CUDA_INJECTION64_PATH"), "/opt/nsight.so");
  EXPECT_EQ(environment.get("NVTX_INJECTION64_PATH"), "/opt/nvtx.so");
  EXPECT_EQ(environment.get("HYPERMILE_RING_DIR"), "/dev/shm/x") << "ticks are still heard";
  ASSERT_EQ(notes.size(), 2);
  EXPECT_EQ(notes[0],
            "CUDA_INJECTION64_PATH is set to /opt/nsight.so and is left alone: launches are not "
            "seen");
}

TEST(Injection, NamesTheCuptiOfTheJobUnlessSomebodyDid) {
  Environment bare;
  Environment named;
  named.set("HYPERMILE_CUPTI", "/mine.so");

  inject({"/lib/ours.so", "/dev/shm/x", std::nullopt, "/venv/libcupti.so.13"}, bare);
  inject({"/lib/ours.so", "/dev/shm/x", std::nullopt, "/venv/libcupti.so.13"}, named);

  EXPECT_EQ(bare.get("HYPERMILE_CUPTI"), "/venv/libcupti.so.13");
  EXPECT_EQ(named.get("HYPERMILE_CUPTI"), "/mine.so");
}

TEST(Injection, LetsTicksThroughWithoutALibrary) {
  Environment environment;

  inject({std::nullopt, "/dev/shm/x", std::nullopt}, environment);

  EXPECT_EQ(environment.strings(), (std::vector<std::string>{"HYPERMILE_RING_DIR=/dev/shm/x"}));
}

}  // namespace
}  // namespace hypermile
