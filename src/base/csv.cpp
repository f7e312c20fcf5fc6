// SPDX-License-Identifier: Apache-2.0
#include "base/csv.h"

#include <algorithm>

namespace hypermile {
namespace {

// Appends one line's cells. Returns true if the line ends inside a quoted cell.
bool split_line(std::string_view text, bool in_quotes, std::vector<std::string>& cells) {
  if (!in_quotes) cells.emplace_back();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_quotes) {
      if (c != '"') {
        cells.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cells.back() += '"';
        ++i;
      } else {
        in_quotes = false;
      }
    } else if (c == '"' && cells.back().empty()) {
      in_quotes = true;
    } else if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return in_quotes;
}

}  // namespace

Result<CsvReader> CsvReader::open(std::istream& in, std::string name) {
  CsvReader reader(in, std::move(name));
  ASSIGN_OR_RETURN(auto header, reader.record());
  if (!header) {
    reader.row_line_ = 1;
    return reader.error("expected a header line with column names, found an empty file");
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (header->front().starts_with(kByteOrderMark)) header->front().erase(0, kByteOrderMark.size());
  reader.header_ = std::move(*header);
  return reader;
}

std::optional<std::size_t> CsvReader::column(std::string_view name) const {
  const auto found = std::ranges::find(header_, name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

Result<std::optional<std::vector<std::string>>> CsvReader::next() {
  ASSIGN_OR_RETURN(auto cells, record());
  if (cells && cells->size() != header_.size()) {
    return error("expected " + std::to_string(header_.size()) + " cells as in the header, found " +
                 std::to_string(cells->size()));
  }
  return cells;
}

Result<std::optional<std::vector<std::string>>> CsvReader::record() {
  std::vector<std::string> cells;
  bool in_quotes = false;
  std::string text;
  while (std::getline(*in_, text)) {
    ++line_;
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (cells.empty()) {
      if (text.empty()) continue;
      row_line_ = line_;
    } else {
      cells.back() += '\n';
    }
    in_quotes = split_line(text, in_quotes, cells);
    if (!in_quotes) return std::optional(std::move(cells));
  }
  if (in_quotes) return error("expected a closing quote, found the end of the file");
  return std::optional<std::vector<std::string>>();
}

Error CsvReader::error(const std::string& message) const {
  return Error{ErrorCode::kParse, name_ + ":" + std::to_string(row_line_) + ": " + message};
}

}  // namespace hypermile
