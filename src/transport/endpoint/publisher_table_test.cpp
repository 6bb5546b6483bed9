// SPDX-License-Identifier: Apache-2.0
// Which subscribers are admitted to a publisher's table, and which thread rings which bell.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "src/base/bound_fd.hpp"
#include "src/transport/endpoint/publisher_core.hpp"

namespace {

using namespace std::chrono_literals;
using cardan::Fd;
using cardan::TopicOptions;
using cardan::detail::Attached;
using cardan::detail::BellBoard;
using cardan::detail::PublisherCore;

const cardan::detail::MessageType kType{"test_msgs/msg/T", "uint64 a\n", 1, 8, 8, false, 0};

struct TopicMade {
  std::shared_ptr<PublisherCore> core;
  std::shared_ptr<BellBoard> ours = std::make_shared<BellBoard>();
  std::map<uid_t, std::shared_ptr<BellBoard>> boards;

  explicit TopicMade(const TopicOptions& options)
      : core(std::make_shared<PublisherCore>("/table", kType, options, cardan::PublisherOptions{})) {}

  /// Null: refused.
  Attached* attach(uid_t uid, std::uint32_t holds = 1, bool reliable = false, bool background = false) {
    auto& board = boards[uid];
    if (!board) board = std::make_shared<BellBoard>();
    auto page = std::make_shared<cardan::layout::SubscriberPage>();
    auto a = std::make_unique<Attached>();
    a->page = page.get();
    a->local = page;
    a->bell = core->bell_for(uid, board, background);
    a->announced = holds + 1;
    a->uid = uid;
    a->reliable = reliable;
    a->floor = core->floor_for_late_joiner();
    try {
      return core->attach(std::move(a));
    } catch (const cardan::Error&) {
      return nullptr;
    }
  }
};

uid_t stranger(unsigned n) { return ::geteuid() + 1000 + n; }

/// The other end of a subscriber's fd().
class Descriptor {
 public:
  explicit Descriptor(Attached& of) {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    theirs_ = Fd(pair[0]);
    of.notify_socket = cardan::detail::BoundFd(Fd(pair[1]));
    of.notify = of.notify_socket.get();
  }
  int rung() {
    int count = 0;
    for (char c = 0; ::recv(theirs_.get(), &c, 1, MSG_DONTWAIT) > 0;) ++count;
    return count;
  }

 private:
  Fd theirs_;
};

TEST(PublisherTable, ManyOtherUsersLeavePlacesForOurOwnUser) {
  TopicMade made({.depth = 1});
  for (unsigned user = 0; user < 20; ++user)
    for (int i = 0; i < 200; ++i)
      if (made.attach(stranger(user)) == nullptr) break;
  int own = 0;
  while (own < 64 && made.attach(::geteuid()) != nullptr) ++own;
  EXPECT_EQ(own, 64) << "in addition to " << made.core->subscribers() - static_cast<std::size_t>(own)
                     << " of other users";
}

TEST(PublisherTable, ASubscriberInTheBackgroundIsWokenAfterAllOthers) {
  TopicMade made({.depth = 1});
  const Attached* const recorder = made.attach(::geteuid(), 1, false, true);
  const Attached* const reader = made.attach(::geteuid());
  const Attached* const other = made.attach(stranger(0), 1, false, true);
  ASSERT_NE(reader->bell, recorder->bell);
  EXPECT_FALSE(other->bell->background) << "another user has one bell";
  for (const Attached* a : {recorder, reader}) const_cast<cardan::layout::SubscriberPage&>(*a->page).waiting = 1;
  std::atomic<bool> done{false};
  std::uint32_t ahead = 0;
  std::thread watch([&] {
    while (!done) {
      const std::uint32_t last = recorder->bell->word().load();
      if (last > reader->bell->word().load()) ++ahead;
    }
  });
  for (int i = 0; i < 20'000; ++i) made.core->publish(made.core->loan(), 0, 0);
  done = true;
  watch.join();
  EXPECT_EQ(ahead, 0U);
  EXPECT_EQ(reader->bell->word().load(), 20'000U);
  EXPECT_EQ(recorder->bell->word().load(), 20'000U);
  EXPECT_EQ(made.core->hot().wakes.load(), 40'000U);
}

TEST(PublisherTable, ReadersOfThisProcessAreHandedASampleBeforeTheBackgroundIsWoken) {
  TopicMade made({.depth = 1});
  const Attached* const recorder = made.attach(::geteuid(), 1, false, true);
  const Attached* const reader = made.attach(::geteuid());
  for (const Attached* a : {recorder, reader}) const_cast<cardan::layout::SubscriberPage&>(*a->page).waiting = 1;
  struct Seen {
    const Attached *recorder, *reader;
    int slot = -1;
    std::uint32_t recorder_rung = 0, reader_rung = 0;
  } seen{recorder, reader};
  const int slot = made.core->loan();
  const cardan::detail::HandOver here{[](void* self, int s) noexcept {
                                        auto& at = *static_cast<Seen*>(self);
                                        at.slot = s;
                                        at.recorder_rung = at.recorder->bell->word().load();
                                        at.reader_rung = at.reader->bell->word().load();
                                      },
                                      &seen};
  made.core->publish(slot, 0, 0, here);
  EXPECT_EQ(seen.slot, slot);
  EXPECT_EQ(seen.reader_rung, 1U);
  EXPECT_EQ(seen.recorder_rung, 0U);
  EXPECT_EQ(recorder->bell->word().load(), 1U);
}

TEST(PublisherTable, AMissingBellForTheBackgroundIsNotAReasonToRefuse) {
  TopicMade made({.depth = 1});
  ASSERT_NE(made.attach(::geteuid()), nullptr);
  while (made.boards[::geteuid()]->allocate() >= 0) {
  }
  const Attached* const recorder = made.attach(::geteuid(), 1, false, true);
  ASSERT_NE(recorder, nullptr);
  EXPECT_FALSE(recorder->bell->background);
}

TEST(PublisherTable, OtherUsersTogetherLeaveSlotsForOurOwnUser) {
  TopicMade made({.depth = 1});
  const std::uint32_t room = made.core->header().max_slots - 3;
  for (unsigned user = 0; user < 4; ++user)
    for (std::uint32_t holds = 100; holds > 0;)
      if (made.attach(stranger(user), holds) == nullptr) holds /= 2;
  EXPECT_NE(made.attach(::geteuid(), room / 4 - 1), nullptr) << "a quarter of the room is never another user's";
}

TEST(PublisherTable, ASubscriberThatComesAndGoesWhileAPublishWaitsUsesUpItsShareOnly) {
  TopicMade made({.depth = 1, .reliable = true, .reliable_timeout = 5s});
  const Attached* const slow = made.attach(::geteuid(), 1, true);
  made.core->publish(made.core->loan(), 0, 0);
  std::atomic<bool> done{false};
  std::thread publisher([&] {
    made.core->wait_for_room(cardan::steady_now() + 5'000'000'000);  // is inside, like a publish that waits
    done = true;
  });
  while (made.core->hot().backpressure.load() == 0) std::this_thread::yield();
  int come_and_gone = 0;
  while (come_and_gone < 300) {
    const Attached* const a = made.attach(stranger(0));
    if (a == nullptr) break;
    made.core->detach(a);
    made.core->collect();
    ++come_and_gone;
  }
  EXPECT_FALSE(done);
  EXPECT_NE(made.attach(::geteuid()), nullptr) << "after " << come_and_gone << " of another user";
  made.core->detach(slow);
  publisher.join();
  EXPECT_TRUE(made.core->collect());
  EXPECT_NE(made.attach(stranger(0)), nullptr) << "what has left costs nothing any more";
}

TEST(PublisherTable, AReliableReaderThatComesAgainAndAgainCostsFewTimeOuts) {
  TopicMade made({.depth = 1, .reliable = true, .reliable_timeout = 20ms});
  const auto publish = [&] { made.core->publish(made.core->loan(), 0, 0); };
  publish();
  for (int i = 0; i < 20; ++i) {
    const Attached* const a = made.attach(stranger(0), 1, true);
    ASSERT_NE(a, nullptr);
    auto& page = const_cast<cardan::layout::SubscriberPage&>(*a->page);
    page.cursor = i % 2 == 0 ? 0 : made.core->published();  // demoted at once, or after it has kept up
    publish();
    publish();
    publish();
    made.core->detach(a);
    made.core->collect();
  }
  EXPECT_LE(made.core->hot().reliable_timeouts.load(), 3U) << "of 20 attachments within 60 ms";
}

TEST(PublisherTable, ReadersOfAnotherUserThatStopInTurnCostFewTimeOuts) {
  TopicMade made({.depth = 1, .reliable = true, .reliable_timeout = 20ms});
  const auto publish = [&] { made.core->publish(made.core->loan(), 0, 0); };
  std::vector<cardan::layout::SubscriberPage*> pages;
  for (int i = 0; i < 16; ++i) {
    const Attached* const a = made.attach(stranger(0), 1, true);
    ASSERT_NE(a, nullptr);
    pages.push_back(&const_cast<cardan::layout::SubscriberPage&>(*a->page));
  }
  for (std::size_t stopped = 0; stopped <= pages.size(); ++stopped) {
    for (std::size_t i = stopped; i < pages.size(); ++i) pages[i]->cursor = made.core->published();
    publish();
    for (std::size_t i = stopped; i < pages.size(); ++i) pages[i]->cursor = made.core->published();
    publish();
  }
  EXPECT_LE(made.core->hot().reliable_timeouts.load(), 3U);
  EXPECT_GE(made.core->hot().reliable_timeouts.load(), 1U);
}

TEST(PublisherTable, DescriptorsOfAnotherUserAreRungOnceAMillisecondAndWithinItsTime) {
  TopicMade made({.depth = 1});
  made.core->set_poke_helper([] {});
  Attached* const a = made.attach(stranger(0));
  ASSERT_NE(a, nullptr);
  Descriptor descriptor(*a);
  auto& page = const_cast<cardan::layout::SubscriberPage&>(*a->page);
  const auto publish = [&] {
    page.armed = page.armed.load() + 1;
    made.core->publish(made.core->loan(), 0, 0);
  };
  const auto rung = [&] { return descriptor.rung(); };
  cardan::detail::HelperTime time;
  std::int64_t now = cardan::steady_now();
  publish();
  EXPECT_TRUE(made.core->ring_for_others(time, now));
  EXPECT_EQ(rung(), 1);
  publish();
  EXPECT_FALSE(made.core->ring_for_others(time, now + 500'000)) << "half a millisecond later";
  EXPECT_EQ(rung(), 0);
  EXPECT_TRUE(made.core->ring_for_others(time, now += 1'100'000));
  EXPECT_EQ(rung(), 1);
  time.spend(a->uid, 1'000'000'000, now);  // as if the kernel had notified hundreds of epolls
  publish();
  EXPECT_FALSE(made.core->ring_for_others(time, now += 2'000'000));
  EXPECT_EQ(rung(), 0);
  EXPECT_TRUE(made.core->ring_for_others(time, now + 60'000'000'000));
  EXPECT_EQ(rung(), 1);
}

TEST(PublisherTable, APublicationRingsAnyNumberOfFollowersByOneSystemCall) {
  TopicMade made({.depth = 1});
  int pokes = 0;
  made.core->set_poke_helper([&] { ++pokes; });
  std::vector<Attached*> followers;
  std::vector<std::unique_ptr<Descriptor>> descriptors;
  for (int i = 0; i < 6; ++i) {
    followers.push_back(made.attach(::geteuid(), 1, false, i % 3 != 0));
    ASSERT_NE(followers.back(), nullptr);
    followers.back()->follows = true;
    descriptors.push_back(std::make_unique<Descriptor>(*followers.back()));
  }
  cardan::detail::HelperTime time;
  const auto& wakes = made.core->hot().wakes;
  // This many of them have emptied their descriptors.
  for (std::size_t armed = 0; armed <= followers.size(); ++armed) {
    for (std::size_t i = 0; i < armed; ++i) {
      auto& page = const_cast<cardan::layout::SubscriberPage&>(*followers[i]->page);
      page.armed = page.armed.load() + 1;
    }
    const std::uint64_t before = wakes.load();
    const int pokes_before = pokes;
    made.core->publish(made.core->loan(), 0, 0);
    made.core->publish(made.core->loan(), 0, 0);  // they are rung once
    EXPECT_EQ(wakes.load() - before, armed == 0 ? 0U : 1U) << armed;
    EXPECT_EQ(pokes - pokes_before, armed > 1 ? 1 : 0) << armed;
    EXPECT_TRUE(made.core->ring_for_others(time, cardan::steady_now()));
    for (std::size_t i = 0; i < followers.size(); ++i)
      EXPECT_EQ(descriptors[i]->rung(), i < armed ? 1 : 0) << armed << ", " << i;
  }
}

TEST(PublisherTable, ASubscriberThatDoesNotFollowIsRungAtOnceAmongFollowers) {
  TopicMade made({.depth = 1});
  made.core->set_poke_helper([] {});
  std::vector<std::unique_ptr<Descriptor>> descriptors;
  for (int i = 0; i < 3; ++i) {
    Attached* const a = made.attach(::geteuid(), 1, false, true);
    ASSERT_NE(a, nullptr);
    a->follows = i != 2;
    descriptors.push_back(std::make_unique<Descriptor>(*a));
    const_cast<cardan::layout::SubscriberPage&>(*a->page).armed = 1;
  }
  made.core->publish(made.core->loan(), 0, 0);
  EXPECT_EQ(descriptors[2]->rung(), 1) << "a recorder does not wait for the helper thread";
  EXPECT_EQ(descriptors[0]->rung() + descriptors[1]->rung(), 0);
  EXPECT_EQ(made.core->hot().wakes.load(), 2U);
}

TEST(PublisherTable, ASubscriberThatLeavesWhileItIsWaitedForCostsNoMore) {
  TopicMade made({.depth = 1, .reliable = true, .reliable_timeout = 10s});
  const auto publish = [&] { made.core->publish(made.core->loan(), 0, 0); };
  publish();
  std::atomic<int> waited{0};
  for (int i = 0; i < 6; ++i) {
    const Attached* const a = made.attach(stranger(0), 1, true);
    std::atomic<bool> done{false};
    std::thread publisher([&] {
      publish();
      publish();
      done = true;
    });
    while (!done && made.core->hot().backpressure.load() == 0) std::this_thread::yield();
    if (!done) ++waited;
    made.core->detach(a);
    publisher.join();
    made.core->collect();
  }
  EXPECT_LE(waited, 3);
}

}  // namespace
