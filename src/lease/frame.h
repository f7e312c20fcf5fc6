// SPDX-License-Identifier: Apache-2.0
//
// The one format that the privileged process parses: messages on its socket and records of its
// journal are frames. A frame is, in little-endian order,
//
//   u32 length of the body | u32 CRC-32C of the length's four bytes and the body | body
//   body: fields, each u8 tag | u16 length | bytes
//
// The checksum covers the length, so that a stretch of zeros is no frame. What the tags mean is
// said by those who use frames; a tag that a reader does not know it skips. Nothing here allocates
// by what the input claims, and nothing fails otherwise than by an Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hypermile {

inline constexpr std::size_t kFrameHeaderBytes = 8;
inline constexpr std::size_t kMostBodyBytes = std::size_t{16} * 1024;
inline constexpr std::size_t kMostFields = 256;

// Makes one frame. What does not fit is told by finish().
class FrameWriter {
 public:
  FrameWriter& text(std::uint8_t tag, std::string_view bytes);
  FrameWriter& number(std::uint8_t tag, std::uint64_t value);  // 8 bytes
  FrameWriter& real(std::uint8_t tag, double value);           // 8 bytes, IEEE 754
  // kUsage when the body is empty or larger than kMostBodyBytes, or has more than kMostFields.
  Result<std::string> finish() const;

 private:
  std::string body_;
  std::size_t fields_ = 0;
  bool too_large_ = false;
};

// The fields of one body, as views into the bytes it was parsed from, which must outlive it.
class Fields {
 public:
  struct Field {
    std::uint8_t tag = 0;
    std::string_view bytes;
  };
  // kParse when the fields do not fill the body exactly or are more than kMostFields.
  static Result<Fields> parse(std::string_view body);

  const std::vector<Field>& all() const { return fields_; }
  bool has(std::uint8_t tag) const;
  // Each of these: kParse when the tag is absent, is there twice, or has another length.
  Result<std::string_view> text(std::uint8_t tag) const;
  Result<std::uint64_t> number(std::uint8_t tag) const;
  Result<double> real(std::uint8_t tag) const;  // kParse also when not finite
  // Every field of the tag, in order; empty when there is none.
  std::vector<std::string_view> texts(std::uint8_t tag) const;

 private:
  std::vector<Field> fields_;
};

// What lies at the start of a stream of bytes.
struct CutFrame {
  enum class State {
    kWhole,       // `body` is valid, `bytes` long is the frame
    kIncomplete,  // so far nothing is wrong, more bytes are needed
    kBroken,      // no frame starts here: length out of bounds, or the checksum is wrong
  };
  State state = State::kIncomplete;
  std::string_view body = {};
  std::size_t bytes = 0;
  std::string_view why = {};  // kBroken only
};
CutFrame cut_frame(std::string_view stream);

}  // namespace hypermile
