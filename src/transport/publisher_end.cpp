// SPDX-License-Identifier: Apache-2.0
#include "cardan/detail/publisher_end.hpp"

#include <utility>

#include "src/transport/discovery/process.hpp"
#include "src/transport/endpoint/publisher_core.hpp"

namespace cardan::detail {

PublisherEnd::PublisherEnd(std::string topic, MessageType type, const TopicOptions& options,
                           const PublisherOptions& endpoint)
    : process_((refuse_name_of_service(topic), &Process::of(endpoint.domain))),
      core_(std::make_shared<PublisherCore>(std::move(topic), std::move(type), options, endpoint)) {
  process_->add(core_);
}

PublisherEnd& PublisherEnd::operator=(PublisherEnd&& other) noexcept {
  if (this == &other) return *this;
  end();
  process_ = other.process_;
  core_ = std::move(other.core_);
  return *this;
}

void PublisherEnd::end() noexcept {
  if (core_ && !is_forked_child()) process_->remove(core_);
  core_.reset();
}

LoanedSlot PublisherEnd::loan() noexcept { return !core_ || is_forked_child() ? LoanedSlot{} : LoanedSlot(core_); }

bool PublisherEnd::publish(const Filled& filled) noexcept {
  if (filled.slot < 0 || is_forked_child()) return false;
  return filled.core->publish(filled.slot, filled.payload_bytes, filled.source_ns, {}, filled.named);
}

bool PublisherEnd::wait_for_room(std::int64_t until) noexcept {
  return is_forked_child() || core_->wait_for_room(until);
}

std::uint64_t PublisherEnd::published() const noexcept { return is_forked_child() ? 0 : core_->published(); }
std::size_t PublisherEnd::subscribers() const { return core_->subscribers(); }
void PublisherEnd::set_checksum(bool on) noexcept {
  if (!is_forked_child()) core_->set_checksum(on);
}
const std::string& PublisherEnd::topic() const noexcept { return core_->topic(); }
const MessageType& PublisherEnd::type() const noexcept { return core_->type(); }

}  // namespace cardan::detail
