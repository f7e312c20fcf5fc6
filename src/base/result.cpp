// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace hypermile {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kParse:
      return "parse";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kPermission:
      return "permission";
    case ErrorCode::kReadOnly:
      return "read_only";
    case ErrorCode::kNoDriver:
      return "no_driver";
    case ErrorCode::kNotReady:
      return "not_ready";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kGpuLost:
      return "gpu_lost";
    case ErrorCode::kBusy:
      return "busy";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

Error Error::in(std::string_view where) const {
  return Error{code, std::string(where) + ": " + message, remedy};
}

std::string Error::line() const {
  return remedy.empty() ? message : message + "; " + remedy;
}

}  // namespace hypermile
