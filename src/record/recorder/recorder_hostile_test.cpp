// SPDX-License-Identifier: Apache-2.0
// Publishers that lie about their times or never pause, and a disk that stays full: the recorder continues, and what
// others publish is in the file.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <limits>
#include <numeric>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/cycle.hpp"
#include "src/record/recorder/recording_test.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/publisher_core.hpp"

namespace cardan::record {
namespace {

using namespace test;

class RecorderHostile : public RecorderTest {};

/// Publishes what says of its time whatever it likes.
template <class T>
class Liar {
 public:
  explicit Liar(const Topic<T>& topic)
      : process_(detail::Process::of({})),
        core_(std::make_shared<detail::PublisherCore>(topic.name, detail::message_type_of<T>(), topic.options,
                                                      PublisherOptions{})) {
    process_.add(core_);
  }
  Liar(const Liar&) = delete;
  Liar& operator=(const Liar&) = delete;
  ~Liar() { process_.remove(core_); }

  void publish(std::int64_t published_ns, std::uint32_t number) {
    auto loan = detail::loan_of<T>(core_);
    ASSERT_TRUE(loan);
    if constexpr (std::is_same_v<T, Image>) {
      const auto pixels = loan->resize(kRows, kColumns, "bgr8");
      std::fill(pixels.begin(), pixels.end(), static_cast<std::uint8_t>(number));
    } else {
      loan->angular_velocity.x = number;
    }
    loan->header.stamp = number;
    const detail::Filled filled = detail::take_out(loan);
    filled.core->publish(filled.slot, filled.payload_bytes, 0);
    const layout::Header& h = core_->header();
    auto* const meta = reinterpret_cast<layout::SlotMeta*>(core_->area().data() + h.slots_offset +
                                                           static_cast<std::size_t>(filled.slot) * h.slot_stride);
    meta->publish_ns.store(published_ns, std::memory_order_relaxed);
  }

 private:
  detail::Process& process_;
  std::shared_ptr<detail::PublisherCore> core_;
};

TEST_F(RecorderHostile, StampsMaySayAnything) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max(), kHour = 3'600'000'000'000;
  const std::vector<std::int64_t> stamps{-kMost - 1,           -kMost / 2,           -1,        0,         1,
                                         steady_now() - kHour, steady_now() + kHour, kMost / 8, kMost / 2, kMost};
  const auto count = static_cast<std::uint32_t>(stamps.size());
  const auto before = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  // They are there before the recorder: it takes their false values.
  Liar<Imu> imu{kImu};
  Liar<Image> camera{kCamera};
  Publisher honest{Topic<Imu>{"/honest", {.depth = 1024}}};
  for (std::uint32_t i = 0; i < count; ++i) {
    imu.publish(stamps[i], i + 1);
    camera.publish(stamps[i], i + 1);
    publish_imu(honest, i + 1);
  }
  Recorder recorder(options());
  ASSERT_TRUE(reaches([&] {
    const RecorderReport now = recorder.report();
    return now.recorded + now.lost == std::uint64_t{3} * count;
  }));
  recorder.stop();
  EXPECT_EQ(recorder.report().failure, "");
  EXPECT_EQ(recorder.report().lost, 0U);
  for (const char* const topic : {kImu.name, kCamera.name}) {  // a liar's samples have no order
    auto numbers = numbers_in(options().path, topic);
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(numbers, up_to(count));
  }
  EXPECT_EQ(numbers_in(options().path, "/honest"), up_to(count));
  const auto after = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  const mcap::Reader reader(options().path);
  mcap::Messages messages = reader.messages();
  while (const auto m = messages.next()) {
    EXPECT_GE(m->message.log_time, before);
    EXPECT_LE(m->message.log_time, after);
    EXPECT_LE(m->message.publish_time, m->message.log_time) << "of the future";
  }
  expect_good(options().path);
}

/// Publishes without a pause on its own thread, until it is told or goes.
template <class T>
class Flood {
 public:
  explicit Flood(const Topic<T>& topic)
      : out_(topic), thread_([this] {
          T message{};
          while (!stop_.load(std::memory_order_relaxed)) out_.publish(message);
        }) {}
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;
  ~Flood() { stop(); }

  std::uint64_t stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return out_.published();
  }

 private:
  Publisher<T> out_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_F(RecorderHostile, AFloodCostsItselfAlone) {
  Publisher imu{kImu};
  RecorderOptions o = options();
  o.queue_bytes = 4 << 20;
  Recorder recorder(o);
  Flood<CanFrame> flood{Topic<CanFrame>{"/flood", {.depth = 8}}};
  constexpr std::uint32_t kSamples = 200;
  for (std::uint32_t i = 1; i <= kSamples; ++i) {
    publish_imu(imu, i);
    std::this_thread::sleep_for(2ms);
  }
  // It is not kept from telling and from writing the others, though the flood continues …
  EXPECT_TRUE(reaches([&] { return of_topic(recorder.report(), kImu.name).recorded == kSamples; }));
  const std::uint64_t published = flood.stop();
  recorder.stop();
  EXPECT_EQ(numbers_in(o.path, kImu.name), up_to(kSamples));
  // … and of the flood everything is recorded or counted.
  const TopicReport topic = of_topic(recorder.report(), "/flood");
  EXPECT_EQ(std::accumulate(topic.lost.begin(), topic.lost.end(), topic.recorded), published)
      << topic.recorded << " recorded, lost by cause " << testing::PrintToString(topic.lost);
  EXPECT_GT(topic.recorded, 0U);
}

TEST_F(RecorderHostile, LossesOfAFullQueueAreCountedAtTheEndToo) {
  // Its slots are larger than what is in them: there are four to be held, and in bytes the queue has room for more.
  Publisher camera{Topic<Image>{"/roomy", {.max_bytes = 1 << 20, .depth = 64}}};
  RecorderOptions o = options();
  o.queue_bytes = 2 << 20;
  Recorder recorder(o);
  ASSERT_TRUE(reaches([&] { return camera.subscribers() == 1; }));
  for (std::uint32_t i = 1; i <= 60; ++i) publish_image(camera, i);
  recorder.stop();
  const TopicReport topic = of_topic(recorder.report(), "/roomy");
  EXPECT_EQ(std::accumulate(topic.lost.begin(), topic.lost.end(), topic.recorded), 60U);
}

TEST_F(RecorderHostile, StopsWhileTheFloodContinues) {
  RecorderOptions o = options();
  o.rules = {{.pattern = "/thinned", .every = 1'000'000}};  // nearly all of it is left out, without a rest
  Recorder recorder(o);
  const Flood<CanFrame> flood{Topic<CanFrame>{"/flood", {.depth = 8}}};
  const Flood<CanFrame> thinned{Topic<CanFrame>{"/thinned", {.depth = 1024}}};
  const Flood<CanFrame> more{Topic<CanFrame>{"/thinned", {.depth = 1024}}};
  ASSERT_TRUE(reaches([&] { return of_topic(recorder.report(), "/flood").recorded > 0; }));
  recorder.stop();  // what this waits for is what was published until now, not what comes meanwhile
  EXPECT_EQ(recorder.report().failure, "");
  expect_good(options().path);
}

TEST_F(RecorderHostile, HintsWithoutAPauseKeepItFromNothing) {
  Publisher imu{kImu};
  RecorderOptions o = options();
  o.topics = {kImu.name};
  o.schedule.policy = SchedulePolicy::Cycle;
  Recorder recorder(o);
  const Flood<CycleHint> hints{Topic<CycleHint>{"/cardan/cycles", {.depth = 8}}};
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    Cycle cycle("never idle", 1ms);
    while (!stop) cycle.begin(), cycle.end();
  });
  for (std::uint32_t i = 1; i <= 100; ++i) {
    publish_imu(imu, i);
    std::this_thread::sleep_for(2ms);
  }
  EXPECT_TRUE(reaches([&] { return recorder.report().recorded == 100; }));
  stop = true;
  busy.join();
  recorder.stop();
  EXPECT_EQ(recorder.report().lost, 0U);
  EXPECT_EQ(numbers_in(o.path, kImu.name), up_to(100));
}

}  // namespace
}  // namespace cardan::record
