// SPDX-License-Identifier: Apache-2.0
// FastCycle's workload as ROS 1 nodelets in one nodelet manager. A separate program, so that nothing else links ROS;
// it is C++17, because the messages that ROS 1 generates use what C++20 took out of std::allocator.
#include <nodelet/loader.h>
#include <nodelet/nodelet.h>
#include <ros/callback_queue.h>
#include <ros/ros.h>
#include <std_msgs/UInt8MultiArray.h>
#include <unistd.h>

#include <boost/make_shared.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/pin.hpp"
#include "bench/runtime/workload.hpp"
#include "bench/transport/clock.hpp"

namespace cardan::bench {
namespace {

using Frame = std_msgs::UInt8MultiArray;  // its number is in layout.data_offset

constexpr std::size_t kWritten = 16;  // frames written before the run: more than all queues together hold
constexpr double kConnectSeconds = 10;

/// The words of the command line, in this order; bench/runtime/nodelet.cpp writes them.
struct Job {
  explicit Job(char** words)
      : bytes(number(words[1])),
        readers(number(words[2])),
        echo(number(words[3]) != 0),
        frames(number(words[4])),
        interval_ns(static_cast<std::int64_t>(number(words[5]))),
        publisher_cpu(static_cast<int>(number(words[6]))),
        reader_cpu(static_cast<int>(number(words[7]))),
        fresh(std::strcmp(words[8], "new") == 0),
        master_pid(static_cast<int>(number(words[9]))),
        result_fd(static_cast<int>(number(words[10]))) {}
  static std::size_t number(const char* word) { return std::strtoull(word, nullptr, 10); }
  std::size_t bytes, readers;
  bool echo;
  std::size_t frames;
  std::int64_t interval_ns;
  int publisher_cpu, reader_cpu;
  bool fresh;  ///< each frame is allocated and written before it is published; else all are before the run
  int master_pid, result_fd;
};

struct Stamps {
  explicit Stamps(const Job& job)
      : sent(job.frames), back(job.frames), received(job.readers, std::vector<std::int64_t>(job.frames)) {}
  std::vector<std::int64_t> sent, back;
  std::vector<std::vector<std::int64_t>> received;  // [reader][frame]
};

class Driver : public nodelet::Nodelet {
 public:
  Driver(const Job& job, Stamps& stamps) : job_(job), stamps_(stamps) {
    if (job.fresh) return;
    for (std::size_t i = 0; i < kWritten; ++i) written_.push_back(write());
  }

  /// Within a process ROS counts all subscribers of a topic as one.
  [[nodiscard]] bool connected() const {
    return publisher_.getNumSubscribers() > 0 && (!job_.echo || echo_.getNumPublishers() > 0);
  }

  /// In the thread that is to publish, as drivers of sensors have one; it also takes what comes back.
  void publish_all() {
    std::int64_t due = now_ns() + 20'000'000;
    for (std::size_t n = 0; n < job_.frames; ++n, due += job_.interval_ns) {
      if (now_ns() >= due + job_.interval_ns) continue;  // late by a whole beat: all peers skip it
      pass_time(due);
      const boost::shared_ptr<Frame> frame = job_.fresh ? write() : unused();
      if (frame == nullptr) continue;
      frame->layout.data_offset = static_cast<std::uint32_t>(n);
      stamps_.sent[n] = now_ns();
      publisher_.publish(frame);
    }
    pass_time(due + 20 * job_.interval_ns);
  }

 private:
  void onInit() override {
    ros::NodeHandle node(getNodeHandle());
    publisher_ = node.advertise<Frame>("/frame", kRuntimeDepth);
    // Not the manager's queue: its threads are the readers' and on their CPU, this nodelet is on the other.
    node.setCallbackQueue(&queue_);
    if (job_.echo) echo_ = node.subscribe("/echo", kRuntimeDepth, &Driver::on_echo, this);
  }
  void pass_time(std::int64_t until) {
    if (!job_.echo) return sleep_until(until);
    for (std::int64_t now = now_ns(); now < until; now = now_ns())
      queue_.callAvailable(ros::WallDuration(static_cast<double>(until - now) / 1e9));
  }
  void on_echo(const Frame::ConstPtr& frame) { stamps_.back[frame->layout.data_offset] = now_ns(); }

  [[nodiscard]] boost::shared_ptr<Frame> write() const {
    auto frame = boost::make_shared<Frame>();
    frame->data.assign(job_.bytes, std::uint8_t{1});
    return frame;
  }
  /// One that no reader holds; its number may be changed.
  [[nodiscard]] boost::shared_ptr<Frame> unused() const {
    for (const auto& frame : written_)
      if (frame.use_count() == 1) return frame;
    return nullptr;
  }

  const Job& job_;
  Stamps& stamps_;
  std::vector<boost::shared_ptr<Frame>> written_;
  ros::CallbackQueue queue_;
  ros::Publisher publisher_;
  ros::Subscriber echo_;
};

class Reader : public nodelet::Nodelet {
 public:
  Reader(const Job& job, std::vector<std::int64_t>& received) : job_(job), received_(received) {}

 private:
  void onInit() override {
    ros::NodeHandle& node = getNodeHandle();
    if (job_.echo) back_ = node.advertise<Frame>("/echo", kRuntimeDepth);
    frames_ = node.subscribe("/frame", kRuntimeDepth, &Reader::on_frame, this);
  }
  void on_frame(const Frame::ConstPtr& frame) {
    received_[frame->layout.data_offset] = now_ns();
    if (job_.echo) back_.publish(frame);
  }

  const Job& job_;
  std::vector<std::int64_t>& received_;
  ros::Publisher back_;
  ros::Subscriber frames_;
};

void write_all(int fd, const std::vector<std::int64_t>& stamps) {
  const char* at = reinterpret_cast<const char*>(stamps.data());
  std::size_t left = stamps.size() * sizeof(std::int64_t);
  while (left > 0) {
    const ssize_t written = ::write(fd, at, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::runtime_error(std::string("cannot hand over the stamps: ") + std::strerror(errno));
    at += written;
    left -= static_cast<std::size_t>(written);
  }
}

/// Another program may have got the port of the master that was started for this.
void check_master(int pid) {
  XmlRpc::XmlRpcValue arguments, response, payload;
  arguments[0] = ros::this_node::getName();
  if (!ros::master::execute("getPid", arguments, response, payload, false) || static_cast<int>(payload) != pid)
    throw std::runtime_error("the ROS master at " + ros::master::getURI() + " is not the one that was started");
}

void run(const Job& job) {
  check_master(job.master_pid);
  Stamps stamps(job);
  Driver* driver = nullptr;  // the loader's: its queue ends with the loader, so nothing else may keep it
  std::size_t readers = 0;
  const boost::function<boost::shared_ptr<nodelet::Nodelet>(const std::string&)> create =
      [&](const std::string& type) -> boost::shared_ptr<nodelet::Nodelet> {
    if (type == "driver") {
      auto made = boost::make_shared<Driver>(job, stamps);
      driver = made.get();
      return made;
    }
    return boost::make_shared<Reader>(job, stamps.received[readers++]);
  };
  nodelet::Loader loader(create);
  for (std::size_t r = 0; r < job.readers; ++r)
    if (!loader.load("/reader" + std::to_string(r), "reader", {}, {}))
      throw std::runtime_error("a nodelet could not be loaded");
  if (!loader.load("/driver", "driver", {}, {})) throw std::runtime_error("a nodelet could not be loaded");
  const ros::WallTime until = ros::WallTime::now() + ros::WallDuration(kConnectSeconds);
  while (!driver->connected()) {
    if (ros::WallTime::now() > until) throw std::runtime_error("the nodelets did not connect within 10 s");
    ros::WallDuration(0.01).sleep();
  }
  pin(job.publisher_cpu);
  driver->publish_all();
  loader.clear();  // after this no callback runs
  write_all(job.result_fd, stamps.sent);
  write_all(job.result_fd, stamps.back);
  for (const auto& received : stamps.received) write_all(job.result_fd, received);
}

}  // namespace
}  // namespace cardan::bench

int main(int argc, char** argv) {
  if (argc != 11) {
    std::fputs("this is a part of `cardan bench runtime`, which starts it\n", stderr);
    return 2;
  }
  const cardan::bench::Job job(argv);
  try {
    cardan::bench::pin(job.reader_cpu);  // and with it the threads of the manager
    int no_words = 1;
    ros::init(no_words, argv, "cardan_bench", ros::init_options::NoSigintHandler);
    const ros::NodeHandle keeps_ros_up;
    cardan::bench::run(job);
    ros::shutdown();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
