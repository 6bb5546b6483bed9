// SPDX-License-Identifier: Apache-2.0
#include "cardan/bridge/dds/qos.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cardan::bridge::dds {
namespace {

constexpr std::size_t kLarge = 1U << 20U;
constexpr std::uint32_t kDepthOfLarge = 2, kDepthOfSmall = 10;
constexpr std::array<const char*, 4> kSensorTypes{"sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage",
                                                  "sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/LaserScan"};

bool is_sensor_data(const std::string& type) {
  return std::any_of(kSensorTypes.begin(), kSensorTypes.end(), [&](const char* one) { return type == one; });
}

Qos endpoint_qos(const EndpointQos& of) {
  Qos qos(::dds_create_qos());
  // A write never waits: what a slow reader has not acknowledged gives way to what is new.
  ::dds_qset_reliability(qos.get(), of.reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, 0);
  ::dds_qset_history(qos.get(), DDS_HISTORY_KEEP_LAST, static_cast<std::int32_t>(of.depth));
  ::dds_qset_durability(qos.get(), of.transient_local ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE);
  const dds_data_representation_id_t xcdr1 = DDS_DATA_REPRESENTATION_XCDR1;
  ::dds_qset_data_representation(qos.get(), 1, &xcdr1);
  ::dds_qset_ignorelocal(qos.get(), DDS_IGNORELOCAL_PARTICIPANT);
  if (!of.type_hash.empty()) {
    const std::string text = "typehash=" + of.type_hash + ";";
    ::dds_qset_userdata(qos.get(), text.data(), text.size());
  }
  return qos;
}

}  // namespace

EndpointQos outgoing_qos(const TopicRule& rule, std::size_t max_bytes, std::string type_hash) {
  const std::uint32_t usual = max_bytes >= kLarge ? kDepthOfLarge : kDepthOfSmall;
  return {.reliable = rule.reliable.value_or(true),
          .transient_local = rule.latched,
          .depth = rule.depth != 0 ? rule.depth
                   : rule.latched  ? 1
                                   : usual,
          .type_hash = std::move(type_hash)};
}

EndpointQos incoming_qos(const TopicRule& rule, const std::string& type, bool writers_are_reliable,
                         bool writers_are_transient_local, std::string type_hash) {
  const bool sensor = is_sensor_data(type);
  return {.reliable = rule.reliable.value_or(!sensor) && writers_are_reliable,
          .transient_local = rule.latched && writers_are_transient_local,
          .depth = rule.depth != 0 ? rule.depth
                   : sensor        ? kDepthOfLarge
                                   : kDepthOfSmall,
          .type_hash = std::move(type_hash)};
}

EndpointQos discovery_qos(std::string type_hash) {
  return {.reliable = true, .transient_local = true, .depth = 1, .type_hash = std::move(type_hash)};
}

Qos writer_qos(const EndpointQos& of) {
  Qos qos = endpoint_qos(of);
  ::dds_qset_writer_data_lifecycle(qos.get(), false);
  if (of.transient_local)  // what Cyclone keeps for those that come late
    ::dds_qset_durability_service(qos.get(), 0, DDS_HISTORY_KEEP_LAST, static_cast<std::int32_t>(of.depth),
                                  DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
  return qos;
}

Qos reader_qos(const EndpointQos& of) { return endpoint_qos(of); }

Qos participant_qos(const std::string& marker) {
  Qos qos(::dds_create_qos());
  const std::string text = "enclave=/;cardan=" + marker + ";";
  ::dds_qset_userdata(qos.get(), text.data(), text.size());
  return qos;
}

std::string user_data_of(const dds_qos_t* qos) {
  constexpr std::size_t kMost = 1U << 16U;
  void* bytes = nullptr;
  std::size_t size = 0;
  if (qos == nullptr || !::dds_qget_userdata(qos, &bytes, &size)) return {};
  std::string text;
  if (bytes != nullptr && size <= kMost) text.assign(static_cast<const char*>(bytes), size);
  ::dds_free(bytes);
  return text;
}

bool is_reliable(const dds_qos_t* qos) {
  dds_reliability_kind_t kind = DDS_RELIABILITY_BEST_EFFORT;
  return qos != nullptr && ::dds_qget_reliability(qos, &kind, nullptr) && kind == DDS_RELIABILITY_RELIABLE;
}

bool is_transient_local(const dds_qos_t* qos) {
  dds_durability_kind_t kind = DDS_DURABILITY_VOLATILE;
  return qos != nullptr && ::dds_qget_durability(qos, &kind) && kind != DDS_DURABILITY_VOLATILE;
}

bool offers_xcdr1(const dds_qos_t* qos) {
  std::uint32_t count = 0;
  dds_data_representation_id_t* all = nullptr;
  if (qos == nullptr || !::dds_qget_data_representation(qos, &count, &all) || count == 0) return true;  // the default
  const bool found = all[0] == DDS_DATA_REPRESENTATION_XCDR1;  // a writer offers its first
  ::dds_free(all);
  return found;
}

}  // namespace cardan::bridge::dds
