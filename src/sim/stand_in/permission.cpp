// SPDX-License-Identifier: Apache-2.0
#include "sim/stand_in/permission.h"

#include <pwd.h>
#include <unistd.h>

#include <string>

#include "base/whole_file.h"

namespace hypermile {
namespace {

std::string user_name(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  if (getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) != 0 || found == nullptr) return "";
  return entry.pw_name;
}

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  line = line.substr(0, line.find('#'));
  const std::size_t first = line.find_first_not_of(kBlank);
  if (first == line.npos) return {};
  return line.substr(first, line.find_last_not_of(kBlank) - first + 1);
}

}  // namespace

bool permission_names(std::string_view text, uid_t uid, std::string_view name) {
  const std::string number = std::to_string(uid);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view entry = trimmed(text.substr(0, end));
    if (!entry.empty() && (entry == number || entry == name)) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

bool process_may_set(const std::string& permission_file) {
  const uid_t uid = geteuid();
  if (uid == 0) return true;
  const auto text = read_whole_file(permission_file);
  return text && permission_names(*text, uid, user_name(uid));
}

}  // namespace hypermile
