// SPDX-License-Identifier: Apache-2.0
#include "gpu/visible_devices.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

GpuIdentity gpu(int index, const char* uuid, const char* name = "NVIDIA H200") {
  return {GpuUuid(uuid), PciAddress(), name, index, "580"};
}

const std::vector<GpuIdentity> kFour = {gpu(0, "GPU-aa00"), gpu(1, "GPU-aa11"), gpu(2, "GPU-bb22"),
                                        gpu(3, "GPU-cc33")};

std::vector<int> indices(std::optional<std::string_view> variable) {
  std::vector<int> out;
  for (const GpuIdentity& seen : visible_devices(variable, std::nullopt, kFour).gpus) {
    out.push_back(*seen.index);
  }
  return out;
}

using Indices = std::vector<int>;

TEST(VisibleDevices, UnsetShowsAllAndEmptyShowsNone) {
  EXPECT_EQ(indices(std::nullopt), (Indices{0, 1, 2, 3}));
  EXPECT_EQ(indices(""), Indices{});
  EXPECT_EQ(indices("  "), Indices{});
}

TEST(VisibleDevices, NumbersSelectAndReorder) {
  EXPECT_EQ(indices("2,0"), (Indices{2, 0}));
  EXPECT_EQ(indices(" 3 , 1"), (Indices{3, 1}));
  EXPECT_EQ(indices("1gpu"), (Indices{1})) << "CUDA reads the leading digits of an entry";
}

TEST(VisibleDevices, AWrongEntryEndsTheList) {
  EXPECT_EQ(indices("-1"), Indices{});
  EXPECT_EQ(indices("1,-1,2"), (Indices{1}));
  EXPECT_EQ(indices("1,9,2"), (Indices{1}));
  EXPECT_EQ(indices("1,x,2"), (Indices{1}));
  EXPECT_EQ(indices("1,,2"), (Indices{1}));
  EXPECT_EQ(indices("NoDevFiles"), Indices{});
  EXPECT_EQ(indices("0,GPU-bb"), (Indices{0})) << "the first entry decides the form";
}

TEST(VisibleDevices, SaysWhatCudaIgnores) {
  EXPECT_TRUE(visible_devices("1,-1", std::nullopt, kFour).notes.empty())
      << "-1 ends the list on purpose";
  EXPECT_EQ(visible_devices("1,9", std::nullopt, kFour).notes,
            std::vector<std::string>{"there is no GPU '9': CUDA ignores it and all later entries"});
}

TEST(VisibleDevices, UuidsMayBeUniquePrefixes) {
  EXPECT_EQ(indices("GPU-cc,GPU-aa11"), (Indices{3, 1}));
  EXPECT_EQ(indices("GPU-bb22,GPU-aa,GPU-cc"), (Indices{2})) << "GPU-aa matches two GPUs";
}

TEST(VisibleDevices, ARepeatedGpuLeavesNone) {
  EXPECT_EQ(indices("0,1,0"), Indices{});
  EXPECT_EQ(indices("GPU-cc,GPU-cc33"), Indices{});
}

TEST(VisibleDevices, MigInstancesAreSeenButNotControlled) {
  const auto visible = visible_devices("MIG-GPU-aa00/1/0,MIG-5c89-22", std::nullopt, kFour);

  EXPECT_TRUE(visible.gpus.empty());
  EXPECT_EQ(visible.mig_instances, (std::vector<std::string>{"MIG-GPU-aa00/1/0", "MIG-5c89-22"}));
}

TEST(VisibleDevices, NumbersAreAmbiguousAmongDifferentModels) {
  const std::vector<GpuIdentity> mixed = {gpu(0, "GPU-a", "NVIDIA A40"), gpu(1, "GPU-b")};

  EXPECT_TRUE(visible_devices("0", std::nullopt, mixed).ambiguity.has_value());
  EXPECT_TRUE(visible_devices(std::nullopt, "FASTEST_FIRST", mixed).ambiguity.has_value());
  EXPECT_FALSE(visible_devices("0", "PCI_BUS_ID", mixed).ambiguity.has_value());
  EXPECT_FALSE(visible_devices("GPU-a", std::nullopt, mixed).ambiguity.has_value());
  EXPECT_FALSE(visible_devices("0", std::nullopt, kFour).ambiguity.has_value());
}

TEST(VisibleDevices, AcceptsAnyTextWithoutGpus) {
  for (const char* text : {"0", "GPU-", "MIG-", ",", "99999999999999999999", "0x1"}) {
    EXPECT_TRUE(visible_devices(text, std::nullopt, {}).gpus.empty()) << text;
  }
}

}  // namespace
}  // namespace hypermile
