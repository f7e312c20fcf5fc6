// SPDX-License-Identifier: Apache-2.0
//
// How functions report failure: a Result<T> holds a value or an Error, and the compiler warns when
// a Result is ignored. An Error has a code for the program, a message that says what is wrong and,
// where one is known, a remedy that says what to do. People see `message; remedy` on one line.
// Exceptions are for programming errors only.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace hypermile {

enum class ErrorCode {
  kUsage,        // the user asked for something impossible: a bad option, an unknown name
  kParse,        // a file's content is broken
  kNotFound,     // a file, GPU or symbol does not exist
  kUnsupported,  // this GPU, driver or build cannot do it
  kPermission,   // the caller lacks the right to do it
  kReadOnly,     // HYPERMILE_READ_ONLY forbids every setter
  kNoDriver,     // no NVIDIA driver, or one that does not answer
  kNotReady,     // try again later
  kTimeout,      // a call did not return in time
  kGpuLost,      // the GPU fell off the bus or needs a reset
  kBusy,         // somebody else holds it
  kIo,           // the operating system refused
  kInternal,     // a bug in hypermile
};

std::string_view to_string(ErrorCode code);
// The reverse of to_string(); kInternal for an unknown text.
ErrorCode error_code_from(std::string_view text);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string remedy = {};

  // The same error with `where: ` before its message.
  Error in(std::string_view where) const;
  // The one line that a person sees: `message; remedy`.
  std::string line() const;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return held_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // value(), * and -> may be used only when ok() is true.
  T& value() & {
    assert(ok());
    return std::get<0>(held_);
  }
  const T& value() const& {
    assert(ok());
    return std::get<0>(held_);
  }
  T&& value() && {
    assert(ok());
    return std::get<0>(std::move(held_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    assert(!ok());
    return std::get<1>(held_);
  }

  // For readings where every failure means "not known".
  std::optional<T> optional() const { return ok() ? std::optional<T>(value()) : std::nullopt; }

 private:
  std::variant<T, Error> held_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    assert(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace hypermile

// `ASSIGN_OR_RETURN(auto x, f());` assigns f()'s value to x, or returns f()'s error from the
// calling function. The paste takes two macros so that __LINE__ expands first.
#define HYPERMILE_PASTE2(a, b) a##b
#define HYPERMILE_PASTE(a, b) HYPERMILE_PASTE2(a, b)
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_AS(HYPERMILE_PASTE(result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_AS(result, declaration, expression) \
  auto result = (expression);                                \
  if (!result.ok()) return result.error();                   \
  declaration = std::move(result).value()
#define RETURN_IF_ERROR(expression)                                         \
  do {                                                                      \
    if (auto status_ = (expression); !status_.ok()) return status_.error(); \
  } while (false)
