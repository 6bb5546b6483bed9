// SPDX-License-Identifier: Apache-2.0
// The publisher that the tests of the command look at. Obeys lines on standard input, answers each with one line:
//   publish N · run HZ · pause · subscribe · take · exclusive · open · serve · serve_own · log · status · end (the
//   publishers only) · tf · tf_two · tf_loop · tf_recorded · tf_apart · tf_hostile · tf_row N · tf_silent · tf_pause;
//   ends with its input.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cardan/cardan.hpp"
#include "cardan/service.hpp"
#include "cardan/transforms.hpp"

namespace {

enum class Gear : std::uint8_t { Park = 1, Drive = 7 };
struct Own {
  cardan::Header header;
  std::uint64_t number = 0;
  float third = 0;
  Gear gear = Gear::Drive;
  cardan::FixedString<20> text;
  cardan::shm::vector<std::int32_t> values;
};
/// Not what its name says.
struct False {
  std::uint64_t number = 0;
};
struct Addends {
  std::int64_t a = 0, b = 0;
};
struct Sum {
  std::int64_t sum = 0;
};
struct alignas(32) Wide {
  std::uint64_t number = 0;
};

}  // namespace

CARDAN_MESSAGE(Own, "test_msgs/msg/Own", header, number, third, gear, text, values);
CARDAN_MESSAGE(False, "std_msgs/msg/String", number);
CARDAN_MESSAGE(Addends, "example_interfaces/srv/AddTwoInts_Request", a, b);
CARDAN_MESSAGE(Sum, "example_interfaces/srv/AddTwoInts_Response", sum);
CARDAN_MESSAGE(Wide, "test_msgs/msg/Wide", number);

namespace {

const cardan::Topic<cardan::Image> kImage{"/test/image", {.max_bytes = 64 * 48 * 3}};
const cardan::Topic<Own> kOwn{"/test/own", {.max_bytes = 4096, .depth = 8}};
const cardan::Topic<Own> kOnly{"/test/only", {.max_bytes = 4096, .exclusive = true}};
const cardan::Topic<False> kOpen{"/test/open", {.access = cardan::Access::Everyone}};
/// Under the name of `cardan run`'s log.
const cardan::Topic<Own> kNoLog{"/cardan/log", {.max_bytes = 4096}};
const cardan::Topic<Wide> kWide{"/test/wide", {}};
/// As in ROS 2's examples.
constexpr cardan::Service<Addends, Sum> kAdd{"/add_two_ints"};
constexpr cardan::Service<False, False> kSilent{"/test/silent", {.access = cardan::Access::Everyone}};

class Publishers {
 public:
  void publish() {
    ++number_;
    auto image = image_.loan();
    auto pixels = image->resize(48, 64, "rgb8");
    for (auto& p : pixels) p = static_cast<std::uint8_t>(number_);
    image->header.frame_id = "camera";
    image_.publish(std::move(image));
    auto own = own_.loan();
    own->header.stamp = static_cast<std::int64_t>(number_);
    own->number = number_;
    own->third = static_cast<float>(number_) / 3;
    own->text = "some text";
    for (std::int32_t i = 0; i < 100; ++i) own->values.push_back(i);
    own_.publish(std::move(own));
    wide_.publish({number_});
  }
  [[nodiscard]] std::string status() const {
    return fmt::format("published {} subscribers {} {} {}", own_.published(), image_.subscribers(), own_.subscribers(),
                       wide_.subscribers());
  }

 private:
  std::uint64_t number_ = 0;
  cardan::Publisher<cardan::Image> image_{kImage};
  cardan::Publisher<Own> own_{kOwn};
  cardan::Publisher<Wide> wide_{kWide};
};

/// Transforms for `cardan tf`.
class Places {
 public:
  void add_static(std::string_view parent, std::string_view child, const cardan::Transform& place) {
    static_.push_back(std::make_unique<cardan::StaticTransform>(parent, child, place));
  }
  /// 50 times a second, at x = 1 m and a yaw of 90°, until pause().
  void move(std::string_view parent, std::string_view child, std::int64_t added_to_stamp = 0) {
    moving_.emplace_back([=, this](const std::stop_token& stop) {
      cardan::TransformOutput output{cardan::PublisherOptions{}};
      const cardan::Transform place{.translation = {1, 0, 0}, .rotation = cardan::from_rpy(0, 0, 1.5707963267948966)};
      while (!stop.stop_requested()) {
        output.publish(parent, child, cardan::wall_now() + added_to_stamp, place);
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
      }
      // The publisher stays, so that a frame is stale, and not unknown.
      while (!ended_) std::this_thread::sleep_for(std::chrono::milliseconds{5});
    });
  }
  void pause() {
    for (std::jthread& one : moving_) one.request_stop();
  }
  /// Each in the one before it, in one message.
  void row(std::size_t frames) {
    cardan::Topic<cardan::TransformMessage> topic = cardan::kStaticTransforms;
    topic.options.max_bytes = frames * sizeof(cardan::TransformStamped) + 1024;
    raw_.emplace(topic);
    auto message = raw_->loan();
    message->transforms.resize(frames);
    for (std::size_t i = 0; i < frames; ++i)
      message->transforms[i] = placed(fmt::format("f{:03}", i), fmt::format("f{:03}", i + 1), {});
    raw_->publish(std::move(message));
  }
  void silent() { raw_.emplace(cardan::kTransforms); }
  void hostile() {
    raw_.emplace(cardan::kStaticTransforms);
    auto message = raw_->loan();
    message->transforms.push_back(placed("map", "red\x1b[31m\nok: 1 frame\r", {}));
    message->transforms.push_back(placed("map", "not\xff\xfeUTF-8", {}));
    message->transforms.push_back(placed("map", std::string(60, 'x'), {{1e15, -1e15, 0}, {}}));
    message->transforms.push_back(placed("map", "nan", {{std::nan(""), 0, 0}, {}}));
    message->transforms.push_back(placed("map", "long", {{}, {0, 0, 0, 2}}));
    message->transforms.push_back(placed("map", "map", {}));
    message->transforms.push_back(placed("", "nowhere", {}));
    raw_->publish(std::move(message));
  }
  ~Places() { ended_ = true; }

 private:
  static cardan::TransformStamped placed(std::string_view parent, std::string_view child,
                                         const cardan::Transform& place) {
    cardan::TransformStamped one;
    one.header.frame_id = cardan::FrameId(parent);
    one.child_frame_id = cardan::FrameId(child);
    one.transform = place;
    return one;
  }

  std::vector<std::unique_ptr<cardan::StaticTransform>> static_;
  std::optional<cardan::Publisher<cardan::TransformMessage>> raw_;
  std::atomic<bool> ended_{false};
  std::vector<std::jthread> moving_;
};

}  // namespace

int main() {
  auto publishers = std::make_unique<Publishers>();
  std::optional<cardan::Subscriber<Own>> subscriber;
  std::optional<cardan::Publisher<Own>> exclusive, no_log;
  std::optional<cardan::Publisher<False>> open;
  std::optional<cardan::Server<cardan::Service<False, False>>> silent;
  Places places;
  std::jthread adder;
  std::atomic<bool> running{false};
  std::thread runner;
  const auto pause = [&] {
    running = false;
    if (runner.joinable()) runner.join();
  };
  const auto say = [](const std::string& text) {
    std::puts(text.c_str());
    std::fflush(stdout);
  };
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string order;
    double number = 0;
    words >> order >> number;
    if (order == "publish") {
      for (int i = 0; i < static_cast<int>(number); ++i) publishers->publish();
      say("done");
    } else if (order == "run") {
      pause();
      running = true;
      runner = std::thread([&, period = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::duration<double>(1 / number))] {
        for (auto next = std::chrono::steady_clock::now(); running; next += period) {
          std::this_thread::sleep_until(next);
          publishers->publish();
        }
      });
      say("done");
    } else if (order == "pause") {
      pause();
      say("done");
    } else if (order == "subscribe") {
      subscriber.emplace(kOwn);
      say("done");
    } else if (order == "take") {
      int taken = 0;
      while (const auto sample = subscriber->take()) ++taken;
      say(fmt::format("took {}", taken));
    } else if (order == "exclusive") {
      exclusive.emplace(kOnly);
      say("done");
    } else if (order == "open") {
      open.emplace(kOpen);
      say("done");
    } else if (order == "serve") {  // and never answers
      silent.emplace(kSilent);
      say("done");
    } else if (order == "add") {  // answers until the end; negative numbers are declined
      adder = std::jthread([server = std::make_unique<cardan::Server<cardan::Service<Addends, Sum>>>(kAdd)](
                               const std::stop_token& ends) {
        while (!ends.stop_requested()) {
          auto question = server->wait(std::chrono::milliseconds(10));
          if (!question) continue;
          if (question->a < 0)
            question.decline("no negative numbers");
          else
            question.reply(Sum{question->a + question->b});
        }
      });
      say("done");
    } else if (order == "serve_own") {
      silent.emplace(cardan::Service<False, False>{"/test/silent"});
      say("done");
    } else if (order == "log") {
      no_log.emplace(kNoLog);
      say("done");
    } else if (order == "tf") {
      places.add_static("base_link", "lidar", {.translation = {1.2, 0, 1.5}, .rotation = {}});
      places.move("map", "base_link");
      say("done");
    } else if (order == "tf_two") {  // of a second process: another parent
      places.move("odom", "base_link");
      say("done");
    } else if (order == "tf_loop") {
      places.move("lidar", "map");
      say("done");
    } else if (order == "tf_recorded") {  // stamps of another time
      places.move("map", "base_link", -std::int64_t{100} * 24 * 3600 * 1'000'000'000);
      say("done");
    } else if (order == "tf_apart") {
      places.add_static("trailer", "camera", {});
      say("done");
    } else if (order == "tf_hostile") {
      places.hostile();
      say("done");
    } else if (order == "tf_row") {
      places.row(static_cast<std::size_t>(number));
      say("done");
    } else if (order == "tf_silent") {
      places.silent();
      say("done");
    } else if (order == "tf_pause") {
      places.pause();
      say("done");
    } else if (order == "status") {
      say(publishers->status());
    } else if (order == "end") {
      pause();
      publishers.reset();
      say("done");
    } else {
      say("unknown order: " + order);  // a test fails on it, and does not wait
    }
  }
  pause();
  return 0;
}
