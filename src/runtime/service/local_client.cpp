// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/service/local_client.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <utility>

#include "cardan/arena.hpp"
#include "src/transport/service/service_card.hpp"

namespace cardan::detail {
namespace {

constexpr std::uint64_t kTag = 1;  ///< of its only session

std::shared_ptr<PublisherCore> publisher_of(const std::string& topic, MessageType type, std::size_t max_bytes,
                                            std::uint32_t loans, std::uint32_t kept) {
  // The other side fills it. A reader in another language takes lists as they were published, and has no arena.
  type.has_arena = true;
  type.arena_bytes = sizeof(shm::Arena);
  auto core = std::make_shared<PublisherCore>(
      topic, type, TopicOptions{.max_bytes = max_bytes, .depth = 1, .loans = loans}, PublisherOptions{});
  core->hold_own(kept);
  return core;
}

}  // namespace

/// Itself, as its server sees it. Questions may keep it longer than it lives.
class LocalClient::Caller final : public ServedCaller {
 public:
  Caller(LocalClient& client, std::shared_ptr<PublisherCore> its_answers)
      : ServedCaller(kTag, ::geteuid(), std::move(its_answers), 0), client_(&client) {}

  HandOver here() noexcept override {
    return {[](void* self, int slot) noexcept { static_cast<Caller*>(self)->answered(slot); }, this};
  }
  void declined(std::uint64_t sequence, const std::string& why) override {
    if (gone.load(std::memory_order_acquire)) return;
    {
      const std::lock_guard lock(client_->mutex_);
      AskedTable::Asked* const one = client_->asked_.find_pending(kTag, sequence);
      if (one == nullptr) return;
      one->state = NoAnswer::Declined;
      one->text = fmt::format("the server of '{}' declines: {}", client_->parts_.service, why);
    }
    client_->parts_.ended();
  }

 private:
  void answered(int slot) noexcept {
    SampleBlock* const answer = client_->published_here(*answers, slot);
    if (answer == nullptr) return;
    {
      const std::lock_guard lock(client_->mutex_);
      client_->asked_.collect(kTag, answer);
    }
    client_->parts_.ended();
  }

  LocalClient* const client_;  ///< unless `gone`
};

LocalClient::LocalClient(Parts parts, const RuntimeClock& clock)
    : parts_((check_service(parts.service, parts.options), std::move(parts))),
      clock_(clock),
      // A question is kept until it is answered, also one that the client has given up.
      questions_(publisher_of(parts_.service + "?questions", parts_.question, parts_.options.max_bytes, 1,
                              2 * parts_.options.pending)),
      caller_(std::make_shared<Caller>(
          *this, publisher_of(parts_.service + "?answers", parts_.answer, parts_.options.max_answer_bytes,
                              parts_.options.answers, parts_.options.pending + parts_.options.holds))),
      asked_(parts_.options.pending) {}

LocalClient::~LocalClient() { caller_->gone.store(true, std::memory_order_release); }

/// A sample of the slot, with the simulation's times.
SampleBlock* LocalClient::published_here(PublisherCore& core, int slot) const noexcept {
  SampleBlock* const block = core.keep(slot);
  if (block == nullptr) return nullptr;
  block->is_private = true;
  const std::int64_t now = clock_.now();
  if (block->origin_ns == block->publish_ns) block->origin_ns = now;
  block->publish_ns = now;
  return block;
}

LoanedSlot LocalClient::loan() noexcept { return has_server() ? LoanedSlot(questions_) : LoanedSlot(); }

AskedQuestion LocalClient::ask(Filled filled, std::int64_t deadline_ns) noexcept {
  const auto no = [&](NoAnswer reason) {
    filled.core->abandon(filled.slot);
    return AskedQuestion{.number = 0, .reason = reason};
  };
  ServiceCallback* const server = parts_.server();
  if (server == nullptr || filled.core != questions_) return no(NoAnswer::NoServer);
  struct Published {
    const LocalClient& client;
    SampleBlock* block = nullptr;
  } published{.client = *this};
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (asked_.size() >= parts_.options.pending) return no(NoAnswer::Full);
    const HandOver here{[](void* self, int slot) noexcept {
                          auto& to = *static_cast<Published*>(self);
                          to.block = to.client.published_here(*to.client.questions_, slot);
                        },
                        &published};
    (void)questions_->publish(filled.slot, filled.payload_bytes, deadline_ns, here, filled.named);
    if (published.block == nullptr) return {.number = 0, .reason = NoAnswer::Full};
    number = asked_.add(kTag, published.block->sequence, deadline_ns);
  }
  server->push({.block = published.block, .end = {nullptr, caller_}});
  return {.number = number};
}

/// Its server learns that nobody waits for it.
void LocalClient::forget(const AskedTable::Asked& one) noexcept {
  caller_->cancelled[one.sequence % caller_->cancelled.size()].store(one.sequence, std::memory_order_release);
  asked_.remove(one);
}

void LocalClient::cancel(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  if (const AskedTable::Asked* const one = asked_.find(number)) forget(*one);
}

AskingEnd::Done LocalClient::next_done(std::int64_t now) {
  const std::lock_guard lock(mutex_);
  const AskedTable::Asked* const one = asked_.ended(now);
  if (one == nullptr) return {};
  const std::uint64_t number = one->number;
  if (one->state != NoAnswer::Pending) return {.number = number, .outcome = asked_.outcome_of(number)};
  forget(*one);
  return {.number = number, .outcome = {.reason = NoAnswer::TimedOut, .text = text_of(NoAnswer::TimedOut)}};
}

std::int64_t LocalClient::next_deadline() const noexcept {
  const std::lock_guard lock(mutex_);
  return asked_.next_deadline();
}

}  // namespace cardan::detail
