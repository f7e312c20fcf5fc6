// SPDX-License-Identifier: Apache-2.0
#include "progress/recording.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>

#include "base/csv.h"
#include "base/parse.h"

namespace hypermile {
namespace {

// Bytes uncompressed; a day of launches is less.
constexpr std::size_t kLargest = std::size_t{1} << 30;
constexpr double kLatest = 1e9;  // seconds

struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};

Result<std::string> read_gzip(const std::string& path) {
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (!file) {
    return Error{ErrorCode::kNotFound, fmt::format("{}: cannot be opened", path),
                 "name a recording of launches, .csv or .csv.gz"};
  }
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const int got = gzread(file.get(), buffer.data(), buffer.size());
    if (got < 0) {
      return Error{ErrorCode::kParse, fmt::format("{}: broken compression", path),
                   "record it again or unpack it with gunzip to see what is left"};
    }
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kLargest) {
      return Error{ErrorCode::kParse, fmt::format("{}: more than 1 GiB of text", path),
                   "split the recording"};
    }
  }
}

Result<Instant> parse_time(const CsvReader& reader, const std::string& cell) {
  const Result<double> seconds = parse_number(cell);
  if (!seconds || std::abs(*seconds) > kLatest) {
    return reader.error(fmt::format("t_s is '{}', expected seconds", cell));
  }
  return Instant() + Seconds(*seconds);
}

Result<std::uint32_t> parse_count(const CsvReader& reader, std::string_view name,
                                  const std::string& cell) {
  const Result<long long> number = parse_integer(cell);
  if (!number || *number < 0 || *number > std::numeric_limits<std::uint32_t>::max()) {
    return reader.error(fmt::format("{} is '{}', expected a whole number below 2^32", name, cell));
  }
  return static_cast<std::uint32_t>(*number);
}

Result<std::size_t> required(const CsvReader& reader, std::string_view name) {
  if (const auto at = reader.column(name)) return *at;
  Error error = reader.error(fmt::format("the header lacks the column {}", name));
  error.remedy = "a recording of launches has columns t_s and kernel";
  return error;
}

}  // namespace

Result<std::vector<Launch>> read_launches(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, read_gzip(path));
  std::istringstream in(std::move(text));
  ASSIGN_OR_RETURN(CsvReader reader, CsvReader::open(in, path));
  ASSIGN_OR_RETURN(const std::size_t time, required(reader, "t_s"));
  ASSIGN_OR_RETURN(const std::size_t kernel, required(reader, "kernel"));
  const auto blocks = reader.column("blocks");
  const auto stream = reader.column("stream");
  std::vector<Launch> launches;
  for (;;) {
    ASSIGN_OR_RETURN(const auto row, reader.next());
    if (!row) break;
    Launch launch;
    ASSIGN_OR_RETURN(launch.time, parse_time(reader, (*row)[time]));
    ASSIGN_OR_RETURN(launch.kernel, parse_count(reader, "kernel", (*row)[kernel]));
    if (blocks) {
      ASSIGN_OR_RETURN(launch.blocks, parse_count(reader, "blocks", (*row)[*blocks]));
    }
    if (stream) {
      ASSIGN_OR_RETURN(launch.stream, parse_count(reader, "stream", (*row)[*stream]));
    }
    launches.push_back(launch);
  }
  std::ranges::stable_sort(launches, {}, &Launch::time);
  return launches;
}

Result<std::vector<Instant>> read_iterations(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, read_gzip(path));
  std::istringstream in(std::move(text));
  ASSIGN_OR_RETURN(CsvReader reader, CsvReader::open(in, path));
  ASSIGN_OR_RETURN(const std::size_t time, required(reader, "t_s"));
  std::vector<Instant> iterations;
  for (;;) {
    ASSIGN_OR_RETURN(const auto row, reader.next());
    if (!row) break;
    ASSIGN_OR_RETURN(const Instant began, parse_time(reader, (*row)[time]));
    iterations.push_back(began);
  }
  std::ranges::sort(iterations);
  return iterations;
}

}  // namespace hypermile
