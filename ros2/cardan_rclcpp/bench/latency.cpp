// SPDX-License-Identifier: Apache-2.0
// From node to node, between two processes, each with the same kind of executor: 1920 x 1200 bgr8 by Cardan and by
// ROS 2.
//
//   ros2 run cardan_rclcpp latency [--executor single|multi|static] [--frames 600] [--hz 30] [--way cardan|ros|both]
//                                  [--runs 1]
//
// With several runs the two ways take turns, and the last line has the medians of the runs' ratios.
//
// A frame's latency is the time from just before its pixels are handed over (publish) to the callback's first line. The
// pixels are filled before, in place for Cardan, in a message that is used again for ROS 2. The pixels carry a mark at
// both ends, which the receiver checks.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cardan_rclcpp/cardan_rclcpp.hpp"
#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/image.hpp"

namespace {

constexpr std::uint32_t kWidth = 1920;
constexpr std::uint32_t kHeight = 1200;
constexpr std::size_t kBytes = std::size_t{kWidth} * kHeight * 3;
constexpr std::size_t kWarmUp = 30;  // frames that are not counted

inline constexpr cardan::Topic<cardan::Image> kFrames{"/latency/frames", {.max_bytes = kBytes}};

struct Settings {
  std::string executor = "single";
  std::string way = "both";
  std::size_t frames = 600;
  double hz = 30;
  std::size_t runs = 1;
};

/// Of one run of one way, in microseconds.
struct Result {
  double p50 = 0;
  double p99 = 0;
};

// The steady clock is the same in both processes.
std::int64_t now() { return cardan::steady_now(); }

void mark(std::uint8_t* pixels, std::uint64_t number, std::int64_t sent) {
  std::memcpy(pixels, &number, sizeof number);
  std::memcpy(pixels + sizeof number, &sent, sizeof sent);
  std::memcpy(pixels + kBytes - sizeof number, &number, sizeof number);
}

std::unique_ptr<rclcpp::Executor> make_executor(const std::string& kind) {
  if (kind == "single") return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
  if (kind == "multi") return std::make_unique<rclcpp::executors::MultiThreadedExecutor>(rclcpp::ExecutorOptions(), 2);
#if !RCLCPP_VERSION_GTE(29, 0, 0)  // deprecated there
  if (kind == "static") return std::make_unique<rclcpp::executors::StaticSingleThreadedExecutor>();
#endif
  throw std::invalid_argument("--executor is single, multi or static");
}

/// Latencies of what arrived, and how much of it was not what was sent.
struct Tally {
  std::vector<double> microseconds;
  std::uint64_t last = 0;
  std::size_t seen = 0;
  std::size_t torn = 0;

  void add(const std::uint8_t* pixels, std::size_t bytes, std::int64_t arrived) {
    if (bytes != kBytes) throw std::runtime_error("a frame of another size");
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    std::int64_t sent = 0;
    std::memcpy(&head, pixels, sizeof head);
    std::memcpy(&sent, pixels + sizeof head, sizeof sent);
    std::memcpy(&tail, pixels + kBytes - sizeof tail, sizeof tail);
    torn += head != tail;
    last = head;
    if (++seen > kWarmUp) microseconds.push_back(static_cast<double>(arrived - sent) / 1000);
  }
  [[nodiscard]] double at(double part) {
    if (microseconds.empty()) return 0;
    std::sort(microseconds.begin(), microseconds.end());
    return microseconds[std::min(microseconds.size() - 1,
                                 static_cast<std::size_t>(part * static_cast<double>(microseconds.size())))];
  }
};

/// The receiving process: ends with the sender, by a signal.
void receive(const Settings& settings, bool by_cardan, int result) {
  rclcpp::init(0, nullptr);
  Tally tally;
  {
    auto node = std::make_shared<rclcpp::Node>("latency_receiver");
    cardan::ros::Subscription<cardan::Image> cardans;
    rclcpp::Subscription<sensor_msgs::msg::Image>::SharedPtr ros;
    if (by_cardan)
      cardans = cardan::ros::Subscription<cardan::Image>(
          node, kFrames, [&](const cardan::Image& image) { tally.add(image.data.data(), image.data.size(), now()); });
    else
      ros = node->create_subscription<sensor_msgs::msg::Image>(
          "/latency/frames", rclcpp::QoS(1).reliable(),
          [&](const sensor_msgs::msg::Image& image) { tally.add(image.data.data(), image.data.size(), now()); });
    auto executor = make_executor(settings.executor);
    executor->add_node(node);
    executor->spin();
  }
  const double figures[] = {tally.at(0.5), tally.at(0.99), tally.at(1), static_cast<double>(tally.microseconds.size()),
                            static_cast<double>(tally.torn)};
  if (::write(result, figures, sizeof figures) != sizeof figures) std::_Exit(1);
  rclcpp::shutdown();
  std::_Exit(0);
}

/// The sending process: a timer of the same kind of executor publishes.
void send(const Settings& settings, bool by_cardan) {
  rclcpp::init(0, nullptr);
  {
    auto node = std::make_shared<rclcpp::Node>("latency_sender");
    std::unique_ptr<cardan::ros::Publisher<cardan::Image>> cardans;
    rclcpp::Publisher<sensor_msgs::msg::Image>::SharedPtr ros;
    sensor_msgs::msg::Image message;
    if (by_cardan) {
      cardans = std::make_unique<cardan::ros::Publisher<cardan::Image>>(node, kFrames);
    } else {
      ros = node->create_publisher<sensor_msgs::msg::Image>("/latency/frames", rclcpp::QoS(1).reliable());
      message.height = kHeight;
      message.width = kWidth;
      message.step = kWidth * 3;
      message.encoding = "bgr8";
      message.data.assign(kBytes, 0);
    }
    std::uint64_t number = 0;
    const auto publish = [&] {
      if (by_cardan ? cardans->subscribers() == 0 : ros->get_subscription_count() == 0) return;
      if (++number > settings.frames + kWarmUp) return;
      if (by_cardan) {
        auto frame = cardans->loan();
        if (!frame) return;
        const auto pixels = frame->resize(kHeight, kWidth, "bgr8");
        std::memset(pixels.data(), static_cast<int>(number % 256), pixels.size());
        mark(pixels.data(), number, now());
        cardans->publish(std::move(frame));
      } else {
        std::memset(message.data.data(), static_cast<int>(number % 256), message.data.size());
        mark(message.data.data(), number, now());
        ros->publish(message);
      }
    };
    const auto timer = node->create_wall_timer(std::chrono::duration<double>(1 / settings.hz), publish);
    auto executor = make_executor(settings.executor);
    executor->add_node(node);
    executor->spin();
  }
  rclcpp::shutdown();
  std::_Exit(0);
}

/// Starts `what` in its own process, which ends with this one.
template <class Function>
pid_t start(Function what) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    what();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "latency: %s\n", error.what());
  }
  std::_Exit(1);
}

Result measure(const Settings& settings, bool by_cardan) {
  int result[2];
  if (::pipe(result) != 0) throw std::runtime_error("pipe");
  const pid_t receiver = start([&] { receive(settings, by_cardan, result[1]); });
  const pid_t sender = start([&] { send(settings, by_cardan); });
  ::close(result[1]);
  ::usleep(static_cast<useconds_t>(1e6 * (3 + static_cast<double>(settings.frames + kWarmUp) / settings.hz)));
  ::kill(receiver, SIGINT);
  double figures[5] = {};
  const bool whole = ::read(result[0], figures, sizeof figures) == sizeof figures;
  ::close(result[0]);
  ::kill(sender, SIGINT);
  ::waitpid(receiver, nullptr, 0);
  ::waitpid(sender, nullptr, 0);
  if (!whole) throw std::runtime_error("the receiver ended early");
  const char* const way = by_cardan ? "cardan_rclcpp" : "rclcpp";
  if (figures[3] > 0)
    std::printf("%-14s %-8s p50 %9.1f us   p99 %9.1f us   max %9.1f us   %4.0f of %zu frames, %.0f torn\n", way,
                settings.executor.c_str(), figures[0], figures[1], figures[2], figures[3], settings.frames, figures[4]);
  else
    std::printf(
        "%-14s %-8s 0 of %zu frames: large messages need larger receive buffers (sysctl -w "
        "net.core.rmem_default=8388608 net.core.rmem_max=33554432)\n",
        way, settings.executor.c_str(), settings.frames);
  std::fflush(stdout);
  return {figures[0], figures[1]};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Settings read(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--executor")
      settings.executor = value;
    else if (name == "--way")
      settings.way = value;
    else if (name == "--frames")
      settings.frames = std::stoul(value);
    else if (name == "--hz")
      settings.hz = std::stod(value);
    else if (name == "--runs")
      settings.runs = std::stoul(value);
    else
      throw std::invalid_argument("unknown option " + name);
  }
  if (argc % 2 == 0) throw std::invalid_argument("each option takes a value");
  if (settings.hz <= 0 || settings.frames == 0 || settings.runs == 0)
    throw std::invalid_argument("--hz, --frames and --runs are above 0");
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Settings settings = read(argc, argv);
    const char* rmw = std::getenv("RMW_IMPLEMENTATION");
    std::printf("%u x %u bgr8 at %.0f Hz, node to node, two processes; rmw: %s\n", kWidth, kHeight, settings.hz,
                rmw != nullptr ? rmw : "(default)");
    std::fflush(stdout);  // before the forks, which would print it again
    std::vector<double> p50;
    std::vector<double> p99;
    for (std::size_t run = 0; run < settings.runs; ++run) {
      Result ros;
      Result cardans;
      if (settings.way != "cardan") ros = measure(settings, false);
      if (settings.way != "ros") cardans = measure(settings, true);
      if (ros.p50 <= 0 || cardans.p50 <= 0) continue;  // one way alone, or nothing arrived
      p50.push_back(ros.p50 / cardans.p50);
      p99.push_back(ros.p99 / cardans.p99);
    }
    if (!p50.empty())
      std::printf("cardan_rclcpp is %.1f times as fast at the p50, %.1f times at the p99 (median of %zu runs)\n",
                  median(p50), median(p99), p50.size());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "latency: %s\n", error.what());
    return 1;
  }
}
