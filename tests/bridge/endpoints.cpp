// SPDX-License-Identifier: Apache-2.0
// Cardan's side of the tests of bridges:
//   bridge_endpoints publish WIDTH HEIGHT HZ   /camera, /lidar and /text until standard input ends; /map once
//   bridge_endpoints transforms CHILD   once on /tf_static, and again and again on /tf and /clock
//   bridge_endpoints watch image|cloud|text|any TOPIC   a JSON line (any: CDR) for each message until standard input
//   ends
// The n-th message has bytes and numbers that follow from n, so that both sides can check them.
#include <poll.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "cardan/any_type.hpp"
#include "cardan/cardan.hpp"

namespace {

struct Text {
  cardan::shm::string data;
};

struct Transforms {
  cardan::shm::vector<cardan::TransformStamped> transforms;
};

bool input_has_ended() {
  pollfd in{.fd = 0, .events = POLLIN, .revents = 0};
  return ::poll(&in, 1, 0) > 0 && std::getchar() == EOF;
}

}  // namespace

CARDAN_MESSAGE(Text, "std_msgs/msg/String", data);
CARDAN_MESSAGE(Transforms, "tf2_msgs/msg/TFMessage", transforms);

namespace {

using namespace cardan;

int publish(std::uint32_t columns, std::uint32_t rows, double hz) {
  const std::size_t pixels = std::size_t{columns} * rows * 3;
  Publisher camera{Topic<Image>{"/camera", {.max_bytes = pixels, .depth = 4}}};
  Publisher lidar{Topic<PointCloud>{"/lidar", {.max_bytes = 1000 * sizeof(PointXYZI), .depth = 4}}};
  Publisher text{Topic<Text>{"/text", {.max_bytes = 1000, .depth = 16}}};
  Publisher map{Topic<Text>{"/map", {.max_bytes = 1000, .depth = 2}}};
  auto last = map.loan();
  last->data = "the map";
  map.publish(std::move(last));
  std::puts("ready");
  std::fflush(stdout);
  const auto period = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / hz));
  auto next = std::chrono::steady_clock::now();
  for (std::uint64_t n = 1; !input_has_ended(); ++n) {
    if (auto image = camera.loan()) {
      const auto bytes = image->resize(rows, columns, "bgr8");
      std::memset(bytes.data(), static_cast<int>(n % 251), bytes.size());
      image->header.stamp = static_cast<std::int64_t>(n);
      image->header.frame_id = "front";
      camera.publish(std::move(image));
    }
    if (auto cloud = lidar.loan()) {
      const auto points = cloud->resize_points<PointXYZI>(100 + n % 10);
      for (std::size_t i = 0; i < points.size(); ++i) points[i].x = static_cast<float>(n + i);
      cloud->header.stamp = static_cast<std::int64_t>(n);
      lidar.publish(std::move(cloud));
    }
    if (auto words = text.loan()) {
      words->data = "number " + std::to_string(n);
      text.publish(std::move(words));
    }
    std::this_thread::sleep_until(next += period);
  }
  return 0;
}

int publish_transforms(const char* child) {
  constexpr std::size_t kBytes = 100 * sizeof(TransformStamped);
  Publisher fixed{Topic<Transforms>{"/tf_static", {.max_bytes = kBytes, .depth = 1}}};
  Publisher moving{Topic<Transforms>{"/tf", {.max_bytes = kBytes, .depth = 10}}};
  Publisher clock{Topic<Clock>{"/clock", {.depth = 1}}};
  const auto say = [&](Publisher<Transforms>& to) {
    auto message = to.loan();
    message->transforms.resize(1);
    message->transforms[0].header.frame_id = "base";
    message->transforms[0].child_frame_id = FrameId(std::string_view(child));
    message->transforms[0].transform.rotation.w = 1;
    to.publish(std::move(message));
  };
  say(fixed);
  std::puts("ready");
  std::fflush(stdout);
  for (std::int64_t n = 1; !input_has_ended(); ++n) {
    say(moving);
    auto time = clock.loan();
    time->clock = n * 1'000'000'000;
    clock.publish(std::move(time));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return 0;
}

template <class T, class Show>
int watch(const std::string& topic, Show&& show) {
  Subscriber<T> in{Topic<T>{topic.c_str(), {.max_bytes = std::size_t{64} << 20U}}};
  while (!input_has_ended()) {
    while (auto sample = in.wait(std::chrono::milliseconds(50))) {
      show(sample);
      std::fflush(stdout);
    }
  }
  return 0;
}

/// Of a type that only the publisher knows: the message in CDR, as hexadecimal digits.
int watch_any(const std::string& topic) {
  std::optional<AnyType> type;
  while (!type && !input_has_ended()) type = AnyType::of_topic(topic);
  if (!type) return 0;
  AnySubscriber in(topic, type->message_type(), TopicOptions{.max_bytes = std::size_t{64} << 20U});
  CdrFramer framer(*type);
  while (!input_has_ended()) {
    while (const AnySample sample = in.wait(std::chrono::milliseconds(50))) {
      if (!framer.frame(sample)) continue;
      for (const std::span<const std::byte> part :
           {std::span<const std::byte>(framer.parts().prefix), framer.parts().payload,
            std::span<const std::byte>(framer.parts().suffix)})
        for (const std::byte byte : part) std::printf("%02x", static_cast<unsigned>(byte));
      std::putchar('\n');
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "publish" && argc == 5)
    return publish(static_cast<std::uint32_t>(std::atoi(argv[2])), static_cast<std::uint32_t>(std::atoi(argv[3])),
                   std::atof(argv[4]));
  if (verb == "transforms" && argc == 3) return publish_transforms(argv[2]);
  const std::string_view what = argc == 4 && verb == "watch" ? argv[2] : "";
  if (what == "image")
    return watch<Image>(argv[3], [](const Sample<Image>& s) {
      bool same = true;
      for (const std::uint8_t byte : s->data) same = same && byte == s->data[0];
      std::printf("{\"height\": %u, \"width\": %u, \"bytes\": %zu, \"first\": %d, \"same\": %s, \"source\": %lld}\n",
                  s->height, s->width, s->data.size(), s->data.size() == 0 ? -1 : s->data[0], same ? "true" : "false",
                  static_cast<long long>(s.source_time()));
    });
  if (what == "cloud")
    return watch<PointCloud>(argv[3], [](const Sample<PointCloud>& s) {
      std::printf("{\"width\": %u, \"bytes\": %zu}\n", s->width, s->data.size());
    });
  if (what == "text")
    return watch<Text>(argv[3], [](const Sample<Text>& s) {
      const auto age = s.origin_age();
      std::printf("{\"text\": \"%.*s\", \"source\": %lld, \"missed\": %llu, \"age_ns\": %s}\n",
                  static_cast<int>(s->data.size()), s->data.data(), static_cast<long long>(s.source_time()),
                  static_cast<unsigned long long>(s.missed()), age ? std::to_string(age->count()).c_str() : "null");
    });
  if (what == "any") return watch_any(argv[3]);
  std::fputs("usage: bridge_endpoints publish WIDTH HEIGHT HZ | transforms CHILD | watch image|cloud|text|any TOPIC\n",
             stderr);
  return 2;
}
