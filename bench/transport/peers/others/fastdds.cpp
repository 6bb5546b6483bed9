// SPDX-License-Identifier: Apache-2.0
// Fast DDS, the default of ROS 2: best effort, the last 1, a listener, a type of octets that is copied whole, as
// fastddsgen makes it.
//   fastdds        its transports as shipped: shared memory of 512 KiB, UDP; frames above 64 KiB asynchronously
//   fastdds-reliable  the same with reliable delivery
//   fastdds-shm    shared memory alone, a segment of four frames, each frame in one fragment
//   fastdds-loans  data sharing: a plain type, the frame filled in a loan of the writer and read in a loan of the
//   reader
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <functional>
#include <memory>
#include <string_view>

#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;

constexpr std::uint32_t kDomain = 98;
constexpr std::uint32_t kHeader = 4;  // of CDR

constexpr Peer kReliable{"fastdds-reliable"};

enum class Form : std::uint8_t { Shipped, SharedMemory, Loans };

Form form_of(const Area& area) {
  const std::string_view name = name_of(area.header().contender.peer);
  return name == "fastdds-shm" ? Form::SharedMemory : name == "fastdds-loans" ? Form::Loans : Form::Shipped;
}

/// A frame of a fixed size, in memory as on the wire.
class FrameType final : public dds::TopicDataType {
 public:
  FrameType(std::size_t bytes, bool plain) : bytes_(static_cast<std::uint32_t>(bytes)), plain_(plain) {
    setName("cardan_bench::Frame");
    m_typeSize = bytes_ + kHeader;
    m_isGetKeyDefined = false;
  }
  bool serialize(void* data, rtps::SerializedPayload_t* payload) override {
    payload->encapsulation = CDR_LE;
    constexpr std::uint8_t kEncapsulation[kHeader] = {0, 1, 0, 0};
    std::memcpy(payload->data, kEncapsulation, kHeader);
    std::memcpy(payload->data + kHeader, data, bytes_);
    payload->length = bytes_ + kHeader;
    return true;
  }
  bool deserialize(rtps::SerializedPayload_t* payload, void* data) override {
    std::memcpy(data, payload->data + kHeader, std::min(bytes_, payload->length - kHeader));
    return true;
  }
  std::function<std::uint32_t()> getSerializedSizeProvider(void* /*data*/) override {
    return [size = bytes_ + kHeader] { return size; };
  }
  void* createData() override { return new std::uint64_t[bytes_ / sizeof(std::uint64_t)]; }
  void deleteData(void* data) override { delete[] static_cast<std::uint64_t*>(data); }
  bool getKey(void* /*data*/, rtps::InstanceHandle_t* /*handle*/, bool /*force*/) override { return false; }
  [[nodiscard]] bool is_bounded() const override { return true; }
  [[nodiscard]] bool is_plain() const override { return plain_; }

 private:
  std::uint32_t bytes_;
  bool plain_;
};

template <class T>
T* checked(T* made, const char* what) {
  if (made == nullptr)
    throw Error(ErrorCode::System, std::string("Fast DDS cannot make ") + what, "leave fastdds out of --peers");
  return made;
}

class Participant {
 public:
  explicit Participant(const Area& area)
      : form_(form_of(area)), reliable_(area.header().contender.peer == kReliable), bytes_(area.header().cell.bytes) {
    dds::DomainParticipantQos qos;
    if (form_ == Form::SharedMemory) {
      auto transport = std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>();
      const auto most = static_cast<std::uint32_t>(bytes_ + 4096);
      transport->maxMessageSize = most;
      transport->segment_size(std::max(4 * most, 1U << 20U));
      qos.transport().use_builtin_transports = false;
      qos.transport().user_transports.push_back(transport);
    }
    participant_ =
        checked(dds::DomainParticipantFactory::get_instance()->create_participant(kDomain, qos), "a participant");
    dds::TypeSupport type(new FrameType(bytes_, form_ == Form::Loans));
    type.register_type(participant_);
    topic_ = checked(participant_->create_topic(area.header().topic + 1, type.get_type_name(), dds::TOPIC_QOS_DEFAULT),
                     "a topic");
  }
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;
  ~Participant() {
    participant_->delete_contained_entities();
    dds::DomainParticipantFactory::get_instance()->delete_participant(participant_);
  }

  [[nodiscard]] Form form() const noexcept { return form_; }
  [[nodiscard]] dds::DataWriter* writer() const {
    dds::DataWriterQos qos = dds::DATAWRITER_QOS_DEFAULT;
    complete(qos);
    // Above 64 KiB only the asynchronous writer sends fragments; as one fragment it need not.
    const bool fragments = form_ == Form::Shipped && bytes_ > 65'000;
    qos.publish_mode().kind = fragments ? dds::ASYNCHRONOUS_PUBLISH_MODE : dds::SYNCHRONOUS_PUBLISH_MODE;
    auto* const publisher = checked(participant_->create_publisher(dds::PUBLISHER_QOS_DEFAULT), "a publisher");
    return checked(publisher->create_datawriter(topic_, qos), "a writer");
  }
  [[nodiscard]] dds::DataReader* reader(dds::DataReaderListener* listener) const {
    dds::DataReaderQos qos = dds::DATAREADER_QOS_DEFAULT;
    complete(qos);
    auto* const subscriber = checked(participant_->create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT), "a subscriber");
    return checked(subscriber->create_datareader(topic_, qos, listener), "a reader");
  }

 private:
  template <class Qos>
  void complete(Qos& qos) const {
    qos.reliability().kind = reliable_ ? dds::RELIABLE_RELIABILITY_QOS : dds::BEST_EFFORT_RELIABILITY_QOS;
    qos.durability().kind = dds::VOLATILE_DURABILITY_QOS;
    qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
    qos.history().depth = 1;
    if (form_ == Form::Loans)
      qos.data_sharing().automatic();
    else
      qos.data_sharing().off();
  }

  Form form_;
  bool reliable_;
  std::size_t bytes_;
  dds::DomainParticipant* participant_ = nullptr;
  dds::Topic* topic_ = nullptr;
};

class FastWriter {
 public:
  explicit FastWriter(const Area& area, std::uint32_t /*index*/ = 0)
      : participant_(area), words_(area.header().cell.bytes / sizeof(std::uint64_t)), writer_(participant_.writer()) {
    wait_until(kNoReaders, [&] {
      dds::PublicationMatchedStatus status;
      writer_->get_publication_matched_status(status);
      return status.current_count == static_cast<int>(area.subscribers());
    });
  }
  std::span<std::uint64_t> loan(std::uint64_t) noexcept {
    sample_ = words_.data();
    if (participant_.form() == Form::Loans && !writer_->loan_sample(sample_)) return {};
    return {static_cast<std::uint64_t*>(sample_), words_.size()};
  }
  void publish(std::uint64_t) noexcept { writer_->write(sample_); }

 private:
  Participant participant_;
  std::vector<std::uint64_t> words_;
  dds::DataWriter* writer_;
  void* sample_ = nullptr;
};

/// Calls deliver() of the receiver on Fast DDS's own thread, for each frame.
template <class Receiver>
class FastReader final : public dds::DataReaderListener {
 public:
  FastReader(const Area& area, Receiver& frames)
      : frames_(frames), words_(area.header().cell.bytes / sizeof(std::uint64_t)), participant_(area) {
    dds::DataReader* const in = participant_.reader(this);
    wait_until(kNoPublishers, [&] {
      dds::SubscriptionMatchedStatus status;
      in->get_subscription_matched_status(status);
      return status.current_count == static_cast<int>(area.publishers());
    });
  }
  void on_data_available(dds::DataReader* in) override {
    if (participant_.form() == Form::Loans)
      take_loans(in);
    else
      take_copies(in);
  }

 private:
  void take_copies(dds::DataReader* in) {
    dds::SampleInfo info;
    while (in->take_next_sample(words_.data(), &info) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
      const std::int64_t in_hand = now_ns();
      if (info.valid_data) frames_.deliver(words_, in_hand);
    }
  }
  void take_loans(dds::DataReader* in) {
    dds::LoanableSequence<std::uint64_t> samples;  // its element type does not matter: the buffers are pointers
    dds::SampleInfoSeq infos;
    while (in->take(samples, infos, 1) == eprosima::fastrtps::types::ReturnCode_t::RETCODE_OK) {
      const std::int64_t in_hand = now_ns();
      for (dds::LoanableCollection::size_type i = 0; i < samples.length(); ++i)
        if (infos[i].valid_data)
          frames_.deliver({static_cast<const std::uint64_t*>(samples.buffer()[i]), words_.size()}, in_hand);
      in->return_loan(samples, infos);
    }
  }

  Receiver& frames_;
  std::vector<std::uint64_t> words_;
  Participant participant_;  // last: its end is the end of callbacks
};

constexpr auto kPlay = play_delivered<FastWriter, FastReader>;
constexpr LinkEnds kLinks{open_writer<FastWriter>, open_delivered<FastReader>};

const RegisteredPeer kShipped(
    {.peer = Peer{"fastdds"}, .place = 60, .waits = block_only, .play = kPlay, .links = kLinks});
const RegisteredPeer kReliablePeer(
    {.peer = kReliable, .place = 63, .on_request = true, .waits = block_only, .play = kPlay});
const RegisteredPeer kSharedMemory(
    {.peer = Peer{"fastdds-shm"}, .place = 61, .waits = block_only, .play = kPlay, .links = kLinks});
const RegisteredPeer kLoans(
    {.peer = Peer{"fastdds-loans"}, .place = 62, .waits = block_only, .play = kPlay, .links = kLinks});

}  // namespace
}  // namespace cardan::bench
