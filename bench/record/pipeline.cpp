// SPDX-License-Identifier: Apache-2.0
// SPEED's Fig. 11: a pipeline from sensor to actuator, whose frames are recorded meanwhile.
#include "bench/record/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <vector>

#include "bench/record/parts.hpp"
#include "bench/record/payload.hpp"
#include "bench/record/sensors.hpp"
#include "bench/record/work.hpp"
#include "bench/stage.hpp"
#include "bench/transport/clock.hpp"
#include "cardan/cardan.hpp"
#include "cardan/cycle.hpp"

namespace cardan::bench::recording {
namespace {

using ByteInput = Subscriber<ByteArray>;

// Units (of 10 µs) of a frame's work besides reading it: detection grows with the objects, the rest does not.
constexpr std::uint32_t kDetectUnits = 100;
constexpr std::uint32_t kObjectUnits = 15;
constexpr std::uint32_t kPlanUnits = 200;

std::unique_ptr<ByteInput> newest_of(const SensorGroup& group) {
  return std::make_unique<ByteInput>(
      Topic<ByteArray>{group.topic.c_str(), {.max_bytes = group.bytes, .depth = group.depth}},
      SubscriberOptions{.depth = 1});
}

// Every word, as a detector that scales the picture down reads it.
std::uint64_t read_all(std::span<const std::uint8_t> bytes) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    sum += word;
  }
  return sum;
}

const Scene& scene_of(const std::string& name) {
  for (const Scene& scene : kScenes)
    if (name.size() == 1 && name[0] == scene.name) return scene;
  return kScenes[0];
}

}  // namespace

std::uint32_t objects_at(const Scene& scene, std::uint64_t frame, double rate_hz) noexcept {
  const double angle = 2 * std::numbers::pi * static_cast<double>(frame) / rate_hz / scene.period_s;
  return static_cast<std::uint32_t>(std::lround(std::max(0.0, scene.objects + scene.swing * std::sin(angle))));
}

void play_pipeline(const nlohmann::json& job) {
  Stage stage;
  const Sensors sensors = sensors_of(job.at("sensors"));
  const Scene& scene = scene_of(job.at("scene"));
  const std::uint64_t steps = job.at("unit_steps");
  const SensorGroup& front = sensors.at(0);
  const auto camera = newest_of(front);
  std::vector<std::unique_ptr<ByteInput>> others;
  for (std::size_t i = 1; i < sensors.size(); ++i)
    if (sensors[i].readers > 0) others.push_back(newest_of(sensors[i]));
  Publisher<ByteArray> command(Topic<ByteArray>{"/command/brake", {.max_bytes = 64}});
  Cycle cycle("pipeline", std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / front.rate_hz)));
  stage.ready();
  if (!stage.wait_for_go()) return;

  std::vector<double> latency_ms;
  latency_ms.reserve(messages_in(front, job.at("seconds")));
  std::uint64_t seed = 1;
  for (std::uint64_t n = 0; !stage.end_asked();) {
    auto frame = camera->wait(std::chrono::milliseconds{200});
    if (!frame) continue;
    cycle.begin();
    seed ^= read_all(frame->data.span());
    const std::uint32_t units = kDetectUnits + kPlanUnits + kObjectUnits * objects_at(scene, n++, front.rate_hz);
    const std::int64_t seen = frame.publish_time();
    frame.reset();
    for (const auto& other : others)
      if (const auto sample = other->take()) seed ^= read_all(sample->data.span());
    for (std::uint32_t i = 0; i < units; ++i) seed = do_unit(steps, seed);
    if (auto loan = command.loan(); loan && loan->data.try_resize_for_overwrite(sizeof seed)) {
      std::memcpy(loan->data.data(), &seed, sizeof seed);
      command.publish(std::move(loan));
    }
    latency_ms.push_back(static_cast<double>(now_ns() - seen) / 1e6);
    cycle.end();
  }
  Stage::report({{"end_to_end_ms", latency_ms}, {"missed", camera->missed()}});
}

}  // namespace cardan::bench::recording
