// SPDX-License-Identifier: Apache-2.0
// The sensors: each a thread and a publisher, as in rosbag2_performance_benchmarking, in one process of their own, so
// that their CPU time is measured separately.
#include <algorithm>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "bench/record/parts.hpp"
#include "bench/record/payload.hpp"
#include "bench/record/schedule.hpp"
#include "bench/record/sensors.hpp"
#include "bench/stage.hpp"
#include "bench/transport/clock.hpp"
#include "bench/transport/peers/cardan_frames.hpp"
#include "cardan/cardan.hpp"

namespace cardan::bench::recording {
namespace {

constexpr std::int64_t kLead = 30'000'000;  // from the order to begin to the first message

class Sensor {
 public:
  Sensor(const SensorGroup& group, std::uint32_t place, std::uint16_t number)
      : group_(group),
        place_(place),
        number_(number),
        out_(Topic<ByteArray>{group.topic.c_str(), {.max_bytes = group.bytes, .depth = group.depth}}) {}

  [[nodiscard]] bool read_by_all() const { return out_.subscribers() >= group_.readers; }

  void run(Schedule schedule, double seconds, std::int64_t start) {
    const auto period = static_cast<std::int64_t>(1e9 / group_.rate_hz);
    const std::uint64_t count = messages_in(group_, seconds);
    publish_ns_.reserve(count);
    // Sensors of a kind are not synchronized: each has its own phase.
    const std::int64_t phase = period * place_ / static_cast<std::int64_t>(group_.count);
    Beats beats(schedule, group_.rate_hz, count, start + phase);
    for (std::uint64_t n = 1; !beats.done(); ++n) {
      sleep_until(beats.due_ns());
      make(n);
      beats.made(now_ns());
    }
    skipped_ = beats.skipped();
  }

  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }
  [[nodiscard]] const std::string& topic() const noexcept { return group_.topic; }
  /// How long each publish() took.
  [[nodiscard]] const std::vector<std::int64_t>& publish_ns() const noexcept { return publish_ns_; }

 private:
  void make(std::uint64_t n) noexcept {
    ++made_;
    auto loan = out_.loan();
    if (!loan || !loan->data.try_resize_for_overwrite(group_.bytes)) {
      ++refused_;
      return;
    }
    write_payload(loan->data.span(), {.sensor = number_, .number = n});
    loan.set_source_time(wall_now());
    const std::int64_t before = now_ns();
    out_.publish(std::move(loan));
    publish_ns_.push_back(now_ns() - before);
  }

  SensorGroup group_;
  std::uint32_t place_;
  std::uint16_t number_;
  Publisher<ByteArray> out_;
  std::uint64_t made_ = 0, refused_ = 0, skipped_ = 0;
  std::vector<std::int64_t> publish_ns_;
};

}  // namespace

void play_producer(const nlohmann::json& job) {
  Stage stage;
  const Sensors sensors = sensors_of(job.at("sensors"));
  const Schedule schedule =
      job.at("schedule") == name_of(Schedule::IntegerMs) ? Schedule::IntegerMs : Schedule::Absolute;
  const double seconds = job.at("seconds");
  std::vector<std::unique_ptr<Sensor>> all;
  for (const SensorGroup& group : sensors)
    for (std::uint32_t i = 0; i < group.count; ++i)
      all.push_back(std::make_unique<Sensor>(group, i, static_cast<std::uint16_t>(all.size())));
  wait_until("not all readers attached", [&] {
    return std::all_of(all.begin(), all.end(), [](const auto& sensor) { return sensor->read_by_all(); });
  });
  stage.ready();
  if (!stage.wait_for_go()) return;

  const CpuTime before = own_cpu();
  const std::int64_t start = now_ns() + kLead;
  {
    std::vector<std::jthread> threads;
    for (auto& sensor : all)
      threads.emplace_back([&sensor, schedule, seconds, start] { sensor->run(schedule, seconds, start); });
  }
  const CpuTime used = own_cpu().since(before);
  const double took = static_cast<double>(now_ns() - start) / 1e9;
  stage.done();
  stage.wait_for_end();  // what is still held or queued stays until then

  std::uint64_t made = 0;
  std::uint64_t refused = 0;
  std::uint64_t skipped = 0;
  nlohmann::json topics = nlohmann::json::object();
  nlohmann::json publish = nlohmann::json::object();
  for (const auto& sensor : all) {
    made += sensor->made();
    refused += sensor->refused();
    skipped += sensor->skipped();
    topics[sensor->topic()] = topics.value(sensor->topic(), std::uint64_t{0}) + sensor->made();
    auto& times = publish[sensor->topic()];
    if (times.is_null()) times = nlohmann::json::array();
    for (const std::int64_t ns : sensor->publish_ns()) times.push_back(ns);
  }
  Stage::report({{"made", made},
                 {"refused", refused},
                 {"skipped", skipped},
                 {"topics", topics},
                 {"publish_ns", publish},
                 {"seconds", took},
                 {"cpu", to_json(used)}});
}

}  // namespace cardan::bench::recording
