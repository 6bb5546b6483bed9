// SPDX-License-Identifier: Apache-2.0
// Another reader of a camera: what its frames cost it while they are recorded.
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/record/parts.hpp"
#include "bench/record/payload.hpp"
#include "bench/record/sensors.hpp"
#include "bench/stage.hpp"
#include "bench/transport/clock.hpp"
#include "cardan/cardan.hpp"

namespace cardan::bench::recording {

void play_reader(const nlohmann::json& job) {
  Stage stage;
  const Sensors sensors = sensors_of(job.at("sensors"));
  const SensorGroup& camera = sensors.at(0);
  Subscriber<ByteArray> in(Topic<ByteArray>{camera.topic.c_str(), {.max_bytes = camera.bytes, .depth = camera.depth}},
                           SubscriberOptions{.depth = 1});
  stage.ready();
  if (!stage.wait_for_go()) return;

  std::vector<std::int64_t> transport;
  transport.reserve(messages_in(sensors, job.at("seconds")));
  std::uint64_t torn = 0;
  while (!stage.end_asked()) {
    const auto frame = in.wait(std::chrono::milliseconds{200});
    const std::int64_t in_hand = now_ns();
    if (!frame) continue;
    if (!check_payload(frame->data.span(), false).intact) ++torn;
    transport.push_back(in_hand - frame.publish_time());
  }
  Stage::report({{"transport_ns", transport}, {"missed", in.missed()}, {"torn", torn}});
}

}  // namespace cardan::bench::recording
