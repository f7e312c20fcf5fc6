// SPDX-License-Identifier: Apache-2.0
//
// How the calls of library.h answer: a text or object, or nothing and a problem that the calling
// thread can ask for. Failures arrive as Result; whatever is thrown becomes a problem too.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"

namespace hypermile {

// Keeps the text for the calling thread until its next call, and returns it.
const char* keep_answer(std::string text);
void keep_problem(std::string text);

// Calls `work` and returns its Result; a thrown exception becomes an error.
template <class Work>
auto caught(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& problem) {
    return Error{ErrorCode::kInternal, problem.what(), ""};
  }
}

// For `work` that returns Result<std::string>.
template <class Work>
const char* answer_text(Work work) {
  Result<std::string> done = caught(work);
  if (done) return keep_answer(std::move(*done));
  keep_problem(done.error().line());
  return nullptr;
}

// For `work` that returns Result<std::unique_ptr<T>>; the caller owns the object.
template <class T, class Work>
T* answer_object(Work work) {
  Result<std::unique_ptr<T>> done = caught(work);
  if (done) return done->release();
  keep_problem(done.error().line());
  return nullptr;
}

}  // namespace hypermile
