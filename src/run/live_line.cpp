// SPDX-License-Identifier: Apache-2.0
#include "run/live_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string_view>

namespace hypermile {
namespace {

constexpr Seconds kRenew = Seconds(1);
// A state that comes and goes, as around the evaluations of short epochs, is nothing to read about.
constexpr Seconds kLasts = Seconds(1.5);
constexpr Seconds kBetweenLines = Seconds(10);
// While the clocks are being searched, people hear from us at least so often.
constexpr Seconds kSign = Seconds(60);
constexpr const char* kClearLine = "\r\x1b[K";
// The terminal keeps a stack of titles: we push the old title first, and pop it at the end.
constexpr const char* kKeepTitle = "\x1b[22;2t";
constexpr const char* kGiveTitleBack = "\x1b[23;2t";

// A process in the background must not write to the terminal.
bool in_foreground() {
  return ::isatty(STDERR_FILENO) == 0 || ::tcgetpgrp(STDERR_FILENO) == ::getpgrp();
}

// Other terminals would print the escape sequence of the title.
bool has_title(std::string_view term) {
  constexpr std::array kFamilies = {"xterm", "screen", "tmux",    "rxvt",      "vte", "gnome",
                                    "kitty", "foot",   "konsole", "alacritty", "st-", "wezterm"};
  return std::ranges::any_of(kFamilies, [&](const char* name) { return term.starts_with(name); });
}

bool draws(std::string_view term) {
  return !term.empty() && term != "dumb";
}

// The longest line that does not wrap; a line that wraps cannot be renewed in place.
std::size_t columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return 79;
  return size.ws_col - 1U;
}

}  // namespace

LiveManner manner_of(const LiveTerms& terms) {
  if (terms.quiet) return LiveManner::kSilent;
  if (!terms.terminal || !draws(terms.term)) return LiveManner::kLines;
  if (terms.asked_for || !terms.shared) return LiveManner::kInPlace;
  return has_title(terms.term) ? LiveManner::kTitle : LiveManner::kLines;
}

LiveLine::LiveLine(std::ostream& err, const LiveTerms& terms)
    : err_(err),
      manner_(manner_of(terms)),
      colours_(terms.terminal && draws(terms.term) && terms.no_color.empty()),
      status_(terms.bound) {}

void LiveLine::take(const Event& event) {
  if (manner_ == LiveManner::kSilent) return;
  if (!begin_) begin_ = event.time;
  tell_change(event.time);
  if (status_.take(event)) note_change(event.time);
  tell_progress(event.time);
  if (manner_ == LiveManner::kLines) return;
  if (std::holds_alternative<RunEnd>(event.body)) {
    clear();
  } else if (!renewed_ || event.time - *renewed_ >= kRenew) {
    renewed_ = event.time;
    renew();
  }
}

// The summary reports the end, so no line is written for it.
void LiveLine::note_change(Instant time) {
  if (status_.state() == "released" || status_.state() == "ended") return;
  if (manner_ == LiveManner::kInPlace) return;
  const std::string text = status_.change();
  if (text == told_) {
    change_.reset();
  } else {
    change_ = Change{time, text, coloured(text)};
  }
}

void LiveLine::tell_change(Instant now) {
  if (!change_ || now - change_->time < kLasts) return;
  if (told_at_ && now - *told_at_ < kBetweenLines) return;
  err_ << "hypermile: "
       << fmt::format("{:.0f} s: {}", (change_->time - *begin_).value(), change_->shown)
       << std::endl;
  told_ = change_->text;
  told_at_ = now;
  change_.reset();
}

// A search takes minutes in which the state stays the same.
void LiveLine::tell_progress(Instant now) {
  const std::string& state = status_.state();
  const bool searching = state == "warm_up" || state == "baseline" || state == "search";
  if (!searching || manner_ == LiveManner::kInPlace) return;
  const Instant since = std::max(told_at_.value_or(*begin_), *begin_);
  if (now - since < kSign) return;
  err_ << "hypermile: "
       << fmt::format("{:.0f} s: {}", (now - *begin_).value(), coloured(status_.line()))
       << std::endl;
  told_at_ = now;
}

void LiveLine::renew() {
  if (!in_foreground()) return;
  const std::string text = "hypermile: " + status_.line();
  if (manner_ == LiveManner::kTitle) {
    if (text == shown_) return;
    err_ << (shown_.empty() ? kKeepTitle : "") << "\x1b]2;" << text << "\x07" << std::flush;
  } else {
    // The cursor goes back to the start, so that other output overwrites the line.
    err_ << kClearLine << coloured(text.substr(0, columns())) << "\r" << std::flush;
  }
  shown_ = text;
}

void LiveLine::make_room() {
  if (manner_ == LiveManner::kInPlace) clear();
}

void LiveLine::clear() {
  if (shown_.empty() || !in_foreground()) return;
  err_ << (manner_ == LiveManner::kTitle ? kGiveTitleBack : kClearLine) << std::flush;
  shown_.clear();
}

std::string LiveLine::coloured(const std::string& text) const {
  if (!colours_) return text;
  const std::string& state = status_.state();
  const char* code = state == "hold" || state == "watching"                        ? "32"
                     : state == "unsure" || state == "refused" || state == "drift" ? "33"
                                                                                   : "36";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace hypermile
