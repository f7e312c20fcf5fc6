// SPDX-License-Identifier: Apache-2.0
#include "answer.h"

#include "inject/tick.h"
#include "library.h"

namespace hypermile {
namespace {

thread_local std::string last_answer;
thread_local std::string last_problem;

}  // namespace

const char* keep_answer(std::string text) {
  last_answer = std::move(text);
  return last_answer.c_str();
}

void keep_problem(std::string text) {
  last_problem = std::move(text);
}

}  // namespace hypermile

const char* hypermile_python_problem() {
  return hypermile::last_problem.c_str();
}

void hypermile_python_listen_again() {
  hypermile::listen_again();
}

void hypermile_python_tell_device(std::uint32_t device) {
  hypermile::tell_device(device);
}
