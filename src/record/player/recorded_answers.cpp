// SPDX-License-Identifier: Apache-2.0
#include "src/record/player/recorded_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "cardan/error.hpp"
#include "src/messages/layout_cdr.hpp"
#include "src/messages/ros_layout.hpp"
#include "src/transport/protocol/layout.hpp"

namespace cardan::record {
namespace {

using Kind = TypeLayout::Kind;
using Event = detail::ServiceEvents::Kind;

constexpr std::string_view kEnding = "/_service_event";
/// More than the questions of all clients of a server.
constexpr std::size_t kMostRecorded = 8192;
constexpr std::size_t kMostRecordedBytes = std::size_t{256} << 20;
constexpr std::uint32_t kMostHeld = 200;

/// The only message of a list of at most one; empty: none is there.
std::vector<std::byte> content_of(const TypeLayout::Field& list, const std::byte* event) {
  const auto& vector = *reinterpret_cast<const shm::VectorBase*>(event + list.offset);
  if (vector.element_count() == 0) return {};
  CdrFrame frame;
  frame_cdr(*list.type->element, static_cast<const std::byte*>(vector.elements()), frame);
  return frame.joined();
}

/// A file may say anything.
bool is_event(const TypeLayout& t) {
  const auto is_list = [](const TypeLayout::Field& f) {
    return f.type->kind == Kind::Vector && f.type->element->kind == Kind::Message;
  };
  const auto is_info = [](const TypeLayout& info) {
    return info.kind == Kind::Message && info.fields.size() == 4 && info.fields[0].type->kind == Kind::Integer &&
           info.fields[0].type->size == 1 && info.fields[1].type->size == 8 && !info.fields[1].type->in_payload &&
           info.fields[2].type->kind == Kind::Array && info.fields[2].type->size == 16 &&
           info.fields[2].type->element->size == 1 && info.fields[3].type->kind == Kind::Integer &&
           info.fields[3].type->size == 8;
  };
  return t.fields.size() == 3 && is_info(*t.fields[0].type) && is_list(t.fields[1]) && is_list(t.fields[2]);
}

/// "": they are those of the service.
std::string other_types(const RosSchema& recorded, const detail::ServiceType& asked) {
  const auto& fields = recorded.root().fields;
  for (const auto& [field, type] : {std::pair{&fields[1], &asked.question}, {&fields[2], &asked.answer}})
    if (!same_fields(*field->type.message, RosSchema(type->name, type->schema).root()))
      return fmt::format("its {} was {} when it was recorded, which had other fields than {}", field->name,
                         field->type.message->name, type->name);
  return {};
}

/// How components ask it, if no component serves it. Empty: `why` says it if they differ.
std::optional<detail::ServiceType> asked_type(const Runtime& runtime, const std::string& name, std::string& why) {
  const detail::ServiceType* type = nullptr;
  for (const auto& core : runtime.components())
    for (const detail::DeclaredService& service : core->services()) {
      if (service.name != name) continue;
      if (service.server != nullptr) return std::nullopt;
      if (type != nullptr &&
          (type->question.hash != service.type.question.hash || type->answer.hash != service.type.answer.hash)) {
        why = "components ask it with different types";
        return std::nullopt;
      }
      type = &service.type;
    }
  return type == nullptr ? std::nullopt : std::optional(*type);
}

}  // namespace

RecordedAnswers::RecordedAnswers(Runtime& runtime) : runtime_(runtime) {}

RecordedAnswers::~RecordedAnswers() {
  for (const auto& [name, service] : services_)
    for (const Asked& asked : service->waiting) detail::drop(asked.question.block);
}

bool RecordedAnswers::connect(Place place, const mcap::Channel& channel, const mcap::Schema* schema, std::string& why) {
  if (!channel.topic.ends_with(kEnding) || schema == nullptr) return false;
  const std::string name = channel.topic.substr(0, channel.topic.size() - kEnding.size());
  const auto known = services_.find(name);
  const std::optional<detail::ServiceType> type =
      known != services_.end() ? known->second->type : asked_type(runtime_, name, why);
  if (!type) return false;
  if (channel.message_encoding != "cdr" || schema->encoding != "ros2msg") {
    why = fmt::format("its events are encoded as '{}' with a schema in '{}', but only cdr and ros2msg are supported",
                      channel.message_encoding, schema->encoding);
    return false;
  }
  try {
    const std::string text(reinterpret_cast<const char*>(schema->data.data()), schema->data.size());
    AnyType event = AnyType::of_definition(schema->name, text);
    if (!is_event(event.layout())) {
      why = fmt::format("{} is not how ROS 2 records a service", schema->name);
      return false;
    }
    if (why = other_types(RosSchema(schema->name, text), *type); !why.empty()) return false;
    Service* const service = known != services_.end() ? known->second.get() : service_of(name, *type, why);
    if (service == nullptr) return false;
    channels_.emplace(place, Channel{service, std::move(event)});
    return true;
  } catch (const Error& e) {
    why = e.cause();
    return false;
  }
}

/// Serves it.
RecordedAnswers::Service* RecordedAnswers::service_of(const std::string& name, const detail::ServiceType& type,
                                                      std::string& why) {
  auto questions = AnyType::of_publisher(type.question.name, type.question.hash, type.question.schema);
  auto answers = AnyType::of_publisher(type.answer.name, type.answer.hash, type.answer.schema);
  if (!questions || !answers) {
    why = fmt::format("the memory layout of {} does not follow from its schema (alignas, bit fields)",
                      questions ? type.answer.name : type.question.name);
    return nullptr;
  }
  auto service = std::make_unique<Service>(name, type, CdrFramer(*std::move(questions)), *std::move(answers));
  Service* const made = service.get();
  runtime_.components().front()->service(
      name, type, {.holds = kMostHeld},
      [this, made](detail::TakenQuestion&& question) { ask(*made, std::move(question)); });
  services_.emplace(name, std::move(service));
  return made;
}

void RecordedAnswers::ask(Service& service, detail::TakenQuestion&& question) const {
  ++service.report.asked;
  drop_cancelled(service);
  const detail::SampleBlock& block = *question.block;
  const std::span<const std::byte> message(static_cast<const std::byte*>(block.message),
                                           service.questions.type().layout().size);
  if (!service.questions.frame(message, {block.payload, static_cast<std::size_t>(block.payload_bytes)})) {
    question.end.decline(block.sequence, "the question is malformed");
    detail::drop(question.block);
    return;
  }
  service.waiting.push_back({std::move(question), service.questions.parts().joined()});
}

void RecordedAnswers::answer(Service& service, const Bytes& question, const Bytes& answer) const {
  drop_cancelled(service);
  const auto same =
      std::ranges::find_if(service.waiting, [&](const Asked& asked) { return asked.content == question; });
  if (same == service.waiting.end()) return;
  const detail::TakenQuestion& taken = same->question;
  AnyLoan loan = detail::untyped(taken.end.loan(), service.answers.message_type());
  const CdrResult result = service.answers.fill(answer, loan);
  if (result && taken.end.reply(detail::take_out(loan), *taken.block))
    ++service.report.answered;
  else
    taken.end.decline(taken.block->sequence,
                      result ? "its client keeps too many answers" : "the recorded answer: " + result.text());
  detail::drop(taken.block);
  service.waiting.erase(same);
}

void RecordedAnswers::push(Place place, mcap::View bytes) {
  const Channel& channel = channels_.at(place);
  Service& service = *channel.service;
  const TypeLayout& event = channel.event.layout();
  message_.assign(event.size, std::byte{});
  const std::size_t payload = channel.event.payload_bytes(bytes.size());
  if (payload > layout::kMaxPayload) {  // no honest event needs that
    ++service.report.malformed;
    return;
  }
  payload_.resize(payload);
  shm::Arena arena;
  arena.place(payload_.data(), payload_.size());
  if (!channel.event.fill(bytes, message_.data(), &arena)) {
    ++service.report.malformed;
    return;
  }
  const TypeLayout::Field& info = event.fields[0];
  const auto at = [&](std::size_t field) { return message_.data() + info.offset + info.type->fields[field].offset; };
  Key key;
  std::memcpy(key.client.data(), at(2), key.client.size());
  std::memcpy(&key.number, at(3), sizeof key.number);
  const auto kind = static_cast<Event>(*at(0));
  if (kind == Event::RequestSent || kind == Event::RequestReceived) {
    Bytes content = content_of(event.fields[1], message_.data());
    if (!content.empty()) remember(service, {key, kind, std::move(content)});
    return;
  }
  const Bytes content = content_of(event.fields[2], message_.data());
  if (content.empty()) return;
  const Bytes question = take(service, key);
  if (question.empty()) return;
  ++service.report.recorded;
  answer(service, question, content);
}

RecordedAnswers::Bytes RecordedAnswers::take(Service& service, const Key& key) {
  const auto found = std::ranges::find(service.recorded, key, &Recorded::key);
  if (found == service.recorded.end()) return {};
  Bytes content = std::move(found->content);
  service.recorded_bytes -= content.size();
  service.recorded.erase(found);
  return content;
}

void RecordedAnswers::remember(Service& service, Recorded&& question) {
  const auto known = std::ranges::find(service.recorded, question.key, &Recorded::key);
  if (known != service.recorded.end()) {
    if (known->kind != question.kind) return;  // the client's and the server's view of one
    (void)take(service, question.key);         // it had no answer, and a server that began again counts from 1
  }
  service.recorded_bytes += question.content.size();
  service.recorded.push_back(std::move(question));
  while (service.recorded.size() > kMostRecorded || service.recorded_bytes > kMostRecordedBytes) {
    service.recorded_bytes -= service.recorded.front().content.size();
    service.recorded.pop_front();
  }
}

void RecordedAnswers::drop_cancelled(Service& service) {
  std::erase_if(service.waiting, [](const Asked& asked) {
    const bool is_cancelled = asked.question.end.cancelled(asked.question.block->sequence);
    if (is_cancelled) detail::drop(asked.question.block);
    return is_cancelled;
  });
}

std::vector<SimulatedService> RecordedAnswers::report() const {
  std::vector<SimulatedService> all;
  for (const auto& [name, service] : services_) all.push_back(service->report);
  return all;
}

}  // namespace cardan::record
