// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/own_endpoints.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cardan/clock.hpp"

namespace cardan::bridge::dds {

std::optional<Call> split_call(std::span<const std::byte> message) {
  Call call;
  if (message.size() < kCdrHead + call.head.size()) return std::nullopt;
  const auto fields = message.subspan(kCdrHead + call.head.size());
  std::copy_n(message.begin() + kCdrHead, call.head.size(), call.head.begin());
  call.cdr.reserve(kCdrHead + fields.size());
  call.cdr.assign(message.begin(), message.begin() + kCdrHead);
  call.cdr.insert(call.cdr.end(), fields.begin(), fields.end());
  return call;
}

std::vector<std::byte> joined_call(const CallHead& head, std::span<const std::byte> cdr) {
  std::vector<std::byte> message;
  message.reserve(cdr.size() + head.size());
  message.assign(cdr.begin(), cdr.begin() + kCdrHead);
  message.insert(message.end(), head.begin(), head.end());
  message.insert(message.end(), cdr.begin() + kCdrHead, cdr.end());
  return message;
}

OwnWriter::OwnWriter(const Participant& participant, const std::string& topic, const std::string& type,
                     const EndpointQos& qos)
    : topic_(make_topic(participant.entity(), topic, type, nullptr)) {
  writer_ = Entity(checked(
      ::dds_create_writer(participant.entity(), topic_.topic.get(), writer_qos(qos).get(), nullptr), "write " + topic));
  guid_ = guid_of(writer_.get());
}

bool OwnWriter::send(std::vector<std::byte> cdr) {
  const auto bytes = std::make_shared<const std::vector<std::byte>>(std::move(cdr));
  return write(writer_.get(), topic_, {.pieces = {*bytes}, .keep = bytes, .source_ns = wall_now()}, nullptr) ==
         DDS_RETCODE_OK;
}

std::uint32_t OwnWriter::readers() const {
  dds_publication_matched_status_t status{};
  return ::dds_get_publication_matched_status(writer_.get(), &status) == DDS_RETCODE_OK ? status.current_count : 0;
}

OwnReader::OwnReader(const Participant& participant, const std::string& topic, const std::string& type,
                     const EndpointQos& qos, std::uint64_t most_bytes)
    : inbox_(std::make_shared<Inbox>(most_bytes)), topic_(make_topic(participant.entity(), topic, type, inbox_)) {
  reader_ = Entity(checked(
      ::dds_create_reader(participant.entity(), topic_.topic.get(), reader_qos(qos).get(), nullptr), "read " + topic));
  guid_ = guid_of(reader_.get());
}

Guid OwnReader::participant_of(const Received& one) const {
  Guid participant{};
  dds_builtintopic_endpoint_t* const writer = ::dds_get_matched_publication_data(reader_.get(), one.writer());
  if (writer == nullptr) return participant;
  std::copy(std::begin(writer->participant_key.v), std::end(writer->participant_key.v), participant.begin());
  ::dds_builtintopic_free_endpoint(writer);
  return participant;
}

}  // namespace cardan::bridge::dds
