// SPDX-License-Identifier: Apache-2.0
// A peer of the bridge's tests on Fast DDS, which ROS 2 uses by default. It shares no code with Cyclone DDS or Cardan:
// the form of sensor_msgs/Image is written here by hand, on Fast DDS's own CDR.
//   bridge_fastdds read DOMAIN TOPIC                       a JSON line for each image until standard input ends
//   bridge_fastdds write DOMAIN TOPIC WIDTH HEIGHT HZ      images until standard input ends
#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <poll.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;

constexpr std::uint32_t kMostBytes = 16U << 20U;

struct PeerImage {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
  std::string frame_id;
  std::uint32_t height = 0, width = 0;
  std::string encoding;
  std::uint8_t is_bigendian = 0;
  std::uint32_t step = 0;
  std::vector<std::uint8_t> data;
};

class ImageType final : public dds::TopicDataType {
 public:
  ImageType() {
    setName("sensor_msgs::msg::dds_::Image_");
    m_typeSize = kMostBytes;
    m_isGetKeyDefined = false;
  }

  bool serialize(void* data, rtps::SerializedPayload_t* payload) override {
    const auto& image = *static_cast<PeerImage*>(data);
    FastBuffer buffer(reinterpret_cast<char*>(payload->data), payload->max_size);
    Cdr out(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
    payload->encapsulation = out.endianness() == Cdr::BIG_ENDIANNESS ? CDR_BE : CDR_LE;
    out.serialize_encapsulation();
    out << image.sec << image.nanosec << image.frame_id << image.height << image.width << image.encoding
        << image.is_bigendian << image.step << image.data;
    payload->length = static_cast<std::uint32_t>(out.getSerializedDataLength());
    return true;
  }

  bool deserialize(rtps::SerializedPayload_t* payload, void* data) override {
    auto& image = *static_cast<PeerImage*>(data);
    FastBuffer buffer(reinterpret_cast<char*>(payload->data), payload->length);
    Cdr in(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
    in.read_encapsulation();
    payload->encapsulation = in.endianness() == Cdr::BIG_ENDIANNESS ? CDR_BE : CDR_LE;
    in >> image.sec >> image.nanosec >> image.frame_id >> image.height >> image.width >> image.encoding >>
        image.is_bigendian >> image.step >> image.data;
    return true;
  }

  std::function<std::uint32_t()> getSerializedSizeProvider(void* data) override {
    constexpr std::size_t kRest = 64;  // numbers, lengths, gaps
    const auto& image = *static_cast<PeerImage*>(data);
    const std::size_t size = kRest + image.frame_id.size() + image.encoding.size() + image.data.size();
    return [size] { return static_cast<std::uint32_t>(size); };
  }

  void* createData() override { return new PeerImage; }
  void deleteData(void* data) override { delete static_cast<PeerImage*>(data); }
  bool getKey(void* /*data*/, rtps::InstanceHandle_t* /*handle*/, bool /*force*/) override { return false; }
};

bool input_ended() {
  pollfd in{.fd = 0, .events = POLLIN, .revents = 0};
  return ::poll(&in, 1, 0) > 0 && std::getchar() == EOF;
}

/// As a node of ROS 2 makes them.
struct Peer {
  dds::DomainParticipant* participant = nullptr;
  dds::Topic* topic = nullptr;

  Peer(std::uint32_t domain, const std::string& name) {
    participant =
        dds::DomainParticipantFactory::get_instance()->create_participant(domain, dds::PARTICIPANT_QOS_DEFAULT);
    if (participant == nullptr) return;
    dds::TypeSupport type(new ImageType);
    type.register_type(participant);
    topic = participant->create_topic(name, type.get_type_name(), dds::TOPIC_QOS_DEFAULT);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    if (participant == nullptr) return;
    participant->delete_contained_entities();
    dds::DomainParticipantFactory::get_instance()->delete_participant(participant);
  }
};

int read_images(const Peer& peer) {
  dds::DataReaderQos qos = dds::DATAREADER_QOS_DEFAULT;
  qos.reliability().kind = dds::RELIABLE_RELIABILITY_QOS;
  qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
  qos.history().depth = 10;
  qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  dds::Subscriber* const subscriber = peer.participant->create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT);
  dds::DataReader* const reader = subscriber->create_datareader(peer.topic, qos);
  if (reader == nullptr) return 1;
  PeerImage image;
  dds::SampleInfo info;
  while (!input_ended()) {
    if (!reader->wait_for_unread_message({0, 50'000'000})) continue;
    while (reader->take_next_sample(&image, &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
      if (!info.valid_data) continue;
      bool same = true;
      for (const std::uint8_t byte : image.data) same = same && byte == image.data[0];
      std::printf(
          "{\"stamp\": %lld, \"frame\": \"%s\", \"height\": %u, \"width\": %u, \"encoding\": \"%s\", \"step\": %u, "
          "\"bytes\": %zu, \"first\": %d, \"same\": %s, \"source\": %lld}\n",
          image.sec * 1'000'000'000LL + image.nanosec, image.frame_id.c_str(), image.height, image.width,
          image.encoding.c_str(), image.step, image.data.size(), image.data.empty() ? -1 : image.data[0],
          same ? "true" : "false", static_cast<long long>(info.source_timestamp.to_ns()));
      std::fflush(stdout);
    }
  }
  return 0;
}

int write_images(const Peer& peer, std::uint32_t width, std::uint32_t height, double hz) {
  dds::DataWriterQos qos = dds::DATAWRITER_QOS_DEFAULT;
  qos.reliability().kind = dds::RELIABLE_RELIABILITY_QOS;
  qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
  qos.history().depth = 5;
  qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  qos.publish_mode().kind = dds::ASYNCHRONOUS_PUBLISH_MODE;
  dds::Publisher* const publisher = peer.participant->create_publisher(dds::PUBLISHER_QOS_DEFAULT);
  dds::DataWriter* const writer = publisher->create_datawriter(peer.topic, qos);
  if (writer == nullptr) return 1;
  PeerImage image{
      .frame_id = "rear", .height = height, .width = width, .encoding = "rgb8", .step = 3 * width, .data = {}};
  const auto period = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / hz));
  for (std::uint32_t n = 1; !input_ended(); ++n) {
    image.nanosec = n;
    image.data.assign(std::size_t{3} * width * height, static_cast<std::uint8_t>(n % 251));
    writer->write(&image);
    std::this_thread::sleep_for(period);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 3 ? argv[1] : "";
  if ((verb != "read" || argc != 4) && (verb != "write" || argc != 7)) {
    std::fputs("usage: bridge_fastdds read DOMAIN TOPIC | write DOMAIN TOPIC WIDTH HEIGHT HZ\n", stderr);
    return 2;
  }
  const Peer peer(static_cast<std::uint32_t>(std::atoi(argv[2])), argv[3]);
  if (peer.topic == nullptr) return 1;
  if (verb == "read") return read_images(peer);
  return write_images(peer, static_cast<std::uint32_t>(std::atoi(argv[4])),
                      static_cast<std::uint32_t>(std::atoi(argv[5])), std::atof(argv[6]));
}
