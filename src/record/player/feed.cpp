// SPDX-License-Identifier: Apache-2.0
#include "src/record/player/feed.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cardan/any_publisher.hpp"
#include "cardan/detail/encoded.hpp"
#include "cardan/local_message.hpp"
#include "cardan/messages/transforms.hpp"
#include "src/transport/endpoint/publisher_core.hpp"

namespace cardan::record {

Feed::Feed(std::string topic, const detail::ComponentCore::Declared& reader, MessageForm form)
    : topic_(std::move(topic)), type_(reader.type), convert_(reader.convert), form_(std::move(form)) {
  // A reader in another language takes vectors as they were published, and has no arena; code that fills them needs
  // one.
  if (type_.native && form_.layout()->has_vectors()) {
    type_.shared->has_arena = true;
    type_.shared->arena_bytes = sizeof(shm::Arena);
  }
}

void Feed::expect(std::uint64_t recorded_bytes) {
  payload_bytes_ = std::max(payload_bytes_, form_.payload_bytes(static_cast<std::size_t>(recorded_bytes)));
}

void Feed::leave_out(const std::vector<config::FrameTransform>& transforms) {
  if (!type_.native || type_.shared->hash != detail::message_type_of<TransformMessage>().hash) return;
  for (const config::FrameTransform& t : transforms) left_out_.insert(t.child);
}

void Feed::open(Runtime& runtime) {
  auto channel = runtime.channel(topic_, type_, "the recording");
  const detail::ChainRole role{.entries = runtime.chain_entries(), .topic = runtime.chain_beginning(topic_)};
  std::shared_ptr<detail::PublisherCore> publisher;
  if (type_.native)
    publisher = std::make_shared<detail::PublisherCore>(
        topic_, *type_.shared, TopicOptions{.max_bytes = payload_bytes_}, PublisherOptions{}, role);
  out_ = std::make_shared<detail::OutputCore>(std::move(channel), std::move(publisher), nullptr, runtime.clock(),
                                              TopicOptions{}.depth, role);
}

void Feed::push(const mcap::Message& message, std::int64_t shift) {
  if (type_.native)
    push_native(message, shift);
  else
    push_encoded(message, shift);
}

void Feed::push_native(const mcap::Message& message, std::int64_t shift) {
  const std::shared_ptr<detail::PublisherCore>& publisher = out_->publisher();
  AnyLoan loan = detail::untyped(detail::LoanedSlot(publisher), publisher->type());
  if (!loan && out_->make_room()) loan = detail::untyped(detail::LoanedSlot(publisher), publisher->type());
  if (!loan) return failed("no slot is free: a component keeps more samples than its input's `keeps` says");
  if (const CdrResult result = form_.fill(message.data, loan.message(), loan.arena()); !result)
    return failed(result.text());
  if (!left_out_.empty()) {
    auto& places = reinterpret_cast<TransformMessage*>(loan.message())->transforms;
    const auto is_left_out = [this](const TransformStamped& place) {
      std::string_view child = place.child_frame_id.view();
      if (child.starts_with('/')) child.remove_prefix(1);  // the same frame to Transforms
      return left_out_.contains(child);
    };
    places.erase(std::remove_if(places.begin(), places.end(), is_left_out), places.end());
  }
  loan.set_source_time(source_time_of(message, shift));
  out_->publish(detail::take_out(loan));
  ++messages_;
}

void Feed::push_encoded(const mcap::Message& message, std::int64_t shift) {
  auto encoded = std::make_shared<LocalMessage<detail::Encoded>>(message.data.size());
  if (!message.data.empty()) {
    (*encoded)->data.resize_for_overwrite(message.data.size());
    std::memcpy((*encoded)->data.data(), message.data.data(), message.data.size());
  }
  const auto sample = make_sample<detail::Encoded>(std::shared_ptr<const detail::Encoded>(encoded, &**encoded),
                                                   {.source_time = source_time_of(message, shift)});
  detail::SampleBlock* block = detail::block_of(sample);
  block->references.fetch_add(1, std::memory_order_relaxed);
  detail::SampleBlock* object = convert_(block);
  if (object == nullptr) return failed("it cannot be decoded as the type of its readers");
  out_->publish(object);
  ++messages_;
}

void Feed::failed(std::string why) {
  if (failed_++ == 0) failure_ = std::move(why);
}

SimulatedTopic Feed::report() const {
  return {.topic = topic_, .type = form_.type().name, .messages = messages_, .failed = failed_, .failure = failure_};
}

}  // namespace cardan::record
