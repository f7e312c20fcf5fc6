// SPDX-License-Identifier: Apache-2.0
#include "progress/recording.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

namespace hypermile {
namespace {

class Recording : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string write(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }
  std::string write_compressed(const std::string& text) {
    const gzFile file = gzopen(path_.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path_;
  }
  const std::string path_ = (std::filesystem::temp_directory_path() /
                             (std::string("hypermile_recording_") +
                              ::testing::UnitTest::GetInstance()->current_test_info()->name()))
                                .string();
};

TEST_F(Recording, IsReadPlainAndCompressed) {
  const std::string text = "t_s,kernel\n0.5,7\n0.25,3\n";
  for (const std::string& path : {write(text), write_compressed(text)}) {
    const auto launches = read_launches(path);

    ASSERT_TRUE(launches.ok()) << launches.error().line();
    ASSERT_EQ(launches->size(), 2U);
    EXPECT_EQ((*launches)[0].kernel, 3U) << "sorted by time";
    EXPECT_EQ((*launches)[1].time.nanoseconds(), 500000000);
  }
}

TEST_F(Recording, ReadsBlocksAndStreamsIfPresent) {
  const auto launches = read_launches(write("stream,kernel,t_s,blocks\n2,1,0.1,4096\n"));

  ASSERT_TRUE(launches.ok()) << launches.error().line();
  EXPECT_EQ(launches->front().blocks, 4096U);
  EXPECT_EQ(launches->front().stream, 2U);
}

TEST_F(Recording, NamesFileAndLineOfABrokenRow) {
  for (const char* row : {"x,1", "1,-1", "1,4294967296", "nan,1", "1e30,1", "1", "1,2,3"}) {
    const auto launches = read_launches(write("t_s,kernel\n0,0\n" + std::string(row) + "\n"));

    ASSERT_FALSE(launches.ok()) << row;
    EXPECT_NE(launches.error().line().find(path_ + ":3"), std::string::npos)
        << launches.error().line();
  }
}

TEST_F(Recording, SaysWhichColumnIsMissing) {
  const auto launches = read_launches(write("time,kernel\n0,0\n"));

  ASSERT_FALSE(launches.ok());
  EXPECT_NE(launches.error().line().find("t_s"), std::string::npos);
}

TEST_F(Recording, RefusesBrokenCompressionAndAbsentFiles) {
  std::string text = "t_s,kernel\n";
  for (int i = 0; i < 20000; ++i)
    text += std::to_string(i) + "," + std::to_string(i * 7 % 101) + "\n";
  write_compressed(text);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);

  EXPECT_FALSE(read_launches(path_).ok());
  EXPECT_EQ(read_launches("/nonexistent/file.csv.gz").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hypermile
