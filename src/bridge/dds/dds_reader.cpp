// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/dds_reader.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "cardan/error.hpp"
#include "src/bridge/dds/half_received.hpp"
#include "src/bridge/dds/names.hpp"
#include "src/bridge/dds/packets.hpp"

namespace cardan::bridge::dds {
namespace {

constexpr std::uint32_t kAtOnce = 8;
/// A reliable writer may need some time until what was lost has come again.
constexpr std::int64_t kSilence = 3'000'000'000;

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
  for (auto& [writer, one] : watched_) one.met = false;
}

void DdsReader::watch(const std::vector<const RemoteWriter*>& writers, std::int64_t now) {
  if (!reader_) return;
  for (auto& [writer, one] : watched_) one.there = false;
  for (const RemoteWriter* const writer : writers) {
    if (writer->type != type_name()) continue;
    Watched& one = watched_.try_emplace(writer->guid, Watched{.since = now}).first->second;
    one.there = true;
    if (!std::exchange(one.met, true) && writer->reliable) forget_parts(wire_, writer->guid);
    watch(one, writer->guid, now);
  }
  std::erase_if(watched_, [this](const auto& entry) {
    if (!entry.second.there) own_.lost += entry.second.missing;
    return !entry.second.there;
  });
}

void DdsReader::watch(Watched& one, const Guid& writer, std::int64_t now) {
  const std::int64_t sent = last_number_of(wire_, writer);
  const auto came = inbox_->came_of(origin_form(writer));
  if (sent == 0 || !came) return;
  if (one.first == 0) one.first = sent;
  if (came->first != 0 && !std::exchange(one.came, true) && came->first > one.first)
    own_.lost += static_cast<std::uint64_t>(came->first - one.first - 1);  // the inbox counts from its first one on
  const std::int64_t whole = std::max(came->last, one.first);
  if (whole != one.whole || sent <= whole) {
    one.whole = whole;
    one.since = now;
    one.missing = 0;
  } else if (now - one.since >= kSilence) {
    one.missing = static_cast<std::uint64_t>(sent - whole);
  }
}

std::uint64_t DdsReader::missing() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [writer, one] : watched_) sum += one.missing;
  return sum;
}

void DdsReader::set_qos(Participant& participant, const EndpointQos& qos) {
  for (std::uint32_t left = qos_.depth; carry(participant) && left > kAtOnce; left -= kAtOnce) {
  }  // samples that are there already came with the old QoS
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
  const std::uint64_t in_part = missing();
  counts.lost += own_.lost + in_part;
  counts.copied += own_.copied;
  counts.refused += own_.refused;
  return {.topic = topic_.name(),
          .beyond = topic_.beyond(),
          .type = type_name(),
          .in = true,
          .receivers = topic_.subscribers(),
          .counts = counts,
          .note = out_of_memory_ ? "a message did not come in: memory has run out"
                  : in_part != 0
                      ? "a writer sends, and its messages do not come whole: raise net.core.rmem_max (cardan doctor)"
                  : topic_.note().empty() ? note_
                                          : topic_.note()};
}

}  // namespace cardan::bridge::dds
