// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/outbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "src/base/socket.hpp"

namespace {

using cardan::Fd;
using cardan::detail::Outbox;

struct Pair {
  Fd ours, theirs;
  Pair() {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0) return;
    ours = Fd(fds[0]);
    theirs = Fd(fds[1]);
  }
};

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

TEST(Outbox, AnotherUserThatReadsNothingCostsEightLettersWithDescriptorsAndIsGivenUp) {
  const Pair pair;
  const Fd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto before = open_descriptors();
  Outbox outbox;
  outbox.for_peer(::geteuid() + 1000);
  int sent = 0;
  while (sent < 1000 && outbox.send(pair.ours.get(), "{}", {file.get(), file.get()})) ++sent;
  EXPECT_EQ(sent, 16) << "eight on their way, eight waiting";
  EXPECT_LE(open_descriptors() - before, 16);
  int received = 0;
  cardan::socket::Message message;
  for (int round = 0; round < 10; ++round) {
    while (cardan::socket::receive(pair.theirs.get(), message) == cardan::socket::Received::Message) {
      EXPECT_EQ(message.fds.size(), 2U);
      ++received;
    }
    EXPECT_TRUE(outbox.flush(pair.ours.get()));
  }
  EXPECT_EQ(received, 16) << "a peer that reads again gets all of them, in order";
  EXPECT_TRUE(outbox.empty());
  outbox.settle(pair.ours.get());
  auto& shares = cardan::detail::DescriptorShares::of_process();
  EXPECT_TRUE(shares.claim(::geteuid() + 1000, shares.most_of_one())) << "it is not charged for what it has read";
  message.fds.clear();
  EXPECT_LE(open_descriptors(), before) << "fewer: something of an earlier test has ended since";
}

/// Sends until a letter waits.
void fill(Outbox& outbox, const Pair& pair) {
  while (outbox.empty()) ASSERT_TRUE(outbox.send(pair.ours.get(), std::string(5000, 'x')));
}

TEST(Outbox, ALetterThatWaitsIsChargedOnceHoweverOftenItIsTried) {
  const Pair pair;
  const Fd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Outbox outbox;
  outbox.for_peer(::geteuid() + 1001);
  fill(outbox, pair);
  ASSERT_TRUE(outbox.send(pair.ours.get(), "{}", {file.get()}));
  cardan::socket::Message message;
  for (int round = 0; round < 40; ++round) {  // the letter is the first that waits, and finds the socket full
    cardan::socket::receive(pair.theirs.get(), message);
    while (cardan::socket::send(pair.ours.get(), std::string(5000, 'y'))) {
    }
    EXPECT_TRUE(outbox.flush(pair.ours.get()));
  }
  auto& shares = cardan::detail::DescriptorShares::of_process();
  EXPECT_TRUE(shares.claim(::geteuid() + 1001, shares.most_of_one() - 2)) << "one on its way, one of its own";
}

TEST(Outbox, WithoutAShareNoDescriptorIsKeptForALetter) {
  const Pair pair;
  const Fd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Outbox outbox;
  outbox.for_peer(::geteuid() + 1002);
  fill(outbox, pair);
  auto& shares = cardan::detail::DescriptorShares::of_process();
  const auto all = shares.claim(::geteuid() + 1002, shares.most_of_one());
  ASSERT_TRUE(all);
  const auto before = open_descriptors();
  EXPECT_FALSE(outbox.send(pair.ours.get(), "{}", {file.get()}));
  EXPECT_EQ(errno, EMFILE);
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_FALSE(outbox.claim_for(pair.ours.get(), 1));
}

TEST(Outbox, AnotherUsersBytesAreBounded) {
  const Pair pair;
  Outbox outbox;
  outbox.for_peer(::geteuid() + 1000);
  const std::string text(10'000, 'x');
  std::size_t sent = 0;
  while (sent < 10'000 && outbox.send(pair.ours.get(), text)) ++sent;
  EXPECT_LT(sent * text.size(), std::size_t{2} << 20);  // the socket's own buffer and 256 KiB
}

TEST(Outbox, OurOwnUserMayBeStoppedForLonger) {
  const Pair pair;
  Outbox outbox;
  const std::string text(1000, 'x');
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(outbox.send(pair.ours.get(), text)) << i;
}

TEST(Outbox, WithoutADescriptorLeftTheLetterIsNotSentWithoutIt) {
  const Pair pair;
  Outbox outbox;
  while (outbox.send(pair.ours.get(), std::string(5000, 'x')) && outbox.empty()) {
  }
  EXPECT_FALSE(outbox.send(pair.ours.get(), "{}", {-1}));
}

}  // namespace
