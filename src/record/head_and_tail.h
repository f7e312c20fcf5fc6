// SPDX-License-Identifier: Apache-2.0
//
// A list of bounded length: it keeps its first and its last entries and counts those that it left
// out between them.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace hypermile {

template <class Entry>
class HeadAndTail {
 public:
  // Keeps at most `head` first and `tail` last entries.
  HeadAndTail(std::size_t head, std::size_t tail) : most_head_(head), most_tail_(tail) {}

  void add(Entry entry) {
    if (head_.size() < most_head_) {
      head_.push_back(std::move(entry));
      return;
    }
    tail_.push_back(std::move(entry));
    if (tail_.size() <= most_tail_) return;
    tail_.pop_front();
    ++left_out_;
  }

  bool empty() const { return head_.empty(); }
  const Entry& last() const { return tail_.empty() ? head_.back() : tail_.back(); }
  std::size_t left_out() const { return left_out_; }
  const std::vector<Entry>& head() const { return head_; }  // entries left out came after these
  const std::deque<Entry>& tail() const { return tail_; }

  template <class Visitor>
  void for_each(Visitor&& visit) const {
    for (const Entry& entry : head_) visit(entry);
    for (const Entry& entry : tail_) visit(entry);
  }

 private:
  std::size_t most_head_;
  std::size_t most_tail_;
  std::vector<Entry> head_;
  std::deque<Entry> tail_;
  std::size_t left_out_ = 0;
};

}  // namespace hypermile
