// SPDX-License-Identifier: Apache-2.0
#include "src/record/recorder/batches.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "cardan/clock.hpp"
#include "src/record/recorder/recording_test.hpp"

namespace cardan::record {
namespace {

using namespace test;

/// A topic with samples, and batches of them. Their times are what the tests say.
class BatchesTest : public RecorderTest {
 protected:
  void begin(const RecorderOptions& o) {
    options_ = o;
    const detail::MessageType imu = detail::message_type_of<Imu>();
    TopicSource source{.name = kImu.name,
                       .type = imu.name,
                       .schema = imu.schema,
                       .type_hash = imu.hash,
                       .message_bytes = imu.bytes,
                       .depth = kImu.options.depth};
    auto framing = Framing::of(source);
    ASSERT_TRUE(framing);
    topic_ = std::make_unique<TopicQueue>(std::move(source), std::move(*framing), options_);
    topic_->attach(options_);
    batches_ = std::make_unique<Batches>(options_, [] {});
  }
  std::uint64_t add(std::uint64_t log_time, std::int64_t now) {
    publish_imu(imu_, ++published_);
    std::optional<TopicQueue::Waiting> sample;
    EXPECT_TRUE(reaches([&] {
      if (!sample) sample = topic_->take(steady_now(), {}, false);
      return sample.has_value();
    }));
    if (!sample) return 0;
    sample->log_time = log_time;
    return batches_->add(*topic_, *sample, now);
  }

  RecorderOptions options_;
  Publisher<Imu> imu_{kImu};
  std::uint32_t published_ = 0;
  std::unique_ptr<TopicQueue> topic_;
  std::unique_ptr<Batches> batches_;
};

TEST_F(BatchesTest, AChunkIsClosedAtItsAge) {
  RecorderOptions o = options();
  o.chunk_time = 200ms;
  begin(o);
  EXPECT_EQ(batches_->next_close_ns(), std::numeric_limits<std::int64_t>::max());
  const std::uint64_t bytes = add(10, 1'000) + add(11, 50'000);
  EXPECT_EQ(batches_->next_close_ns(), 200'001'000);
  batches_->close_old(200'000'999);
  EXPECT_TRUE(batches_->ready().empty());
  EXPECT_TRUE(batches_->nothing_left());
  batches_->close_old(200'001'000);
  ASSERT_EQ(batches_->ready().size(), 1U);
  EXPECT_FALSE(batches_->nothing_left());
  const Batches::Ready& ready = batches_->ready().front();
  ASSERT_NE(ready.batch, nullptr);
  EXPECT_EQ(ready.batch->messages(), 2U);
  EXPECT_EQ(ready.first_log_time, 10U);
  EXPECT_EQ(ready.opened_ns, 1'000);
  EXPECT_EQ(ready.closed_ns, 200'001'000);
  ASSERT_EQ(ready.shares.size(), 1U);
  EXPECT_EQ(ready.shares[0].messages, 2U);
  EXPECT_EQ(ready.shares[0].bytes, bytes);
  EXPECT_EQ(topic_->queued, 2U);
  EXPECT_EQ(topic_->queued_bytes, bytes);
}

TEST_F(BatchesTest, AFullChunkIsClosedAtOnce) {
  RecorderOptions o = options();
  o.chunk_bytes = 4096;
  begin(o);
  std::uint64_t samples = 0;
  while (batches_->ready().empty() && samples < 100) ++samples, add(samples, 0);
  ASSERT_EQ(batches_->ready().size(), 1U);
  EXPECT_EQ(batches_->ready().front().batch->messages(), samples);
  EXPECT_GE(batches_->ready().front().batch->bytes(), o.chunk_bytes);
}

TEST_F(BatchesTest, ACompressedChunkKeepsItsPlaceForAWhile) {
  RecorderOptions o = options();
  o.compression = mcap::Compression::Zstd;
  begin(o);
  add(10, 0);
  batches_->close_all(0);
  // Until it is collected it is being compressed, however fast that went.
  Batches::Ready* const first = batches_->oldest(Batches::kPatience - 1);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->batch, nullptr);
  EXPECT_EQ(batches_->oldest(Batches::kPatience), nullptr) << "others go first then";
  batches_->finish_packing();
  ASSERT_EQ(batches_->oldest(Batches::kPatience), first);
  ASSERT_NE(first->batch, nullptr);
  EXPECT_EQ(first->batch->compression(), "zstd");
  EXPECT_FALSE(batches_->nothing_left());
  const Batches::Ready taken = batches_->take(*first);
  EXPECT_EQ(taken.batch->messages(), 1U);
  EXPECT_TRUE(batches_->nothing_left());
}

TEST_F(BatchesTest, AChunkThatIsWrittenIsUsedAgain) {
  begin(options());
  add(10, 0);
  batches_->close_all(0);
  add(20, 5);
  batches_->close_all(5);
  Batches::Ready* const oldest = batches_->oldest(5);
  ASSERT_NE(oldest, nullptr);
  Batches::Ready first = batches_->take(*oldest);
  EXPECT_EQ(first.first_log_time, 10U) << "in the order in which they were closed";
  const Batch* const used = first.batch.get();
  EXPECT_EQ(batches_->own_bytes(), 2 * options_.chunk_bytes);
  batches_->give_back(std::move(first.batch));
  add(30, 10);
  batches_->close_all(10);
  ASSERT_EQ(batches_->ready().size(), 2U);
  EXPECT_EQ(batches_->ready().back().batch.get(), used);
  EXPECT_EQ(batches_->ready().back().batch->messages(), 1U) << "it was emptied";
}

}  // namespace
}  // namespace cardan::record
