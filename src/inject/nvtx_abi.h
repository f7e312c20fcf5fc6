// SPDX-License-Identifier: Apache-2.0
//
// The part of NVTX's binary interface that a tool needs to be told of ranges, written down so that
// the build needs no vendor header. tests/abi compares it with NVIDIA's headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hypermile::nvtx {

enum ExportTable : std::uint32_t { kCallbacksTable = 1 };
enum Module : int { kCore = 1, kCore2 = 5 };

enum CoreFunction : unsigned {
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangePushEx = 8,
  kRangePushA = 9,
};
enum Core2Function : unsigned {
  kDomainRangeStartEx = 2,
  kDomainRangePushEx = 4,
  kDomainRegisterStringA = 10,
};

enum MessageType : std::int32_t { kAscii = 1, kRegistered = 3 };

struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;  // text, or the handle that registering the text returned
};

// These functions return the following to a program without a tool.
constexpr int kNoPushPopTracking = -2;
constexpr std::uint64_t kNoRange = 0;

using FunctionPointer = void (*)();

struct CallbacksTable {
  std::size_t struct_size;
  // Sets *table to an array of *size pointers; each points to where the program keeps that
  // function.
  int (*get_module)(Module module, FunctionPointer*** table, unsigned* size);
};

using GetExportTable = const void* (*)(std::uint32_t table);

}  // namespace hypermile::nvtx
