// SPDX-License-Identifier: Apache-2.0
#include "src/transport/service/service_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "cardan/message_schema.hpp"
#include "src/messages/layout_cdr.hpp"
#include "src/messages/layout_walk.hpp"
#include "src/transport/protocol/layout.hpp"
#include "src/transport/service/found_service.hpp"

namespace cardan::detail {
namespace {

constexpr std::string_view kInfo =
    "uint8 REQUEST_SENT = 0\nuint8 REQUEST_RECEIVED = 1\nuint8 RESPONSE_SENT = 2\nuint8 RESPONSE_RECEIVED = 3\n"
    "uint8 event_type\nbuiltin_interfaces/Time stamp\nchar[16] client_gid\nint64 sequence_number\n";
constexpr std::string_view kTime = "int32 sec\nuint32 nanosec\n";
constexpr std::size_t kInfoField = 0, kQuestionField = 1, kAnswerField = 2;

CdrFramer framer_of(const std::string& service, const MessageType& type) {
  std::optional<AnyType> known = AnyType::of_publisher(type.name, type.hash, type.schema);
  if (!known)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("service '{}': the contents of {} cannot be published for introspection, because its "
                            "memory layout does not follow from its definition",
                            service, type.name),
                "use Introspection::Metadata, or remove alignas and bit fields from the type");
  return CdrFramer(*std::move(known));
}

/// As XCDR1 has it.
std::array<std::byte, 44> info_of(ServiceEvents::Kind kind, const ServedCaller& caller, std::uint64_t sequence) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t now = wall_now();
  const auto seconds = static_cast<std::int32_t>(now / kSecond);
  const auto nanoseconds = static_cast<std::uint32_t>(now % kSecond);
  std::array<std::byte, 44> out{std::byte{0}, std::byte{1}};  // little-endian
  out[4] = static_cast<std::byte>(kind);
  std::memcpy(&out[8], &seconds, sizeof seconds);
  std::memcpy(&out[12], &nanoseconds, sizeof nanoseconds);
  std::memcpy(&out[16], caller.gid.data(), caller.gid.size());
  std::memcpy(&out[36], &sequence, sizeof sequence);
  return out;
}

/// Both lie in the same message, but only one of them is there.
std::size_t most_bytes(const ServiceOptions& options) {
  constexpr std::size_t kFixed = std::size_t{64} << 10;  // fixed parts, alignment
  const std::size_t most = std::max(options.max_bytes, options.max_answer_bytes);
  return options.introspection == Introspection::Contents ? std::min(most + most / 8 + kFixed, layout::kMaxPayload) : 0;
}

}  // namespace

std::string events_topic(const std::string& service) { return service + "/_service_event"; }

std::string events_type(const MessageType& question, const MessageType& answer) {
  if (const std::string service = ros_service_type(question.name, answer.name); !service.empty())
    return service + "_Event";
  const std::string_view name = question.name;
  return fmt::format("{}/srv/{}_Event", name.substr(0, name.find('/')), name.substr(name.rfind('/') + 1));
}

std::string events_definition(const MessageType& question, const MessageType& answer) {
  const std::string asked = short_ros_name(question.name), answered = short_ros_name(answer.name);
  SchemaWriter writer;
  const std::string event =
      fmt::format("service_msgs/ServiceEventInfo info\n{}[<=1] request\n{}[<=1] response\n", asked, answered);
  writer.add_definition({events_type(question, answer), event});
  writer.add_definition({"service_msgs/ServiceEventInfo", kInfo});
  writer.add_definition({"builtin_interfaces/Time", kTime});
  writer.add_schema(asked, question.schema);
  writer.add_schema(answered, answer.schema);
  return writer.text();
}

ServiceEvents::ServiceEvents(const std::string& service, const MessageType& question, const MessageType& answer,
                             const ServiceOptions& options, const std::string& domain)
    : topic_(events_topic(service)),
      type_(AnyType::of_definition(events_type(question, answer), events_definition(question, answer))) {
  if (options.introspection == Introspection::Contents) {
    question_.emplace(framer_of(service, question), &type_.layout().fields[kQuestionField]);
    answer_.emplace(framer_of(service, answer), &type_.layout().fields[kAnswerField]);
  }
  publisher_.emplace(topic_, type_.message_type(),
                     TopicOptions{.max_bytes = most_bytes(options), .depth = 2 * options.pending},
                     PublisherOptions{.domain = domain});
}

void ServiceEvents::close() noexcept {
  const std::lock_guard lock(mutex_);
  publisher_.reset();
}

bool ServiceEvents::put(Side& side, std::span<const std::byte> message, std::span<const std::byte> payload,
                        AnyLoan& loan) const noexcept {
  if (!side.framer.frame(message, payload)) return true;  // malformed: nobody can read it
  const CdrFrame& frame = side.framer.parts();
  const std::array<std::span<const std::byte>, 3> pieces{frame.prefix, frame.payload, frame.suffix};
  auto& list = *reinterpret_cast<shm::VectorBase*>(loan.message() + side.list->offset);
  const TypeLayout& element = *side.list->type->element;
  if (!make_room(*side.list->type, list, 1, false)) return false;
  const CdrResult result = from_framed_cdr(element, CdrPieces(pieces), static_cast<std::byte*>(list.elements()));
  if (!result) (void)list.try_resize_elements(0, element.size);
  return result || result.error != CdrError::NoRoom;
}

void ServiceEvents::publish(Kind kind, const ServedCaller& caller, std::uint64_t sequence, std::optional<Side>& side,
                            std::span<const std::byte> message, std::span<const std::byte> payload) noexcept {
  const std::lock_guard lock(mutex_);
  if (!publisher_) return;
  AnyLoan loan = publisher_->loan();
  if (!loan) return;
  bind(type_.layout(), loan.message(), *loan.arena());
  const TypeLayout::Field& info = type_.layout().fields[kInfoField];
  const auto head = info_of(kind, caller, sequence);
  const std::span<const std::byte> bytes(head);
  (void)from_framed_cdr(*info.type, CdrPieces(&bytes, 1), loan.message() + info.offset);
  if (side && !put(*side, message, payload, loan))
    without_room_.store(std::max<std::size_t>(payload.size(), 1), std::memory_order_relaxed);
  publisher_->publish(std::move(loan));
}

void ServiceEvents::report() noexcept {
  const std::size_t bytes = without_room_.load(std::memory_order_relaxed);
  if (bytes == 0 || told_.exchange(true, std::memory_order_relaxed)) return;
  try {
    log(LogLevel::Warning, fmt::format("'{}': a message of {} bytes has no room there, and is published without "
                                       "its contents — raise max_bytes or max_answer_bytes of the service",
                                       topic_, bytes));
  } catch (...) {  // it stays unsaid
  }
}

void ServiceEvents::received(const ServedCaller& caller, const SampleBlock& question) noexcept {
  publish(Kind::RequestReceived, caller, question.sequence, question_,
          {static_cast<const std::byte*>(question.message), message_bytes_of(question)},
          {question.payload, static_cast<std::size_t>(question.payload_bytes)});
}

void ServiceEvents::answered(const ServedCaller& caller, std::uint64_t sequence, const void* message,
                             std::span<const std::byte> payload) noexcept {
  const std::size_t bytes = answer_ ? answer_->framer.type().layout().size : 0;
  publish(Kind::ResponseSent, caller, sequence, answer_, {static_cast<const std::byte*>(message), bytes}, payload);
}

}  // namespace cardan::detail
