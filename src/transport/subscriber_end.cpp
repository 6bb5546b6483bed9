// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/subscriber_end.hpp"

#include <utility>

#include "cardan/detail/deadline.hpp"
#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"

namespace cardan::detail {

SubscriberEnd::SubscriberEnd(std::string topic, MessageType type, AdoptFunction adopt, const TopicOptions& options,
                             SubscriberOptions endpoint)
    : process_((refuse_name_of_service(topic), &Process::of(endpoint.domain))),
      core_(SubscriberCore::create(std::move(topic), std::move(type), adopt, options, std::move(endpoint))) {
  try {
    process_->add(core_);
  } catch (...) {
    core_->drop_reference();
    throw;
  }
}

SubscriberEnd::SubscriberEnd(SubscriberEnd&& other) noexcept
    : process_(other.process_), core_(std::exchange(other.core_, nullptr)) {}

SubscriberEnd& SubscriberEnd::operator=(SubscriberEnd&& other) noexcept {
  if (this == &other) return *this;
  end();
  process_ = other.process_;
  core_ = std::exchange(other.core_, nullptr);
  return *this;
}

void SubscriberEnd::end() noexcept {
  if (core_ == nullptr || is_forked_child()) return;
  process_->remove(core_);
  core_->drop_reference();
  core_ = nullptr;
}

CARDAN_TAKE_PATH SampleBlock* SubscriberEnd::take() noexcept { return core_->take(); }
CARDAN_TAKE_PATH SampleBlock* SubscriberEnd::wait() noexcept { return core_->wait(0); }
CARDAN_TAKE_PATH SampleBlock* SubscriberEnd::wait(std::chrono::nanoseconds timeout) noexcept {
  return core_->wait(deadline_after(timeout));
}
bool SubscriberEnd::copy_latest(ObservedSample& into) { return core_->copy_latest(into); }
Reason SubscriberEnd::reason() const noexcept { return core_->reason(); }
std::optional<Event> SubscriberEnd::event() { return core_->next_event(); }
int SubscriberEnd::fd() { return core_->fd(); }
std::uint64_t SubscriberEnd::missed() const { return core_->missed(); }
std::uint64_t SubscriberEnd::received() const { return core_->received(); }
std::uint64_t SubscriberEnd::bad() const { return core_->bad(); }
std::size_t SubscriberEnd::publishers() const noexcept { return core_->publishers(); }
std::chrono::nanoseconds SubscriberEnd::spun() const { return std::chrono::nanoseconds{core_->spin_ns()}; }
const std::string& SubscriberEnd::topic() const noexcept { return core_->topic(); }
const MessageType& SubscriberEnd::type() const noexcept { return core_->type(); }

}  // namespace cardan::detail
