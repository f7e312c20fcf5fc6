// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace hypermile {

namespace {

struct CodeName {
  ErrorCode code;
  std::string_view name;
};
constexpr CodeName kCodeNames[] = {
    {ErrorCode::kUsage, "usage"},
    {ErrorCode::kParse, "parse"},
    {ErrorCode::kNotFound, "not_found"},
    {ErrorCode::kUnsupported, "unsupported"},
    {ErrorCode::kPermission, "permission"},
    {ErrorCode::kReadOnly, "read_only"},
    {ErrorCode::kNoDriver, "no_driver"},
    {ErrorCode::kNotReady, "not_ready"},
    {ErrorCode::kTimeout, "timeout"},
    {ErrorCode::kGpuLost, "gpu_lost"},
    {ErrorCode::kBusy, "busy"},
    {ErrorCode::kIo, "io"},
    {ErrorCode::kInternal, "internal"},
};

}  // namespace

std::string_view to_string(ErrorCode code) {
  for (const CodeName& entry : kCodeNames) {
    if (entry.code == code) return entry.name;
  }
  return "internal";
}

ErrorCode error_code_from(std::string_view text) {
  for (const CodeName& entry : kCodeNames) {
    if (entry.name == text) return entry.code;
  }
  return ErrorCode::kInternal;
}

Error Error::in(std::string_view where) const {
  return Error{code, std::string(where) + ": " + message, remedy};
}

std::string Error::line() const {
  return remedy.empty() ? message : message + "; " + remedy;
}

}  // namespace hypermile
