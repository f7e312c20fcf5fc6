// SPDX-License-Identifier: Apache-2.0
//
// Reads comma-separated files that have a header line: RFC 4180 quoting, CRLF or LF. Blank lines
// and a byte-order mark are skipped. A broken file gives an Error that names the file and the line.
// One thread uses a reader.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hypermile {

class CsvReader {
 public:
  // Reads the header from `in`, which must outlive the reader. `name` is used in messages.
  static Result<CsvReader> open(std::istream& in, std::string name);

  const std::vector<std::string>& header() const { return header_; }
  std::optional<std::size_t> column(std::string_view name) const;

  // The next row, with exactly as many cells as the header; nullopt at the end of the file.
  Result<std::optional<std::vector<std::string>>> next();

  // The line on which the last returned row began, counted from 1.
  std::size_t line() const { return row_line_; }
  // Builds an Error that names the file and that line.
  Error error(const std::string& message) const;

 private:
  CsvReader(std::istream& in, std::string name) : in_(&in), name_(std::move(name)) {}
  // Reads one record, which spans several lines if a quoted cell holds a line break. nullopt at the
  // end of the file.
  Result<std::optional<std::vector<std::string>>> record();

  std::istream* in_;
  std::string name_;
  std::vector<std::string> header_;
  std::size_t line_ = 0;
  std::size_t row_line_ = 0;
};

}  // namespace hypermile
