// SPDX-License-Identifier: Apache-2.0
// A peer on Fast DDS, which ROS 2 uses by default, for the bridge's tests and benchmark. It shares no code with Cyclone
// DDS or Cardan: the form of sensor_msgs/Image is written here by hand, on Fast DDS's own CDR.
#pragma once

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>

#include <cstddef>
#include <cstdint>
#include <exception>
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
#include <vector>

namespace cardan::bench::fastdds {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;

inline constexpr std::uint32_t kMostBytes = 16U << 20U;

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
    // As generated code and rmw_fastrtps do. Fast DDS hands out an empty payload when a keep-last writer, also one of
    // Cyclone DDS alone, replaces a message of which this reader has a part of the fragments.
    try {
      in.read_encapsulation();
      payload->encapsulation = in.endianness() == Cdr::BIG_ENDIANNESS ? CDR_BE : CDR_LE;
      std::uint32_t size = 0;
      in >> image.sec >> image.nanosec >> image.frame_id >> image.height >> image.width >> image.encoding >>
          image.is_bigendian >> image.step >> size;
      if (size > payload->length) return false;  // Fast CDR would make room for it first, whatever it says
      image.data.resize(size);
      in.deserializeArray(image.data.data(), size);
    } catch (const std::exception&) {  // Fast CDR's own, and those of texts without bounds
      return false;
    }
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

/// A participant and its topic; `topic` is null if Fast DDS gave none.
struct Peer {
  dds::DomainParticipant* participant = nullptr;
  dds::Topic* topic = nullptr;

  Peer(std::uint32_t domain, const std::string& name,
       const dds::DomainParticipantQos& qos = dds::PARTICIPANT_QOS_DEFAULT) {
    participant = dds::DomainParticipantFactory::get_instance()->create_participant(domain, qos);
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

/// As a node of ROS 2 makes them: reliable, the last `depth`. Null: Fast DDS gives none.
inline dds::DataReader* make_reader(const Peer& peer, int depth) {
  dds::DataReaderQos qos = dds::DATAREADER_QOS_DEFAULT;
  qos.reliability().kind = dds::RELIABLE_RELIABILITY_QOS;
  qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
  qos.history().depth = depth;
  qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  dds::Subscriber* const subscriber = peer.participant->create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT);
  return subscriber == nullptr ? nullptr : subscriber->create_datareader(peer.topic, qos);
}

inline dds::DataWriter* make_writer(const Peer& peer, int depth) {
  dds::DataWriterQos qos = dds::DATAWRITER_QOS_DEFAULT;
  qos.reliability().kind = dds::RELIABLE_RELIABILITY_QOS;
  qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
  qos.history().depth = depth;
  qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  qos.publish_mode().kind = dds::ASYNCHRONOUS_PUBLISH_MODE;
  dds::Publisher* const publisher = peer.participant->create_publisher(dds::PUBLISHER_QOS_DEFAULT);
  return publisher == nullptr ? nullptr : publisher->create_datawriter(peer.topic, qos);
}

}  // namespace cardan::bench::fastdds
