// SPDX-License-Identifier: Apache-2.0
//
// The only format that the privileged process parses: messages on its socket and records of its
// journal are frames. A frame is, in little-endian order,
//
//   u32 length of the body | u32 CRC-32C of the length's four bytes and the body | body
//   body: fields, each u8 tag | u16 length | bytes
//
// The checksum covers the length, so that a run of zeros is not a valid frame. Users of frames
// define the tags; a reader skips tags that it does not know. Nothing here allocates by a length
// that the input claims, and every failure is an Error. No state is shared: any thread may call it.
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

// Makes one frame. finish() reports fields that did not fit.
class FrameWriter {
 public:
  FrameWriter& text(std::uint8_t tag, std::string_view bytes);
  FrameWriter& number(std::uint8_t tag, std::uint64_t value);  // 8 bytes
  FrameWriter& real(std::uint8_t tag, double value);           // 8 bytes, IEEE 754
  // kUsage when the body is empty, larger than kMostBodyBytes, or has more than kMostFields.
  Result<std::string> finish() const;

 private:
  std::string body_;
  std::size_t fields_ = 0;
  bool too_large_ = false;
};

// The fields of one body, as views into the parsed bytes, which must outlive this.
class Fields {
 public:
  struct Field {
    std::uint8_t tag = 0;
    std::string_view bytes;
  };
  // kParse when the fields do not fill the body exactly or there are more than kMostFields.
  static Result<Fields> parse(std::string_view body);

  const std::vector<Field>& all() const { return fields_; }
  bool has(std::uint8_t tag) const;
  // These return kParse when the tag is absent, occurs twice, or has another length.
  Result<std::string_view> text(std::uint8_t tag) const;
  Result<std::uint64_t> number(std::uint8_t tag) const;
  Result<double> real(std::uint8_t tag) const;  // kParse also when not finite
  // All fields with this tag, in order.
  std::vector<std::string_view> texts(std::uint8_t tag) const;

 private:
  std::vector<Field> fields_;
};

// The frame, or the lack of one, at the start of a stream of bytes.
struct CutFrame {
  enum class State {
    kWhole,       // `body` is valid, and the frame is `bytes` long
    kIncomplete,  // valid so far, but more bytes are needed
    kBroken,      // not a frame: its length is out of bounds, or its checksum is wrong
  };
  State state = State::kIncomplete;
  std::string_view body = {};
  std::size_t bytes = 0;
  std::string_view why = {};  // set only when kBroken
};
CutFrame cut_frame(std::string_view stream);

}  // namespace hypermile
