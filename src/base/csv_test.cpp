// SPDX-License-Identifier: Apache-2.0
#include "base/csv.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hypermile {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Result<Rows> read_all(const std::string& text) {
  std::istringstream in(text);
  ASSIGN_OR_RETURN(CsvReader reader, CsvReader::open(in, "f.csv"));
  Rows rows;
  while (true) {
    ASSIGN_OR_RETURN(auto row, reader.next());
    if (!row) return rows;
    rows.push_back(*row);
  }
}

TEST(CsvReader, ReadsQuotedCellsWithCommasQuotesAndLineBreaks) {
  const auto rows = read_all("a,b\n\"x, \"\"y\"\"\",2\n\"one\ntwo\",3\n");

  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(*rows, (Rows{{"x, \"y\"", "2"}, {"one\ntwo", "3"}}));
}

TEST(CsvReader, KeepsEmptyCellsAndPassesOverBlankLinesAndCarriageReturns) {
  const auto rows = read_all(
      "\xEF\xBB\xBF"
      "a,b,c\r\n,,\r\n\r\n1,,3");

  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(*rows, (Rows{{"", "", ""}, {"1", "", "3"}}));
}

TEST(CsvReader, NamesFileAndLineOfARowWithTheWrongNumberOfCells) {
  const auto rows = read_all("a,b\n1,2\n\n1,2,3\n");

  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().line(), "f.csv:4: expected 2 cells as in the header, found 3");
}

TEST(CsvReader, RefusesAnEmptyFileAndAnOpenQuote) {
  EXPECT_EQ(read_all("").error().line(),
            "f.csv:1: expected a header line with column names, found an empty file");
  EXPECT_EQ(read_all("a\n\"x\n").error().line(),
            "f.csv:2: expected a closing quote, found the end of the file");
}

TEST(CsvReader, FindsColumnsByName) {
  std::istringstream in("gpu,time_s\n");
  const auto reader = CsvReader::open(in, "f.csv");

  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->column("time_s"), 1U);
  EXPECT_EQ(reader->column("power_w"), std::nullopt);
}

}  // namespace
}  // namespace hypermile
