// SPDX-License-Identifier: Apache-2.0
#include "bench/transport/peers/others/ros1_node.hpp"

#include <ros/ros.h>

#include <boost/make_shared.hpp>
#include <cstring>
#include <map>
#include <vector>

namespace cardan::bench::ros1 {

/// As a generated message with `uint64[] words`, without the generator.
struct Frame {
  std::vector<std::uint64_t> words;
};

}  // namespace cardan::bench::ros1

namespace ros {
namespace message_traits {
using cardan::bench::ros1::Frame;
template <>
struct MD5Sum<Frame> {
  // Any sum will do that both sides have; a generated one is of the definition.
  static const char* value() { return "00000000000000000000000063617264"; }
  static const char* value(const Frame&) { return value(); }
};
template <>
struct DataType<Frame> {
  static const char* value() { return "cardan_bench/Frame"; }
  static const char* value(const Frame&) { return value(); }
};
template <>
struct Definition<Frame> {
  static const char* value() { return "uint64[] words\n"; }
  static const char* value(const Frame&) { return value(); }
};
}  // namespace message_traits
namespace serialization {
template <>
struct Serializer<cardan::bench::ros1::Frame> {
  template <typename Stream, typename Message>
  inline static void allInOne(Stream& stream, Message message) {
    stream.next(message.words);
  }
  ROS_DECLARE_ALLINONE_SERIALIZER
};
}  // namespace serialization
}  // namespace ros

namespace cardan::bench::ros1 {

void init(const std::string& node) {
  std::map<std::string, std::string> none;
  ros::init(none, node, ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
}

struct Publisher::Implementation {
  ros::NodeHandle node;
  ros::Publisher out;
  boost::shared_ptr<Frame> frame = boost::make_shared<Frame>();
};

Publisher::Publisher(const std::string& topic, std::size_t words) : own_(std::make_unique<Implementation>()) {
  own_->frame->words.resize(words);
  own_->out = own_->node.advertise<Frame>(topic, 1);
}
Publisher::~Publisher() = default;
std::uint64_t* Publisher::data() const noexcept { return own_->frame->words.data(); }
unsigned Publisher::subscribers() const { return own_->out.getNumSubscribers(); }
void Publisher::publish() { own_->out.publish(*own_->frame); }

struct Subscriber::Implementation {
  ros::NodeHandle node;
  ros::Subscriber in;
  ros::AsyncSpinner spinner{1};
};

Subscriber::Subscriber(const std::string& topic, Deliver deliver, void* context)
    : own_(std::make_unique<Implementation>()) {
  own_->in = own_->node.subscribe<Frame>(
      topic, 1,
      [deliver, context](const boost::shared_ptr<const Frame>& frame) {
        deliver(context, frame->words.data(), frame->words.size());
      },
      ros::VoidConstPtr(), ros::TransportHints().tcpNoDelay());
  own_->spinner.start();
}
Subscriber::~Subscriber() { own_->spinner.stop(); }
unsigned Subscriber::publishers() const { return own_->in.getNumPublishers(); }

}  // namespace cardan::bench::ros1
