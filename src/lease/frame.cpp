// SPDX-License-Identifier: Apache-2.0
#include "lease/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "lease/crc32c.h"

namespace hypermile {
namespace {

constexpr std::size_t kFieldHeaderBytes = 3;
constexpr std::size_t kMostFieldBytes = 0xFFFF;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xFFU));
}

std::uint64_t get(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

Error broken(std::string message) {
  return Error{ErrorCode::kParse, std::move(message)};
}

CutFrame broken_frame(std::string_view why) {
  return CutFrame{CutFrame::State::kBroken, {}, 0, why};
}

}  // namespace

FrameWriter& FrameWriter::text(std::uint8_t tag, std::string_view bytes) {
  if (bytes.size() > kMostFieldBytes || fields_ == kMostFields ||
      body_.size() + kFieldHeaderBytes + bytes.size() > kMostBodyBytes) {
    too_large_ = true;
    return *this;
  }
  ++fields_;
  put(body_, tag, 1);
  put(body_, bytes.size(), 2);
  body_.append(bytes);
  return *this;
}

FrameWriter& FrameWriter::number(std::uint8_t tag, std::uint64_t value) {
  std::string bytes;
  put(bytes, value, 8);
  return text(tag, bytes);
}

FrameWriter& FrameWriter::real(std::uint8_t tag, double value) {
  return number(tag, std::bit_cast<std::uint64_t>(value));
}

Result<std::string> FrameWriter::finish() const {
  if (too_large_ || body_.empty()) {
    return Error{ErrorCode::kUsage, too_large_
                                        ? fmt::format("a message is larger than {} bytes or {} "
                                                      "fields",
                                                      kMostBodyBytes, kMostFields)
                                        : "a message has no fields"};
  }
  std::string frame;
  put(frame, body_.size(), 4);
  put(frame, crc32c(body_, crc32c(frame)), 4);
  return frame + body_;
}

Result<Fields> Fields::parse(std::string_view body) {
  Fields result;
  while (!body.empty()) {
    if (body.size() < kFieldHeaderBytes) return broken("a field is cut short");
    if (result.fields_.size() == kMostFields) return broken("there are too many fields");
    const auto tag = static_cast<std::uint8_t>(body[0]);
    const auto size = static_cast<std::size_t>(get(body.substr(1, 2)));
    body.remove_prefix(kFieldHeaderBytes);
    if (body.size() < size) return broken(fmt::format("field {} is longer than its message", tag));
    result.fields_.push_back({tag, body.substr(0, size)});
    body.remove_prefix(size);
  }
  return result;
}

bool Fields::has(std::uint8_t tag) const {
  return std::any_of(fields_.begin(), fields_.end(), [&](const Field& f) { return f.tag == tag; });
}

Result<std::string_view> Fields::text(std::uint8_t tag) const {
  const std::vector<std::string_view> found = texts(tag);
  if (found.empty()) return broken(fmt::format("field {} is missing", tag));
  if (found.size() > 1) return broken(fmt::format("field {} occurs twice", tag));
  return found.front();
}

Result<std::uint64_t> Fields::number(std::uint8_t tag) const {
  ASSIGN_OR_RETURN(const std::string_view bytes, text(tag));
  if (bytes.size() != 8) return broken(fmt::format("field {} is not a number", tag));
  return get(bytes);
}

Result<double> Fields::real(std::uint8_t tag) const {
  ASSIGN_OR_RETURN(const std::uint64_t bits, number(tag));
  const auto value = std::bit_cast<double>(bits);
  if (!std::isfinite(value)) return broken(fmt::format("field {} is not a finite number", tag));
  return value;
}

std::vector<std::string_view> Fields::texts(std::uint8_t tag) const {
  std::vector<std::string_view> found;
  for (const Field& field : fields_) {
    if (field.tag == tag) found.push_back(field.bytes);
  }
  return found;
}

CutFrame cut_frame(std::string_view stream) {
  if (stream.size() < 4) return {};
  const std::string_view length_bytes = stream.substr(0, 4);
  const std::uint64_t length = get(length_bytes);
  if (length == 0) return broken_frame("a message is empty");
  if (length > kMostBodyBytes) return broken_frame("a message is too large");
  const std::size_t whole = kFrameHeaderBytes + static_cast<std::size_t>(length);
  if (stream.size() < whole) return {};
  const std::string_view body = stream.substr(kFrameHeaderBytes, whole - kFrameHeaderBytes);
  if (get(stream.substr(4, 4)) != crc32c(body, crc32c(length_bytes))) {
    return broken_frame("a checksum is wrong");
  }
  return CutFrame{CutFrame::State::kWhole, body, whole, {}};
}

}  // namespace hypermile
