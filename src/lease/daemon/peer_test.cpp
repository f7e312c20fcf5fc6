// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/peer.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "testing/child_process.h"

namespace hypermile {
namespace {

TEST(Peer, IsWhoMadeTheSocket) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);

  const auto peer = identify_peer(ours.get());

  ASSERT_TRUE(peer.ok());
  EXPECT_EQ(peer->uid, ::geteuid());
  EXPECT_EQ(peer->pid, ::getpid());
  EXPECT_NE(std::ranges::find(peer->groups, ::getegid()), peer->groups.end());
  EXPECT_FALSE(is_privileged(Peer{1000, {}, ::getpid(), false}, Descriptor(::dup(ours.get()))));
}

TEST(Peer, HandleShowsTheEndOfAProcessWhoseSocketIsStillOpen) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const Descriptor ours(ends[0]);
  const Descriptor theirs(ends[1]);
  const pid_t child = fork_child();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  // No socket is given here: with one, the kernel's handle would be this process's, which made the
  // pair.
  const auto handle = open_process_handle(-1, Peer{0, {}, child, false});
  ASSERT_TRUE(handle.ok()) << handle.error().line();
  if (!*handle) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    GTEST_SKIP() << "this kernel has no pidfds";
  }
  pollfd watched{handle->get(), POLLIN, 0};
  EXPECT_EQ(::poll(&watched, 1, 0), 0) << "it lives";

  ::kill(child, SIGKILL);

  EXPECT_EQ(::poll(&watched, 1, 10'000), 1);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(open_process_handle(-1, Peer{0, {}, child, false}).error().code, ErrorCode::kNotFound);
}

TEST(Peer, CannotBeIdentifiedWithoutASocket) {
  EXPECT_FALSE(identify_peer(-1).ok());
}

}  // namespace
}  // namespace hypermile
