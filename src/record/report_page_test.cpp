// SPDX-License-Identifier: Apache-2.0
#include "record/report_page.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "record/page_asset.h"

namespace hypermile {
namespace {

class ReportPageTest : public testing::Test {
 protected:
  ReportPageTest() : log_(testing::TempDir() + "page-" + std::to_string(::getpid()) + ".jsonl") {
    RunStart start;
    start.command = {"hypermile", "run", "--", "</script><script>alert(1)</script>"};
    std::ofstream(log_) << to_json_line({Instant(), start}) << "\n";
  }
  ~ReportPageTest() override { std::filesystem::remove(log_); }

  std::string log_;
};

TEST_F(ReportPageTest, IsOneFileThatLoadsNothingAndCannotBeBrokenByALog) {
  if (kPageAsset.empty()) GTEST_SKIP() << "built without the web page";
  const auto log = read_log(log_);
  ASSERT_TRUE(log.ok());

  const auto page = report_page(*log);

  ASSERT_TRUE(page.ok()) << page.error().line();
  EXPECT_EQ(page->find("<script>alert(1)"), std::string::npos);
  EXPECT_NE(page->find("\\u003c/script>\\u003cscript>alert(1)"), std::string::npos);
  EXPECT_EQ(page->find("src=\"http"), std::string::npos);
  EXPECT_EQ(page->find("@import"), std::string::npos);
}

TEST_F(ReportPageTest, SaysWhatIsMissingWhereThereIsNoPage) {
  if (!kPageAsset.empty()) GTEST_SKIP() << "built with the web page";
  const auto log = read_log(log_);
  ASSERT_TRUE(log.ok());

  EXPECT_EQ(report_page(*log).error().code, ErrorCode::kUnsupported);
  EXPECT_FALSE(report_page(*log).error().remedy.empty());
}

TEST_F(ReportPageTest, SaysWhereItCannotWriteAndLeavesNothingBehind) {
  if (kPageAsset.empty()) GTEST_SKIP() << "built without the web page";
  const auto log = read_log(log_);
  ASSERT_TRUE(log.ok());

  const Result<void> written = write_report(*log, "/nowhere/at/all.html");

  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::kIo);
  EXPECT_NE(written.error().message.find("/nowhere/at/all.html"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
