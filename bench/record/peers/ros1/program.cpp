// SPDX-License-Identifier: Apache-2.0
// Cameras that publish through ROS 1, for its own recorder. A separate program, so that nothing else links ROS; it is
// C++17, because the messages that ROS 1 generates use what C++20 took out of std::allocator. Stage's signals by hand.
#include <ros/ros.h>
#include <std_msgs/UInt8MultiArray.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/pin.hpp"
#include "bench/record/schedule.hpp"
#include "bench/transport/clock.hpp"

namespace cardan::bench::recording {
namespace {

constexpr int kReadyFd = 3;  // ChildProcess's
constexpr int kReportFd = 4;
constexpr std::uint32_t kQueue = 10;  // messages that wait for the connection, for each camera
constexpr double kConnectSeconds = 20;

/// The words of the command line, in this order; rosbag.cpp writes them.
struct Job {
  explicit Job(char** words)
      : topic(words[1]),
        cameras(std::strtoul(words[2], nullptr, 10)),
        bytes(std::strtoul(words[3], nullptr, 10)),
        rate_hz(std::strtod(words[4], nullptr)),
        messages(std::strtoul(words[5], nullptr, 10)),
        schedule(std::strcmp(words[6], "integer-ms") == 0 ? Schedule::IntegerMs : Schedule::Absolute),
        cpu(std::atoi(words[7])),
        master_pid(std::atoi(words[8])) {}
  std::string topic;
  std::size_t cameras, bytes;
  double rate_hz;
  std::size_t messages;
  Schedule schedule;
  int cpu, master_pid;
};

void say() {
  const char word = '.';
  if (::write(kReadyFd, &word, 1) < 0) throw std::runtime_error("nobody listens");
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/// Another program may have got the port of the master that was started for this.
void check_master(int pid) {
  XmlRpc::XmlRpcValue arguments, response, payload;
  arguments[0] = ros::this_node::getName();
  if (!ros::master::execute("getPid", arguments, response, payload, false) || static_cast<int>(payload) != pid)
    throw std::runtime_error("the ROS master at " + ros::master::getURI() + " is not the one that was started");
}

int next_order(const sigset_t& orders) {
  for (;;)
    if (const int order = ::sigwaitinfo(&orders, nullptr); order > 0) return order;
}

void run(const Job& job, const sigset_t& orders) {
  check_master(job.master_pid);
  ros::NodeHandle node;
  ros::Publisher out =
      node.advertise<std_msgs::UInt8MultiArray>(job.topic, kQueue * static_cast<std::uint32_t>(job.cameras));
  const ros::WallTime until = ros::WallTime::now() + ros::WallDuration(kConnectSeconds);
  while (out.getNumSubscribers() == 0) {
    if (ros::WallTime::now() > until) throw std::runtime_error("rosbag record did not subscribe within 20 s");
    ros::WallDuration(0.01).sleep();
  }
  // The same bytes again and again, as the other peers' sensors send.
  std_msgs::UInt8MultiArray frame;
  frame.data.resize(job.bytes);
  for (std::size_t i = 0; i < job.bytes; ++i) frame.data[i] = static_cast<std::uint8_t>(i * 31 + (i >> 8));
  say();
  if (next_order(orders) == SIGTERM) return;

  const double before = cpu_seconds();
  const std::int64_t start = now_ns() + 30'000'000;
  std::vector<std::uint64_t> made(job.cameras), skipped(job.cameras);
  std::vector<std::thread> threads;
  for (std::size_t camera = 0; camera < job.cameras; ++camera)
    threads.emplace_back([&, camera] {
      const auto period = static_cast<std::int64_t>(1e9 / job.rate_hz);
      const auto phase = period * static_cast<std::int64_t>(camera) / static_cast<std::int64_t>(job.cameras);
      Beats beats(job.schedule, job.rate_hz, job.messages, start + phase);
      while (!beats.done()) {
        sleep_until(beats.due_ns());
        out.publish(frame);
        ++made[camera];
        beats.made(now_ns());
      }
      skipped[camera] = beats.skipped();
    });
  for (std::thread& thread : threads) thread.join();
  const double used = cpu_seconds() - before;
  say();
  while (next_order(orders) != SIGTERM) {
  }
  std::uint64_t made_in_all = 0;
  std::uint64_t skipped_in_all = 0;
  for (const std::uint64_t n : made) made_in_all += n;
  for (const std::uint64_t n : skipped) skipped_in_all += n;
  ::dprintf(kReportFd, "{\"made\": %llu, \"skipped\": %llu, \"cpu\": {\"user\": %.6f, \"system\": 0}}\n",
            static_cast<unsigned long long>(made_in_all), static_cast<unsigned long long>(skipped_in_all), used);
}

}  // namespace
}  // namespace cardan::bench::recording

int main(int argc, char** argv) {
  if (argc != 9) {
    std::fputs("this is a part of `cardan bench record`, which starts it\n", stderr);
    return 2;
  }
  sigset_t orders;
  ::sigemptyset(&orders);
  ::sigaddset(&orders, SIGUSR1);
  ::sigaddset(&orders, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &orders, nullptr);
  const cardan::bench::recording::Job job(argv);
  try {
    if (job.cpu >= 0) cardan::bench::pin(job.cpu);
    int no_words = 1;
    ros::init(no_words, argv, "cardan_bench_cameras", ros::init_options::NoSigintHandler);
    cardan::bench::recording::run(job, orders);
    ros::shutdown();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
