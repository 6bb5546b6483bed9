// SPDX-License-Identifier: Apache-2.0
// `cyclone`: Cyclone DDS over loopback, best effort, the last 1, a sequence of octets. Its default fragments of 1344
// bytes are for Ethernet; on loopback 65,000 bytes halve its cost, and 64 MiB of receive buffer are asked for
// (net.core.rmem_max limits it). A wait set and dds_take(), as rmw_cyclonedds does.
// `cyclone-reliable`: the same with reliable delivery.
#include <dds/dds.h>

#include <cstddef>
#include <string>

#include "bench/transport/peers/link.hpp"
#include "bench/transport/peers/peer.hpp"
#include "bench/transport/role.hpp"
#include "cardan/error.hpp"

namespace cardan::bench {
namespace {

constexpr dds_domainid_t kDomain = 98;
constexpr Peer kReliable{"cyclone-reliable"};
constexpr const char* kConfiguration = R"(<CycloneDDS><Domain id="any">
<General><Interfaces><NetworkInterface name="lo"/></Interfaces><AllowMulticast>false</AllowMulticast>
<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize></General>
<Discovery><Peers><Peer address="127.0.0.1"/></Peers><ParticipantIndex>auto</ParticipantIndex>
<MaxAutoParticipantIndex>100</MaxAutoParticipantIndex></Discovery>
<Internal><SocketReceiveBufferSize max="64MiB"/></Internal></Domain></CycloneDDS>)";

// The output of idlc for: struct Frame { sequence<octet> data; };
struct Frame {
  dds_sequence_t data;
};
constexpr std::uint32_t code(auto operation) { return static_cast<std::uint32_t>(operation); }
const std::uint32_t kOperations[] = {code(DDS_OP_ADR) | code(DDS_OP_TYPE_SEQ) | code(DDS_OP_SUBTYPE_1BY),
                                     offsetof(Frame, data), code(DDS_OP_RTS)};

const dds_topic_descriptor_t kFrame{.m_size = sizeof(Frame),
                                    .m_align = alignof(Frame),
                                    .m_flagset = 0,
                                    .m_nkeys = 0,
                                    .m_typename = "cardan_bench::Frame",
                                    .m_keys = nullptr,
                                    .m_nops = 2,
                                    .m_ops = kOperations,
                                    .m_meta = "",
                                    .type_information = {},
                                    .type_mapping = {},
                                    .restrict_data_representation = 0};

dds_entity_t checked(dds_entity_t entity, const char* what) {
  if (entity < 0)
    throw Error(ErrorCode::System, std::string("Cyclone DDS cannot make ") + what + ": " + ::dds_strretcode(-entity),
                "leave cyclone out of --peers");
  return entity;
}

/// The participant's parts go with it.
class Participant {
 public:
  explicit Participant(const Area& area) {
    // Once in a process, whatever number of ends it has.
    static const dds_entity_t kMade = checked(::dds_create_domain(kDomain, kConfiguration), "its domain");
    static_cast<void>(kMade);
    participant_ = checked(::dds_create_participant(kDomain, nullptr, nullptr), "a participant");
    topic_ = checked(::dds_create_topic(participant_, &kFrame, area.header().topic + 1, nullptr, nullptr), "a topic");
    qos_ = ::dds_create_qos();
    if (area.header().contender.peer == kReliable)
      ::dds_qset_reliability(qos_, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
    else
      ::dds_qset_reliability(qos_, DDS_RELIABILITY_BEST_EFFORT, 0);
    ::dds_qset_history(qos_, DDS_HISTORY_KEEP_LAST, 1);
  }
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;
  ~Participant() {
    ::dds_delete_qos(qos_);
    ::dds_delete(participant_);
  }
  [[nodiscard]] dds_entity_t entity() const noexcept { return participant_; }
  [[nodiscard]] dds_entity_t writer() const {
    return checked(::dds_create_writer(participant_, topic_, qos_, nullptr), "a writer");
  }
  [[nodiscard]] dds_entity_t reader() const {
    return checked(::dds_create_reader(participant_, topic_, qos_, nullptr), "a reader");
  }

 private:
  dds_entity_t participant_ = 0, topic_ = 0;
  dds_qos_t* qos_ = nullptr;
};

class CycloneWriter {
 public:
  CycloneWriter(const Area& area, std::uint32_t /*index*/)
      : participant_(area), words_(area.header().cell.bytes / sizeof(std::uint64_t)), writer_(participant_.writer()) {
    frame_.data = {._maximum = 0,
                   ._length = static_cast<std::uint32_t>(area.header().cell.bytes),
                   ._buffer = reinterpret_cast<std::uint8_t*>(words_.data()),
                   ._release = false};
    wait_until(kNoReaders, [&] {
      dds_publication_matched_status_t status{};
      return ::dds_get_publication_matched_status(writer_, &status) == DDS_RETCODE_OK &&
             status.current_count == area.subscribers();
    });
  }
  std::span<std::uint64_t> loan(std::uint64_t) noexcept { return words_; }
  void publish(std::uint64_t) noexcept { ::dds_write(writer_, &frame_); }

 private:
  Participant participant_;
  std::vector<std::uint64_t> words_;
  dds_entity_t writer_;
  Frame frame_{};
};

class CycloneReader {
 public:
  CycloneReader(const Area& area, std::uint32_t /*index*/) : participant_(area), reader_(participant_.reader()) {
    const dds_entity_t condition = checked(::dds_create_readcondition(reader_, DDS_ANY_STATE), "a condition");
    waitset_ = checked(::dds_create_waitset(participant_.entity()), "a wait set");
    ::dds_waitset_attach(waitset_, condition, 0);
    wait_until(kNoPublishers, [&] {
      dds_subscription_matched_status_t status{};
      return ::dds_get_subscription_matched_status(reader_, &status) == DDS_RETCODE_OK &&
             status.current_count == area.publishers();
    });
  }
  std::span<const std::uint64_t> next() noexcept {
    for (;;) {
      dds_sample_info_t info{};
      const dds_return_t taken = ::dds_take(reader_, &sample_, &info, 1, 1);
      if (taken < 0) return {};
      if (taken == 1 && info.valid_data) {
        const dds_sequence_t& data = static_cast<const Frame*>(sample_)->data;
        return {reinterpret_cast<const std::uint64_t*>(data._buffer), data._length / sizeof(std::uint64_t)};
      }
      if (taken == 1) release();
      if (::dds_waitset_wait(waitset_, nullptr, 0, DDS_INFINITY) < 0) return {};
    }
  }
  void release() noexcept {
    ::dds_return_loan(reader_, &sample_, 1);
    sample_ = nullptr;
  }

 private:
  Participant participant_;
  dds_entity_t reader_, waitset_ = 0;
  void* sample_ = nullptr;
};

const RegisteredPeer kCyclone({.peer = Peer{"cyclone"},
                               .place = 70,
                               .waits = block_only,
                               .play = play_with<CycloneWriter, CycloneReader>,
                               .links = links_with<CycloneWriter, CycloneReader>()});
const RegisteredPeer kReliableCyclone({.peer = kReliable,
                                       .place = 71,
                                       .on_request = true,
                                       .waits = block_only,
                                       .play = play_with<CycloneWriter, CycloneReader>});

}  // namespace
}  // namespace cardan::bench
