// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/dds_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "cardan/error.hpp"
#include "src/bridge/dds/environment.hpp"
#include "src/bridge/dds/names.hpp"
#include "src/bridge/dds/reader_addresses.hpp"
#include "src/record/metadata.hpp"

namespace cardan::bridge::dds {
namespace {

/// A reader that comes back soon, as a tool that is called again, finds the subscription open.
constexpr std::int64_t kLinger = 2'000'000'000;
constexpr std::int64_t kRetry = 2'000'000'000;
/// This many readers are never too many.
constexpr std::uint32_t kFew = 16;
/// A socket's buffer holds this much by the kernel's default.
constexpr std::size_t kUsualBuffer = 200U << 10U;

/// Of a message with its payload, about as large as its CDR form.
std::size_t most_bytes(const LocalTopic& topic) { return topic.max_bytes + topic.message_bytes; }

TopicForm form_of(const LocalTopic& topic, const TopicRule& rule) {
  return {.name = name_beyond(rule, topic.name),
          .type = topic.type,
          .type_hash = record::ros_type_hash(topic.type, topic.schema)};
}

WireMessage copy_of(const OutgoingFrame& frame) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  bytes->reserve(frame.size());
  for (const std::span<const std::byte> piece :
       {std::span<const std::byte>(frame.cdr.prefix), frame.cdr.payload, std::span<const std::byte>(frame.cdr.suffix)})
    bytes->insert(bytes->end(), piece.begin(), piece.end());
  return {.pieces = {*bytes}, .keep = bytes, .source_ns = frame.publish_ns};
}

}  // namespace

OutgoingOptions DdsWriter::options(const EndpointQos& qos, bool copies, const Rules& rules,
                                   const std::string& network) {
  // Best effort, Cyclone lets go of a frame within the call. Else it keeps `depth`, and one while the next is written.
  return {.domain = rules.domain,
          .network = network,
          .access = rules.access,
          .holds = !copies && (qos.reliable || qos.transient_local) ? qos.depth + 2 : 2,
          .depth = 0,
          .reliable = qos.transient_local};
}

DdsWriter::DdsWriter(const Participant& participant, LocalTopic topic, const TopicRule& rule, const Rules& rules,
                     const std::string& network, std::shared_ptr<Bell> bell)
    : qos_(outgoing_qos(rule, form_of(topic, rule), most_bytes(topic))),
      most_bytes_(most_sample_bytes(rules)),
      large_(most_bytes(topic) > kUsualBuffer),
      copies_(keeps_copies(qos_, most_bytes(topic))),
      options_(options(qos_, copies_, rules, network)),
      topic_(std::move(topic), rule, options_),
      tally_(std::make_shared<SendTally>()) {
  const auto name = dds_topic_of(topic_.beyond());
  if (!name)
    throw Error(ErrorCode::InvalidArgument, "'" + topic_.beyond() + "' is not a name that ROS 2 allows",
                "give it another with 'rename' (--rename FROM=TO): letters, digits, '_' and '/'");
  const auto type = dds_type_of(topic_.topic().type);
  if (!type)
    throw Error(ErrorCode::InvalidArgument, "the type '" + topic_.topic().type + "' is not as package/msg/Type",
                "name it so in CARDAN_MESSAGE");
  wire_ = make_topic(participant.entity(), *name, *type, nullptr);
  writer_ = Entity(checked(
      ::dds_create_writer(participant.entity(), wire_.topic.get(), writer_qos(qos_).get(), nullptr), "write " + *name));
  guid_ = guid_of(writer_.get());
  tally_->released = [bell = std::move(bell), who = writer_.get()] { bell->ring(who); };
}

void DdsWriter::open(std::int64_t now) {
  if (topic_.is_open() || now < retry_at_) return;
  try {
    topic_.open();
    note_.clear();
  } catch (const Error& e) {
    note_ = e.what();
    retry_at_ = now + kRetry;
  }
}

void DdsWriter::look(std::int64_t now) {
  dds_publication_matched_status_t status{};
  if (::dds_get_publication_matched_status(writer_.get(), &status) == DDS_RETCODE_OK) readers_ = status.current_count;
  if (readers_ > kFew) bound_addresses();
  if (readers_ != 0 || qos_.transient_local) {
    close_at_ = 0;
    open(now);
  } else if (topic_.is_open()) {
    if (close_at_ == 0) close_at_ = now + kLinger;
    if (now >= close_at_) topic_.close();
  }
}

void DdsWriter::bound_addresses() {
  constexpr ReaderAddresses kLimits{};
  const std::size_t forgotten = forget_readers_everywhere(wire_, writer_.get(), kLimits);
  if (forgotten > 0)
    note_ = fmt::format(
        "{} participants were forgotten until they announce themselves again: their readers have more than {} "
        "addresses, or all readers of this topic more than {}",
        forgotten, kLimits.most_of_one, kLimits.most);
}

bool DdsWriter::carry(std::int64_t now) {
  if (!topic_.is_open()) return false;
  if (tally_->held.load() >= options_.holds) {
    tally_->wanted.store(true);
    if (tally_->held.load() >= options_.holds) return false;
  }
  try {
    return send(now);
  } catch (const std::bad_alloc&) {
    topic_.lost();
    note_ = "a message was not sent: memory has run out";
    return false;
  }
}

bool DdsWriter::send(std::int64_t now) {
  const FramePtr frame = topic_.next(now);
  if (!frame) return false;
  if (frame->size() > most_bytes_) {
    topic_.refused();
    note_ = fmt::format(
        "a message of {} bytes was not sent: at most {} leave or come in — a rule of 'in' with a larger "
        "max_mib raises this",
        frame->size(), most_bytes_);
    return true;
  }
  WireMessage message = copies_ ? copy_of(*frame)
                                : WireMessage{.pieces = {frame->cdr.prefix, frame->cdr.payload, frame->cdr.suffix},
                                              .keep = frame,
                                              .source_ns = frame->publish_ns};
  const dds_return_t code = write(writer_.get(), wire_, std::move(message), copies_ ? nullptr : tally_);
  if (code == DDS_RETCODE_OK) {
    topic_.carried(*frame, copies_ ? frame->cdr.payload.size() : 0);
  } else {
    topic_.lost();
    note_ = std::string("Cyclone DDS did not send a message: ") + ::dds_strretcode(-code);
  }
  return true;
}

bool DdsWriter::waits_for_fd(std::int64_t now) {
  return topic_.is_open() && now >= topic_.due_ns() && tally_->held.load() < options_.holds;
}

std::int64_t DdsWriter::due_ns(std::int64_t now) const {
  std::int64_t due = std::numeric_limits<std::int64_t>::max();
  if (topic_.is_open() && topic_.due_ns() > now) due = topic_.due_ns();
  if (close_at_ != 0 && topic_.is_open()) due = std::min(due, close_at_);
  if (!topic_.is_open() && readers_ != 0) due = std::min(due, retry_at_);
  return due;
}

TopicReport DdsWriter::report() const {
  TopicReport report{.topic = topic_.topic().name,
                     .beyond = topic_.beyond(),
                     .type = topic_.topic().type,
                     .in = false,
                     .receivers = readers_,
                     .counts = topic_.counts(),
                     .note = note_};
  report.counts.copied += tally_->gathered.load(std::memory_order_relaxed);
  return report;
}

}  // namespace cardan::bridge::dds
