// SPDX-License-Identifier: Apache-2.0
// The publisher that the tests of the command look at. Obeys lines on standard input, answers each with one line:
//   publish N · run HZ · pause · subscribe · take · exclusive · open · serve · serve_own · log · status · end (the
//   publishers only); ends with its input.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "cardan/cardan.hpp"
#include "cardan/service.hpp"

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
struct alignas(32) Wide {
  std::uint64_t number = 0;
};

}  // namespace

CARDAN_MESSAGE(Own, "test_msgs/msg/Own", header, number, third, gear, text, values);
CARDAN_MESSAGE(False, "std_msgs/msg/String", number);
CARDAN_MESSAGE(Wide, "test_msgs/msg/Wide", number);

namespace {

const cardan::Topic<cardan::Image> kImage{"/test/image", {.max_bytes = 64 * 48 * 3}};
const cardan::Topic<Own> kOwn{"/test/own", {.max_bytes = 4096, .depth = 8}};
const cardan::Topic<Own> kOnly{"/test/only", {.max_bytes = 4096, .exclusive = true}};
const cardan::Topic<False> kOpen{"/test/open", {.access = cardan::Access::Everyone}};
/// Under the name of `cardan run`'s log.
const cardan::Topic<Own> kNoLog{"/cardan/log", {.max_bytes = 4096}};
const cardan::Topic<Wide> kWide{"/test/wide", {}};
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

}  // namespace

int main() {
  auto publishers = std::make_unique<Publishers>();
  std::optional<cardan::Subscriber<Own>> subscriber;
  std::optional<cardan::Publisher<Own>> exclusive, no_log;
  std::optional<cardan::Publisher<False>> open;
  std::optional<cardan::Server<cardan::Service<False, False>>> silent;
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
    } else if (order == "serve_own") {
      silent.emplace(cardan::Service<False, False>{"/test/silent"});
      say("done");
    } else if (order == "log") {
      no_log.emplace(kNoLog);
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
