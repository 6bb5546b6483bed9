// SPDX-License-Identifier: Apache-2.0
// A subscriber without a process around it: its events, and streams that are set aside or lost.
#include "src/transport/endpoint/subscriber_core.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "cardan/clock.hpp"
#include "cardan/log.hpp"
#include "src/transport/discovery/client.hpp"
#include "src/transport/endpoint/answer_times.hpp"
#include "src/transport/endpoint/foreign.hpp"
#include "src/transport/endpoint/publisher_core.hpp"

namespace {

using cardan::Event;
using cardan::Fd;
using namespace cardan::detail;
namespace layout = cardan::layout;

const MessageType kWord{"test_msgs/msg/Word", "uint64 a\n", 1, 8, 8, false, 0};
uid_t other_user(unsigned n) { return ::geteuid() + 3000 + n; }

class SubscriberCores : public testing::Test {
 protected:
  SubscriberCores() {
    cardan::set_log([](auto, const auto&) {});
    in_ = SubscriberCore::create("/cores", kWord, nullptr, {}, {});
    in_->poke_helper = [this] { ++poked_; };
  }
  ~SubscriberCores() override {
    in_->helper().remove_all_streams();
    in_->drop_reference();
    cardan::set_log({});
  }

  /// Adds a publisher's stream, as another user's if `whose` is one.
  Stream* add(const PublisherCore& core, uid_t whose) {
    const auto page = std::make_shared<layout::SubscriberPage>();
    make_subscriber_page(reinterpret_cast<std::byte*>(page.get()));
    Stream::Parts parts;
    parts.area = core.area().data();
    parts.area_bytes = core.area().size();
    parts.slots = core.hot().committed;
    parts.foreign = is_foreign(whose);
    parts.area_owner = whose;
    if (parts.foreign)
      parts.area_fd = cardan::detail::BoundFd(Fd(::fcntl(core.area().read_only_fd(), F_DUPFD_CLOEXEC, 0)));
    parts.bell = &bells_.bell(0);
    parts.page = page.get();
    parts.keep = page;
    parts.peer_name = "by hand";
    Stream* stream = Stream::create(std::move(parts), in_->stream_room());
    in_->helper().add_stream(stream);
    return stream;
  }
  bool takes_one() {
    SampleBlock* block = in_->take();
    if (block != nullptr) SubscriberCore::give_back(block);
    return block != nullptr;
  }

  BellBoard bells_;
  int poked_ = 0;
  SubscriberCore* in_ = nullptr;
};

/// Puts publication 1 into this slot, regardless of the publisher's own order of slots.
void publish_by_hand(const PublisherCore& core, std::uint32_t slot) {
  const layout::Header& h = core.header();
  std::byte* area = core.area().data();
  const cardan::protocol::PublisherRing<cardan::Native> ring{
      reinterpret_cast<cardan::Atomic<std::uint64_t>*>(area + h.front_offset),
      reinterpret_cast<cardan::Atomic<std::uint64_t>*>(area + h.ring_offset),
      &reinterpret_cast<layout::SlotMeta*>(area + h.slots_offset)->sequence,
      h.slot_stride,
      h.depth,
      h.max_slots};
  cardan::protocol::publish<cardan::Native>(ring, {1, slot});
}

TEST_F(SubscriberCores, EventsOfOtherUsersPushNoneOfOurOwnUserOut) {
  in_->helper().emit({Event::Kind::Died, 1, "our own publisher died"});
  for (unsigned i = 0; i < 500; ++i) {
    in_->helper().emit({Event::Kind::Joined, 2, "joined"}, other_user(i % 8));
    in_->helper().emit({Event::Kind::Left, 2, "left"}, other_user(i % 8));
  }
  const auto first = in_->next_event();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, Event::Kind::Died);
  std::size_t more = 0;
  while (in_->next_event()) ++more;
  EXPECT_EQ(more, 255U);
  for (int i = 0; i < 300; ++i) in_->helper().emit({Event::Kind::Joined, 1, std::to_string(i)});
  EXPECT_EQ(in_->next_event()->text, "44") << "of our own the newest 256";
}

TEST_F(SubscriberCores, EventsOfAnotherUsersStreamsAreLimited) {
  const PublisherCore core("/cores", kWord, {}, {});
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t id = add(core, other_user(0))->id;
    in_->helper().end_stream(id, Stream::End::Left);
  }
  std::size_t events = 0;
  while (in_->next_event()) ++events;
  EXPECT_EQ(events, kForeignEvents);
  const std::uint64_t own = add(core, ::geteuid())->id;
  in_->helper().end_stream(own, Stream::End::Died);
  EXPECT_EQ(in_->next_event()->kind, Event::Kind::Joined);
  EXPECT_EQ(in_->next_event()->kind, Event::Kind::Died);
}

TEST_F(SubscriberCores, APublisherThatCannotBeCheckedYetIsSetAsideAndNotCutOff) {
  const uid_t whose = other_user(1);
  PublisherCore core("/cores", kWord, {}, {});
  const std::uint64_t id = add(core, whose)->id;
  auto& times = AnswerTimes::of_process();
  ASSERT_GT(times.begin(whose, cardan::steady_now()), 0);
  times.done(whose);
  times.spent(whose, 2'000'000'000);
  core.hold_own(4);  // more slots than the subscriber knows
  publish_by_hand(core, core.hot().committed - 1);
  EXPECT_TRUE(in_->ready_streams());
  EXPECT_FALSE(takes_one());
  EXPECT_FALSE(in_->ready_streams()) << "a reader would spin until the question is answered";
  ASSERT_NE(in_->helper().find_stream(id), nullptr);
  EXPECT_EQ(in_->helper().find_stream(id)->end.load(), Stream::End::Running) << "others used up the time for looking";
  EXPECT_GE(poked_, 1);
  times.spent(whose, -2'000'000'000);
  const std::int64_t due = in_->helper().end_asides(cardan::steady_now() - 1'000'000'000);
  ASSERT_NE(due, 0);
  EXPECT_FALSE(takes_one()) << "not before its time";
  EXPECT_EQ(in_->helper().end_asides(due), 0);
  EXPECT_TRUE(takes_one());
}

TEST_F(SubscriberCores, OfALostStreamNothingIsTakenUntilItIsKnownThatItsPublisherIsDead) {
  PublisherCore core("/cores", kWord, {}, {});
  const std::uint64_t id = add(core, ::geteuid())->id;
  publish_by_hand(core, 0);
  in_->helper().end_stream(id, Stream::End::Lost);
  EXPECT_FALSE(in_->ready_streams());
  EXPECT_FALSE(takes_one()) << "a living publisher refills what it holds for nobody";
  Stream* stream = in_->helper().find_stream(id);
  ASSERT_NE(stream, nullptr);
  stream->end.store(Stream::End::Died);
  EXPECT_TRUE(takes_one()) << "what a dead one left";
}

}  // namespace
