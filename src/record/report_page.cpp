// SPDX-License-Identifier: Apache-2.0
#include "record/report_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/whole_file.h"
#include "record/page_asset.h"
#include "record/report_data.h"

namespace hypermile {
namespace {

constexpr std::string_view kPlace = "<!--hypermile-data-->";

// Only a "<" can end a script element, and JSON allows any character to be escaped.
std::string embedded(const nlohmann::json& document) {
  const std::string text = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return fmt::format("<script type=\"application/json\" id=\"data\">{}</script>", safe);
}

Result<std::string> page_with(const std::string& text) {
  if (kPageAsset.empty()) {
    return Error{ErrorCode::kUnsupported,
                 "this hypermile was built without its web page, because npm or its registry could "
                 "not be reached",
                 "install npm and build again with 'make build'"};
  }
  const std::size_t place = kPageAsset.find(kPlace);
  if (place == std::string_view::npos) {
    return Error{ErrorCode::kInternal, "the web page has no place for its data"};
  }
  std::string page(kPageAsset.substr(0, place));
  page += text;
  page += kPageAsset.substr(place + kPlace.size());
  return page;
}

}  // namespace

Result<std::string> report_page(const LogTail& log) {
  if (kPageAsset.empty()) return page_with("");
  return page_with(embedded(report_json(log)));
}

Result<std::string> live_page() {
  return page_with("");
}

Result<void> write_report(const LogTail& log, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string page, report_page(log));
  return write_whole_file(path, page);
}

}  // namespace hypermile
