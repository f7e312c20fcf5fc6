// SPDX-License-Identifier: Apache-2.0
#include "lease/frame.h"

#include <gtest/gtest.h>

#include <limits>

#include "lease/crc32c.h"

namespace hypermile {
namespace {

std::string example() {
  return FrameWriter().number(1, 42).text(2, "GPU-1").real(3, 1410.5).text(2, "").finish().value();
}

TEST(Crc32c, MatchesThePublishedCheckValueWholeAndInParts) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c("6789", crc32c("12345")), 0xE3069283U);
}

TEST(Frame, GivesBackWhatWasWritten) {
  const std::string bytes = example();
  const std::string stream = bytes + "next";

  const CutFrame frame = cut_frame(stream);
  const auto fields = Fields::parse(frame.body);

  ASSERT_EQ(frame.state, CutFrame::State::kWhole);
  EXPECT_EQ(frame.bytes, bytes.size());
  ASSERT_TRUE(fields.ok());
  EXPECT_EQ(fields->number(1).value(), 42U);
  EXPECT_EQ(fields->texts(2), (std::vector<std::string_view>{"GPU-1", ""}));
  EXPECT_EQ(fields->real(3).value(), 1410.5);
}

TEST(Frame, IsIncompleteWhereverItIsCut) {
  const std::string bytes = example();

  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(cut_frame(bytes.substr(0, size)).state, CutFrame::State::kIncomplete) << size;
  }
}

TEST(Frame, IsNotReadWithAnyBitFlipped) {
  const std::string bytes = example();

  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(cut_frame(flipped).state, CutFrame::State::kWhole) << bit;
  }
}

TEST(Frame, OfZerosIsBroken) {
  EXPECT_EQ(cut_frame(std::string(64, '\0')).state, CutFrame::State::kBroken);
}

TEST(Frame, ClaimingMoreThanTheBoundIsBrokenBeforeItsBytesArrive) {
  EXPECT_EQ(cut_frame(std::string("\x01\x40\x00\x00", 4)).state, CutFrame::State::kBroken);
  EXPECT_EQ(cut_frame(std::string("\x00\x40\x00\x00", 4)).state, CutFrame::State::kIncomplete);
}

TEST(FrameWriter, RefusesWhatNoReaderWouldTake) {
  FrameWriter many;
  for (std::size_t i = 0; i <= kMostFields; ++i) many.text(1, "");

  EXPECT_FALSE(FrameWriter().finish().ok());
  EXPECT_FALSE(FrameWriter().text(1, std::string(kMostBodyBytes, 'x')).finish().ok());
  EXPECT_FALSE(many.finish().ok());
  EXPECT_TRUE(FrameWriter().text(1, std::string(kMostBodyBytes - 3, 'x')).finish().ok());
}

TEST(Fields, NamesTheFieldThatIsMissingDoubledOrOfAnotherKind) {
  const std::string bytes = FrameWriter()
                                .text(2, "a")
                                .text(2, "b")
                                .text(3, "short")
                                .real(4, std::numeric_limits<double>::infinity())
                                .finish()
                                .value();
  const Fields fields = Fields::parse(cut_frame(bytes).body).value();

  EXPECT_EQ(fields.text(1).error().message, "field 1 is missing");
  EXPECT_EQ(fields.text(2).error().message, "field 2 occurs twice");
  EXPECT_EQ(fields.number(3).error().message, "field 3 is not a number");
  EXPECT_EQ(fields.real(4).error().message, "field 4 is not a finite number");
}

TEST(Fields, MustFillTheBody) {
  EXPECT_FALSE(Fields::parse(std::string_view("\x01\x05", 2)).ok());
  EXPECT_FALSE(Fields::parse(std::string_view("\x01\x05\x00"
                                              "abc",
                                              6))
                   .ok());
  std::string many;
  for (std::size_t i = 0; i <= kMostFields; ++i) many += std::string("\x01\x00\x00", 3);
  EXPECT_FALSE(Fields::parse(many).ok());
}

}  // namespace
}  // namespace hypermile
