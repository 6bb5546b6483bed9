// SPDX-License-Identifier: Apache-2.0
// Sensors for the tests of `cardan record`: a camera, an IMU, its own type and one that cannot be recorded, 50
// times a second until the standard input ends; then prints how many each published.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "cardan/cardan.hpp"

namespace {

struct Wheel {
  float speed = 0;
  std::uint16_t teeth = 0;
};
struct Own {
  cardan::Header header;
  std::uint64_t number = 0;
  std::array<Wheel, 2> wheels{};
  cardan::FixedString<20> text;
  cardan::shm::vector<std::int32_t> values;
};
struct alignas(32) Wide {
  std::uint64_t number = 0;
};

}  // namespace

CARDAN_MESSAGE(Wheel, "test_msgs/msg/Wheel", speed, teeth);
CARDAN_MESSAGE(Own, "test_msgs/msg/Own", header, number, wheels, text, values);
CARDAN_MESSAGE(Wide, "test_msgs/msg/Wide", number);

int main() {
  using namespace cardan;
  constexpr std::uint32_t kRows = 240, kColumns = 321;
  Publisher camera{Topic<Image>{"/camera/front", {.max_bytes = kRows * kColumns * 3, .depth = 64}}};
  Publisher imu{Topic<Imu>{"/imu", {.depth = 256}}};
  Publisher own{Topic<Own>{"/own", {.max_bytes = 4096, .depth = 256}}};
  Publisher wide{Topic<Wide>{"/wide", {}}};
  std::puts("ready");
  std::fflush(stdout);
  std::atomic<bool> stop{false};
  std::thread sensors([&] {
    auto next = std::chrono::steady_clock::now();
    for (std::uint64_t n = 1; !stop; ++n) {
      auto image = camera.loan();
      const auto pixels = image->resize(kRows, kColumns, "bgr8");
      std::memset(pixels.data(), static_cast<int>(n % 251), pixels.size());
      image->header.stamp = static_cast<std::int64_t>(n);
      image->header.frame_id = "front";
      camera.publish(std::move(image));
      auto measured = imu.loan();
      measured->header.stamp = static_cast<std::int64_t>(n);
      measured->linear_acceleration.z = 9.81;
      imu.publish(std::move(measured));
      auto mine = own.loan();
      mine->number = n;
      mine->wheels[1] = {2.5F, 48};
      mine->text = "some text";
      for (std::int32_t i = 0; i < 10; ++i) mine->values.push_back(i);
      own.publish(std::move(mine));
      wide.publish({n});
      std::this_thread::sleep_until(next += std::chrono::milliseconds(20));
    }
  });
  while (std::getchar() != EOF) {
  }
  stop = true;
  sensors.join();
  std::printf("%llu\n", static_cast<unsigned long long>(camera.published()));
  return 0;
}
