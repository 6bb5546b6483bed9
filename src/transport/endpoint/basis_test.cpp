// SPDX-License-Identifier: Apache-2.0
// The basis of a publication between processes: the words of the slot, and what a reader makes of them.
#include "cardan/detail/basis.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "cardan/publisher.hpp"
#include "cardan/subscriber.hpp"
#include "src/transport/endpoint/publisher_core.hpp"
#include "tests/support/run_directory.hpp"

namespace basis_test {
struct Number {
  std::uint64_t value = 0;
};
}  // namespace basis_test
CARDAN_MESSAGE(basis_test::Number, "test_msgs/msg/BasisNumber", value);

namespace cardan {
namespace {

using namespace std::chrono_literals;
using basis_test::Number;
using detail::Basis;
using detail::kUnknownOrigin;

TEST(Basis, TheOldestGroundCounts) {
  Basis basis;
  basis.add(Basis{.origin_ns = 50, .stream = 1, .sequence = 11});
  basis.add(Basis{.origin_ns = 40, .stream = 2, .sequence = 22});
  basis.add(Basis{.origin_ns = 60, .stream = 3, .sequence = 33});
  EXPECT_EQ(basis.origin_ns, 40);
  EXPECT_EQ(basis.stream, 2U);
  EXPECT_EQ(basis.sequence, 22U);
  basis.add(Basis{.origin_ns = kUnknownOrigin, .stream = 4, .sequence = 44});
  basis.add(Basis{.origin_ns = 30, .stream = 5, .sequence = 55});
  EXPECT_EQ(basis.origin_ns, kUnknownOrigin) << "it could be older than any";
}

TEST(Basis, AnotherUsersWordIsNotHandedOn) {
  detail::SampleBlock block;
  block.publish_ns = 100;
  EXPECT_EQ(block.basis_ns(), 100) << "it rests on nothing else";
  block.origin_ns = 90;
  EXPECT_EQ(block.basis_ns(), 90);
  block.foreign = true;
  EXPECT_EQ(block.basis_ns(), kUnknownOrigin);
}

TEST(CallbackBasis, AFusedSetIsCausedByItsTriggerElseByItsOldestSample) {
  const auto fill = [](detail::SampleBlock& block, std::uint64_t stream, std::uint64_t sequence, std::int64_t at) {
    block.stream_id = stream;
    block.sequence = sequence;
    block.publish_ns = at;
  };
  detail::SampleBlock left, right, next_left, next_right;
  fill(left, 1, 11, 50);
  fill(right, 2, 21, 60);
  fill(next_left, 1, 12, 90);
  fill(next_right, 2, 22, 80);
  detail::CallbackBasis basis;
  basis.triggered_by(next_left);
  EXPECT_EQ(basis.with({}).origin_ns, 90);
  detail::SampleBlock* first[] = {&left, &right};  // by which it was decided that nothing closer comes
  basis.fused(first, 2);
  EXPECT_EQ(basis.with({}).origin_ns, 50);
  EXPECT_EQ(basis.with({}).stream, 1U);
  EXPECT_EQ(basis.with({}).sequence, 11U);
  detail::SampleBlock* second[] = {&next_left, &next_right};
  basis.fused(second, 2);
  EXPECT_EQ(basis.with({}).origin_ns, 80);
  EXPECT_EQ(basis.with({}).stream, 1U) << "the trigger, although the other one is older";
  EXPECT_EQ(basis.with({}).sequence, 12U);
}

/// A sample of stream 1, of a private one that rests on nothing, and of one that rests on sample 21 of stream 2.
struct PrivateSamples : testing::Test {
  PrivateSamples() {
    fill(shared, 1, 11, 50);
    fill(tick, 8, 81, 40);
    fill(scene, 9, 91, 30);
    tick.is_private = scene.is_private = true;
    scene.cause_stream = 2;
    scene.cause_sequence = 21;
  }
  static void fill(detail::SampleBlock& block, std::uint64_t stream, std::uint64_t sequence, std::int64_t at) {
    block.stream_id = stream;
    block.sequence = sequence;
    block.publish_ns = at;
  }
  static void expect(const Basis& basis, std::uint64_t stream, std::uint64_t shared_stream,
                     std::uint64_t shared_sequence) {
    EXPECT_EQ(basis.stream, stream);
    EXPECT_EQ(basis.shared_stream, shared_stream);
    EXPECT_EQ(basis.shared_sequence, shared_sequence);
  }
  detail::OwnBlock shared, tick, scene;
};

TEST_F(PrivateSamples, TheSharedCauseIsTheNearestThatOthersCanFind) {
  Basis both, reversed;
  for (auto* const block : {&shared, &tick}) both.add(*block);
  for (auto* const block : {&tick, &shared}) reversed.add(*block);
  expect(both, 8, 1, 11);
  expect(reversed, 8, 1, 11);
  both.add(scene);
  expect(both, 9, 2, 21);

  detail::CallbackBasis basis;
  basis.triggered_by(tick);
  expect(basis.with({}), 8, 0, 0);
  basis.read(shared);
  expect(basis.with({}), 8, 1, 11);
  basis.triggered_by(scene);
  expect(basis.with({}), 9, 2, 21);
}

TEST_F(PrivateSamples, ASetThatAPrivateSampleCompletesHasTheSharedCauseOfAnother) {
  for (auto* const trigger : {&tick, &scene}) {
    detail::CallbackBasis basis;
    basis.triggered_by(*trigger);
    detail::SampleBlock* set[] = {&shared, trigger};
    basis.fused(set, 2);
    if (trigger == &tick)
      expect(basis.with({}), 8, 1, 11);
    else
      expect(basis.with({}), 9, 2, 21);
  }
}

TEST_F(PrivateSamples, ACopyOfOneIsOneToo) {
  detail::OwnBlock copy;
  copy.publish_ns = scene.publish_ns;
  copy.take_ground_of(scene);
  Basis basis;
  basis.add(copy);
  EXPECT_EQ(basis.shared_stream, 2U);
  EXPECT_EQ(basis.shared_sequence, 21U);
}

TEST(CallbackBasis, ATimerThatAsksAFusionForASetRestsOnIt) {
  detail::SampleBlock left;
  left.stream_id = 1;
  left.sequence = 11;
  left.publish_ns = 50;
  detail::CallbackBasis basis;
  detail::SampleBlock* set[] = {nullptr, &left};
  basis.fused(set, 2);
  EXPECT_EQ(basis.with({}).origin_ns, 50);
  EXPECT_EQ(basis.with({}).sequence, 11U);
}

class BasisOfLoans : public test::OwnRunDirectory {
 protected:
  Topic<Number> in_{"/in", {.depth = 4}}, out_{"/out", {.depth = 4}};
  Publisher<Number> camera_{in_}, command_{out_};
  Subscriber<Number> pictures_{in_, {.holds = 4}}, commands_{out_, {.holds = 4}};
};

TEST_F(BasisOfLoans, APublicationThatNamesNothingIsItsOwnOrigin) {
  camera_.publish({1});
  const auto picture = pictures_.take();
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture.origin_time(), picture.publish_time());
  ASSERT_TRUE(picture.origin_age());
  EXPECT_GE(*picture.origin_age(), 0ns);
}

TEST_F(BasisOfLoans, TheOldestNamedSampleIsTheOrigin) {
  camera_.publish({1});
  const auto first = pictures_.take();
  camera_.publish({2});
  const auto second = pictures_.take();
  Loan<Number> loan = command_.loan();
  loan.rests_on(second);
  loan.rests_on(first);
  loan.rests_on(Sample<Number>{});
  command_.publish(std::move(loan));
  const auto command = commands_.take();
  ASSERT_TRUE(command);
  EXPECT_EQ(command.origin_time(), first.publish_time());

  Loan<Number> again = command_.loan();
  command_.publish(std::move(again));
  const auto other = commands_.take();
  ASSERT_TRUE(other);
  EXPECT_EQ(other.origin_time(), other.publish_time()) << "nothing is left of the loan before";
}

TEST_F(BasisOfLoans, AnOriginThatCannotBeTrueIsUnknown) {
  const auto told = [&](std::int64_t origin) {
    Loan<Number> loan = command_.loan();
    detail::Filled filled = detail::take_out(loan);
    filled.core->publish(filled.slot, 0, 0, {}, Basis{.origin_ns = origin, .stream = 7, .sequence = 1});
    return commands_.take();
  };
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t lie :
       {kUnknownOrigin, kLeast, kMost, kMost - 1, std::int64_t{1} << 61, steady_now() + 3'600'000'000'000}) {
    const auto sample = told(lie);
    ASSERT_TRUE(sample) << lie;
    EXPECT_EQ(sample.origin_time(), 0) << lie;
    EXPECT_FALSE(sample.origin_age()) << lie;
  }
  EXPECT_EQ(told(5).origin_time(), 5);
}

TEST_F(BasisOfLoans, ALieAboutAChainIsUnknownOrBounded) {
  const auto core = std::make_shared<detail::PublisherCore>("/lies", detail::message_type_of<Number>(), TopicOptions{},
                                                            PublisherOptions{}, detail::ChainRole{.entries = 1});
  core->hold_own(2);
  const auto& header = core->header();
  const auto told = [&](std::int64_t origin, std::int64_t hop_ns) {
    const int slot = core->loan();
    core->publish(slot, 0, 0);
    const Sample<Number> sample = detail::sample_of<Number>(core->keep(slot));
    std::byte* const record =
        core->area().data() + header.slots_offset + static_cast<std::size_t>(slot) * header.slot_stride;
    auto& entry = *reinterpret_cast<layout::ChainEntry*>(
        record + layout::chain_offset(header.message_offset, header.message_bytes));
    entry.from = 7;
    entry.hop = 8;
    entry.origin_ns = origin;
    entry.hop_ns = hop_ns;
    detail::ChainGrounds grounds;
    grounds.add(*detail::block_of(sample));
    EXPECT_EQ(grounds.all().size(), 1U);
    return grounds.all()[0];
  };
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t lie : {kMost, kLeast, std::int64_t{0}, std::int64_t{-7}, steady_now() + 3'600'000'000'000}) {
    EXPECT_EQ(told(lie, kMost).origin_ns, kUnknownOrigin) << lie;
    EXPECT_EQ(told(lie, kMost).hop_ns, 0) << lie;
  }
  const std::int64_t origin = steady_now() - 1'000'000;
  EXPECT_EQ(told(origin, kLeast).hop_ns, 0);
  EXPECT_LT(told(origin, kMost).hop_ns, 1'000'000'000) << "no hop takes longer than the whole way";
  EXPECT_EQ(told(origin, 500).hop_ns, 500);
}

TEST(ChainGrounds, AnotherUsersSampleIsOfUnknownAgeAndHandsNothingOn) {
  detail::SampleBlock block;
  block.publish_ns = 100;
  block.chain_from = 7;
  detail::ChainGrounds carried;
  carried.add({.from = 8, .hop = 0, .origin_ns = 50, .hop_ns = 0, .since_ns = 60});
  block.own_chains = std::make_unique<const detail::ChainGrounds>(carried);
  const auto grounds_of = [&](bool foreign) {
    block.foreign = foreign;
    detail::ChainGrounds grounds;
    grounds.add(block);
    return grounds;
  };
  ASSERT_EQ(grounds_of(true).all().size(), 1U);
  EXPECT_EQ(grounds_of(true).all()[0].origin_ns, kUnknownOrigin);
  ASSERT_EQ(grounds_of(false).all().size(), 2U);
  EXPECT_EQ(grounds_of(false).all()[0].origin_ns, 100);
  EXPECT_EQ(grounds_of(false).all()[1].origin_ns, 50);
}

TEST(ChainGrounds, TheOlderOfTwoStaysAndTheRestIsLeftOut) {
  detail::ChainGrounds grounds;
  const auto ground = [](std::uint32_t from, std::int64_t origin) {
    return detail::ChainGround{.from = from, .hop = 0, .origin_ns = origin, .hop_ns = 0, .since_ns = origin};
  };
  for (const std::int64_t origin : {50, 40, 60}) grounds.add(ground(1, origin));
  ASSERT_EQ(grounds.all().size(), 1U);
  EXPECT_EQ(grounds.all()[0].origin_ns, 40);
  grounds.add(ground(1, kUnknownOrigin));
  EXPECT_EQ(grounds.all()[0].origin_ns, kUnknownOrigin) << "it could be older than any";
  for (std::uint32_t from = 2; from < 20; ++from) grounds.add(ground(from, 1));
  EXPECT_EQ(grounds.all().size(), detail::ChainGrounds::kMost);
}

}  // namespace
}  // namespace cardan
