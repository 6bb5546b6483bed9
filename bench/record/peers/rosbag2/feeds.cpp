// SPDX-License-Identifier: Apache-2.0
#include "bench/record/peers/rosbag2/feeds.hpp"

#include <poll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <thread>

#include "bench/record/payload.hpp"
#include "bench/record/peers/rosbag2/message_queue.hpp"
#include "bench/stage.hpp"
#include "bench/transport/clock.hpp"
#include "cardan/cardan.hpp"

namespace cardan::bench::rosbag2 {
namespace {

using recording::ByteArray;
using recording::kCdrPrefixBytes;

constexpr int kPollMs = 5;

struct Producer {
  MessageQueue queue;
  MessagePointer message;
  std::uint64_t made = 0;
  double cpu_s = 0;
};

// Written once, as rosbag2's generator does: its content does not matter to a program that only copies it.
MessagePointer generated(std::uint16_t topic, std::size_t bytes, std::uint16_t sensor) {
  std::vector<std::uint8_t> payload(bytes);
  recording::write_payload(payload, {.sensor = sensor, .number = 1});
  return copy_message(topic, payload);
}

void produce(Producer& out, const recording::SensorGroup& group, recording::Schedule schedule, double seconds,
             std::int64_t start) {
  recording::Beats beats(schedule, group.rate_hz, recording::messages_in(group, seconds), start);
  while (!beats.done()) {
    sleep_until(beats.due_ns());
    out.queue.push(out.message);
    ++out.made;
    beats.made(now_ns());
  }
  out.cpu_s = bench::thread_cpu().sum();
}

std::span<const std::uint8_t> payload_of(const Message& message) {
  return {reinterpret_cast<const std::uint8_t*>(message.data.get()) + kCdrPrefixBytes, message.bytes - kCdrPrefixBytes};
}

}  // namespace

MessagePointer copy_message(std::uint16_t topic, std::span<const std::uint8_t> payload) {
  auto message = std::make_shared<Message>();
  message->topic = topic;
  message->time_ns = wall_now();
  message->bytes = kCdrPrefixBytes + payload.size();
  message->data = std::make_unique_for_overwrite<std::byte[]>(message->bytes);
  constexpr std::array<std::uint8_t, 4> kLittleEndianCdr{0, 1, 0, 0};
  const auto length = static_cast<std::uint32_t>(payload.size());
  std::memcpy(message->data.get(), kLittleEndianCdr.data(), kLittleEndianCdr.size());
  std::memcpy(message->data.get() + 4, &length, sizeof length);
  std::memcpy(message->data.get() + kCdrPrefixBytes, payload.data(), payload.size());
  return message;
}

Fed feed_without_transport(const recording::Sensors& sensors, recording::Schedule schedule, double seconds,
                           Writer& writer, const std::function<void()>& all_made) {
  std::deque<Producer> producers;
  std::vector<const recording::SensorGroup*> groups;
  for (std::size_t topic = 0; topic < sensors.size(); ++topic)
    for (std::uint32_t i = 0; i < sensors[topic].count; ++i) {
      producers.emplace_back().message =
          generated(static_cast<std::uint16_t>(topic), sensors[topic].bytes, static_cast<std::uint16_t>(groups.size()));
      groups.push_back(&sensors[topic]);
    }

  std::atomic<std::size_t> running{producers.size()};
  std::vector<std::jthread> threads;
  const std::int64_t start = now_ns() + 1'000'000;
  for (std::size_t i = 0; i < producers.size(); ++i)
    threads.emplace_back([&, i] {
      const auto period = static_cast<std::int64_t>(1e9 / groups[i]->rate_hz);
      const auto phase = period * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(producers.size());
      produce(producers[i], *groups[i], schedule, seconds, start + phase);
      running.fetch_sub(1, std::memory_order_release);
    });

  Fed fed;
  bool told = false;
  for (bool all_made_before = false, any = true; any || !all_made_before;) {
    all_made_before =
        running.load(std::memory_order_acquire) == 0;  // before the queues are looked at for the last time
    if (all_made_before && !told) {
      told = true;
      all_made();
    }
    any = false;
    for (Producer& producer : producers) {
      const MessagePointer message = producer.queue.pop();
      if (message == nullptr) continue;
      any = true;
      const std::int64_t before = now_ns();
      writer.write(copy_message(message->topic, payload_of(*message)));
      fed.handling_ns += now_ns() - before;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  threads.clear();
  for (const Producer& producer : producers) {
    fed.made += producer.made;
    fed.dropped += producer.queue.dropped();
    fed.producers_cpu_s += producer.cpu_s;
  }
  return fed;
}

class TopicFeed::Inputs {
 public:
  explicit Inputs(const recording::Sensors& sensors) {
    for (const recording::SensorGroup& group : sensors) {
      Topic<ByteArray> topic{group.topic.c_str(), {.max_bytes = group.bytes, .depth = group.depth}};
      all_.push_back(std::make_unique<Subscriber<ByteArray>>(topic));
      fds_.push_back({all_.back()->fd(), POLLIN, 0});
    }
  }

  /// One message of each topic that has one; false: none has.
  bool take_one_each(Writer& writer, std::int64_t& handling_ns) {
    bool any = false;
    for (std::size_t topic = 0; topic < all_.size(); ++topic) {
      const std::int64_t before = now_ns();
      const auto sample = all_[topic]->take();
      if (!sample) continue;
      any = true;
      writer.write(copy_message(static_cast<std::uint16_t>(topic), sample->data.span()));
      handling_ns += now_ns() - before;
    }
    return any;
  }
  void wait() { ::poll(fds_.data(), fds_.size(), kPollMs); }
  [[nodiscard]] std::uint64_t missed() const {
    std::uint64_t sum = 0;
    for (const auto& in : all_) sum += in->missed();
    return sum;
  }

 private:
  std::vector<std::unique_ptr<Subscriber<ByteArray>>> all_;
  std::vector<pollfd> fds_;
};

TopicFeed::TopicFeed(const recording::Sensors& sensors) : inputs_(std::make_unique<Inputs>(sensors)) {}
TopicFeed::~TopicFeed() = default;

Fed TopicFeed::run(Writer& writer, const std::function<bool()>& ended) {
  Fed fed;
  while (!ended()) {
    if (!inputs_->take_one_each(writer, fed.handling_ns)) inputs_->wait();
  }
  fed.dropped = inputs_->missed();
  return fed;
}

}  // namespace cardan::bench::rosbag2
