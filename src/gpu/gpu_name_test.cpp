// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_name.h"

#include <gtest/gtest.h>

#include "gpu/pci_address.h"

namespace hypermile {
namespace {

const std::vector<GpuIdentity> kGpus = {
    {GpuUuid("GPU-1111aaaa-0000"), PciAddress("00000000:3B:00.0"), "NVIDIA H200", 0, "580"},
    {GpuUuid("GPU-1111bbbb-0000"), PciAddress("00000000:AF:00.0"), "NVIDIA H200", 1, "580"},
};

Result<GpuIdentity> resolve(std::string_view text) {
  ASSIGN_OR_RETURN(const GpuName name, parse_gpu_name(text));
  return resolve_gpu(name, kGpus);
}

TEST(PciAddress, EveryCommonFormMeansTheSame) {
  for (const char* text :
       {"00000000:3B:00.0", "00000000:3b:00.0", "0000:3b:00.0", "3b:00.0", "3B:00", "0:3b:0.0"}) {
    EXPECT_EQ(*parse_pci_address(text), PciAddress("00000000:3B:00.0")) << text;
  }
}

TEST(PciAddress, RefusesOtherText) {
  for (const char* text : {"", "3b", ":", "3b:", ":00.0", "3b:00.", "3b:00.0x", "1:2:3:4.0",
                           "zz:00.0", "123:00.0", "000000000:3b:00.0", "3b:-1.0"}) {
    EXPECT_FALSE(parse_pci_address(text).ok()) << text;
  }
}

TEST(GpuName, DistinguishesItsForms) {
  EXPECT_EQ(*parse_gpu_name("3"), GpuName(GpuIndex{3}));
  EXPECT_EQ(*parse_gpu_name("GPU-1111"), GpuName(GpuUuidPrefix{"GPU-1111"}));
  EXPECT_EQ(*parse_gpu_name("3b:00.0"), GpuName(PciAddress("00000000:3B:00.0")));
  EXPECT_EQ(*parse_gpu_name("sim:h200"), GpuName(SimulatedGpu{"h200"}));
  EXPECT_EQ(*parse_gpu_name("replay:a#b/c.csv#A100/resnet50"),
            GpuName(ReplayedGpu{"a#b/c.csv", "A100/resnet50"}));
  EXPECT_EQ(*parse_gpu_name("replay:c.csv#A100/resnet50/train"),
            GpuName(ReplayedGpu{"c.csv", "A100/resnet50/train"}));
  EXPECT_EQ(*parse_gpu_name("replay:c.csv@15MHz#A100/stencil2d#2/kernel"),
            GpuName(ReplayedGpu{"c.csv@15MHz", "A100/stencil2d#2/kernel"}));
}

TEST(GpuName, IsPrintedAsItWasRead) {
  for (const char* text :
       {"3", "GPU-1111", "00000000:3B:00.0", "sim:h200", "replay:c.csv#A100/bert/train"}) {
    EXPECT_EQ(to_string(*parse_gpu_name(text)), text);
  }
}

TEST(GpuName, RefusesNonsenseAndListsTheValidForms) {
  for (const char* text :
       {"", "-1", "gpu", "GPU-", "sim:", "replay:", "replay:f.csv", "replay:f.csv#a", "replay:#a/b",
        "replay:f#/b", "replay:f#a/", "replay:f#a/b/", "99999999999", "1.5"}) {
    const auto name = parse_gpu_name(text);
    ASSERT_FALSE(name.ok()) << text;
    EXPECT_FALSE(name.error().remedy.empty()) << text;
  }
}

TEST(GpuName, RefusesAMigInstance) {
  EXPECT_EQ(parse_gpu_name("MIG-GPU-1111/1/0").error().code, ErrorCode::kUnsupported);
}

TEST(ResolveGpu, FindsByIndexPciAddressAndUniquePrefix) {
  EXPECT_EQ(resolve("1")->uuid, kGpus[1].uuid);
  EXPECT_EQ(resolve("0000:af:00.0")->uuid, kGpus[1].uuid);
  EXPECT_EQ(resolve("GPU-1111AAAA")->uuid, kGpus[0].uuid);
}

TEST(ResolveGpu, ListsTheGpusIfNoneMatches) {
  EXPECT_EQ(resolve("7").error().code, ErrorCode::kUsage);
  EXPECT_NE(resolve("7").error().remedy.find("0"), std::string::npos);
  EXPECT_NE(resolve("GPU-1111aaab-0000").error().remedy.find("GPU-1111aaaa-0000"),
            std::string::npos);
  EXPECT_NE(resolve("3c:00.0").error().remedy.find("00000000:3B:00.0"), std::string::npos);
  EXPECT_NE(resolve_gpu(GpuIndex{0}, {}).error().remedy.find("replay:FILE"), std::string::npos);
}

TEST(ResolveGpu, RefusesAnAmbiguousPrefix) {
  EXPECT_EQ(resolve("GPU-1111").error().line(),
            "several GPUs have UUIDs that begin with GPU-1111; give more of the UUID");
}

TEST(ResolveGpu, DoesNotTakeASimulatedGpuForARealOne) {
  EXPECT_EQ(resolve("sim:h200").error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace hypermile
