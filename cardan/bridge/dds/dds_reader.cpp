// SPDX-License-Identifier: Apache-2.0
#include "cardan/bridge/dds/dds_reader.hpp"

#include <new>
#include <utility>

#include "cardan/base/error.hpp"
#include "cardan/bridge/dds/names.hpp"

namespace cardan::bridge::dds {
namespace {

constexpr std::uint32_t kAtOnce = 8;

}  // namespace

DdsReader::DdsReader(const Participant& participant, const std::string& topic, const AnyType& type,
                     const TopicRule& rule, const EndpointQos& qos, IncomingOptions options)
    : rule_(rule), qos_(qos), topic_(topic, name_beyond(rule, topic), type, rule, std::move(options)) {
  start(participant);
}

void DdsReader::start(const Participant& participant) {
  reader_.reset();
  wire_ = {};
  gather_counts();
  const auto before = std::exchange(inbox_, std::make_shared<Inbox>(rule_.max_bytes, Inbox::Way::Kept));
  if (before) inbox_->go_on_from(*before);
  const auto name = dds_topic_of(topic_.beyond());
  const auto type = dds_type_of(type_name());
  if (!name || !type)
    throw Error(ErrorCode::InvalidArgument, "'" + topic_.beyond() + "' has no form on DDS", "rename it there");
  wire_ = make_topic(participant.entity(), *name, *type, inbox_);
  reader_ = Entity(checked(
      ::dds_create_reader(participant.entity(), wire_.topic.get(), reader_qos(qos_).get(), nullptr), "read " + *name));
  guid_ = guid_of(reader_.get());
}

void DdsReader::set_qos(Participant& participant, const EndpointQos& qos) {
  for (std::uint32_t left = qos_.depth; carry(participant) && left > kAtOnce; left -= kAtOnce) {
  }  // what is there already came by the old one
  qos_ = qos;
  start(participant);
}

bool DdsReader::wanted(Participant& participant, dds_instance_handle_t handle) {
  const RemoteWriter* const writer = participant.writer(handle);
  if (writer == nullptr) {
    topic_.lost();  // whose it is cannot be known: it might be our own
    return false;
  }
  if (participant.is_sibling(*writer)) return false;
  if (!writer->type_hash.empty() && !qos_.type_hash.empty() && writer->type_hash != qos_.type_hash) {
    ++own_.refused;
    note_ = "a writer's " + writer->type + " has other fields than ours (" + writer->type_hash + ")";
    return false;
  }
  return true;
}

bool DdsReader::carry(Participant& participant) {
  std::vector<Received> received = take(reader_.get(), kAtOnce);
  for (Received& next : received) {
    const Received one = std::move(next);  // its packets go back to Cyclone before the next one is read
    if (one.size() == 0) continue;
    try {
      if (wanted(participant, one.writer())) (void)topic_.deliver(one.pieces(pieces_), one.source_ns());
    } catch (const std::bad_alloc&) {
      topic_.lost();
      out_of_memory_ = true;
    }
  }
  gather_counts();
  return received.size() == kAtOnce;
}

void DdsReader::gather_counts() {
  if (!inbox_) return;
  own_.lost += inbox_->take_lost();
  own_.copied += inbox_->take_copied();
  if (const std::uint64_t refused = inbox_->take_refused(); refused != 0) {
    own_.refused += refused;
    note_ = "a message is larger than the rule lets in (max_mib)";
  }
}

TopicReport DdsReader::report() const {
  TopicCounts counts = topic_.counts();
  counts.lost += own_.lost;
  counts.copied += own_.copied;
  counts.refused += own_.refused;
  return {.topic = topic_.name(),
          .beyond = topic_.beyond(),
          .type = type_name(),
          .in = true,
          .receivers = topic_.subscribers(),
          .counts = counts,
          .note = out_of_memory_          ? "a message did not come in: memory has run out"
                  : topic_.note().empty() ? note_
                                          : topic_.note()};
}

}  // namespace cardan::bridge::dds
