// SPDX-License-Identifier: Apache-2.0
// The QoS of what the bridge writes and reads, so that it matches ROS 2's endpoints. Any thread; nothing blocks.
#pragma once

#include <dds/dds.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "src/bridge/rules.hpp"

namespace cardan::bridge::dds {

struct QosDeleter {
  void operator()(dds_qos_t* qos) const noexcept { ::dds_delete_qos(qos); }
};
using Qos = std::unique_ptr<dds_qos_t, QosDeleter>;

/// The QoS that a topic needs; all else is ROS 2's default.
struct EndpointQos {
  bool reliable = true;
  bool transient_local = false;
  std::uint32_t depth = 1;
  std::string type_hash{};  ///< "RIHS01_…"; empty: none is announced
  bool operator==(const EndpointQos&) const = default;
};

/// A topic as ROS 2 sees it. Where the rule says nothing, ROS 2's own habits decide for /tf, /tf_static and /clock.
struct TopicForm {
  std::string name{}, type{};  ///< "/tf", "tf2_msgs/msg/TFMessage"
  std::string type_hash{};
};

/// Of a topic that leaves. Reliable unless the rule says otherwise, because that matches readers of both kinds.
/// `max_bytes`: of a message.
[[nodiscard]] EndpointQos outgoing_qos(const TopicRule& rule, const TopicForm& topic, std::size_t max_bytes);
/// Whether the bridge keeps copies of what waits for receivers, rather than the publisher's slots: small messages of
/// which many are kept.
[[nodiscard]] bool keeps_copies(const EndpointQos& qos, std::size_t max_bytes) noexcept;
/// The QoS that the writers of a topic offer.
struct WritersOffer {
  bool all_reliable = false;
  bool all_transient_local = false, one_transient_local = false;
};

/// Of a topic that comes in. The clock is read best effort, the rest reliably where all writers offer that: what is
/// lost of a large message is asked for again. The samples that they keep for late readers are read unless the rule
/// says otherwise; of static transforms also if other writers keep nothing, which are not heard then.
[[nodiscard]] EndpointQos incoming_qos(const TopicRule& rule, const TopicForm& topic, const WritersOffer& writers);
/// Of the topic that names the nodes.
[[nodiscard]] EndpointQos discovery_qos(std::string type_hash);

[[nodiscard]] Qos writer_qos(const EndpointQos& of);
[[nodiscard]] Qos reader_qos(const EndpointQos& of);
/// `marker`: tells other bridges whose this is.
[[nodiscard]] Qos participant_qos(const std::string& marker);

/// As text: "enclave=/;…". Empty: it is missing, or holds more than 64 KiB.
[[nodiscard]] std::string user_data_of(const dds_qos_t* qos);
[[nodiscard]] bool is_reliable(const dds_qos_t* qos);
[[nodiscard]] bool is_transient_local(const dds_qos_t* qos);
/// Whether a writer may send plain XCDR1, which is all that the bridge reads.
[[nodiscard]] bool offers_xcdr1(const dds_qos_t* qos);

}  // namespace cardan::bridge::dds
