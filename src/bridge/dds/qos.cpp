// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/qos.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace cardan::bridge::dds {
namespace {

constexpr std::size_t kLarge = 1U << 20U;
constexpr std::uint32_t kDepthOfLarge = 2, kDepthOfSmall = 10;
/// Of these the bridge keeps copies, so that many can wait: 25 MiB at most.
constexpr std::size_t kMostCopied = 256U << 10U;

/// As tf2, robot_state_publisher and rclcpp have them.
struct Habit {
  std::string_view type, name;  ///< `name`: also within a namespace
  std::uint32_t depth;
  bool latched, read_reliably;
};
constexpr std::array kHabits{Habit{"tf2_msgs/msg/TFMessage", "/tf_static", 100, true, true},
                             Habit{"tf2_msgs/msg/TFMessage", "/tf", 100, false, true},
                             Habit{"rosgraph_msgs/msg/Clock", "/clock", 1, false, false}};

const Habit* habit_of(const TopicForm& topic) {
  const auto* const found = std::find_if(kHabits.begin(), kHabits.end(), [&](const Habit& one) {
    return topic.type == one.type && std::string_view(topic.name).ends_with(one.name);
  });
  return found == kHabits.end() ? nullptr : found;
}
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

EndpointQos outgoing_qos(const TopicRule& rule, const TopicForm& topic, std::size_t max_bytes) {
  const Habit* const habit = habit_of(topic);
  EndpointQos qos{.reliable = rule.reliable.value_or(true),
                  .transient_local = rule.latched.value_or(habit != nullptr && habit->latched),
                  .depth = rule.depth,
                  .type_hash = topic.type_hash};
  if (qos.depth != 0) return qos;
  if (habit != nullptr && max_bytes <= kMostCopied)
    qos.depth = habit->depth;
  else if (qos.transient_local)
    qos.depth = 1;
  else
    qos.depth = max_bytes >= kLarge ? kDepthOfLarge : kDepthOfSmall;
  return qos;
}

bool keeps_copies(const EndpointQos& qos, std::size_t max_bytes) noexcept {
  return max_bytes <= kMostCopied && (qos.transient_local || qos.depth > kDepthOfSmall);
}

EndpointQos incoming_qos(const TopicRule& rule, const TopicForm& topic, const WritersOffer& writers) {
  const Habit* const habit = habit_of(topic);
  const bool reliably = habit == nullptr || habit->read_reliably;
  const std::uint32_t usual = is_sensor_data(topic.type) ? kDepthOfLarge : kDepthOfSmall;
  // Where ROS 2's own subscribers ask for what writers keep, one that keeps nothing does not take it from the others.
  const bool kept = habit != nullptr && habit->latched ? writers.one_transient_local : writers.all_transient_local;
  return {.reliable = rule.reliable.value_or(reliably) && writers.all_reliable,
          .transient_local = rule.latched.value_or(true) && kept,
          .depth = rule.depth != 0    ? rule.depth
                   : habit != nullptr ? habit->depth
                                      : usual,
          .type_hash = topic.type_hash};
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
