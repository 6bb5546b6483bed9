// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/announcement.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/transport/discovery/wire.hpp"
#include "src/transport/endpoint/subscriber_core.hpp"

namespace cardan::detail {

Announcement Announcement::of(const SubscriberCore& subscriber) {
  return {.holds = subscriber.endpoint().holds,
          .threads = subscriber.endpoint().threads,
          .depth = subscriber.wanted_depth(),
          .background = subscriber.endpoint().background,
          .reliable = subscriber.endpoint().reliable,
          .prewake = subscriber.waiting().kind == Waiting::Kind::Prewake,
          .follows = subscriber.waiting().kind == Waiting::Kind::Follow,
          .not_via = subscriber.endpoint().not_via};
}

std::optional<Announcement> Announcement::read(const nlohmann::json& message) {
  const std::uint64_t holds = wire::number(message, "holds");
  const std::uint64_t threads = wire::number(message, "threads");
  if (holds < 1 || holds > layout::kMaxHolds || threads < 1 || threads > layout::kMaxThreads) return std::nullopt;
  const std::uint64_t depth = std::min<std::uint64_t>(wire::number(message, "depth"), layout::kMaxDepth);
  return Announcement{.holds = static_cast<std::uint32_t>(holds),
                      .threads = static_cast<std::uint32_t>(threads),
                      .depth = static_cast<std::uint32_t>(depth),
                      .background = wire::flag(message, "background"),
                      .reliable = wire::flag(message, "reliable"),
                      .prewake = wire::flag(message, "prewake"),
                      .follows = wire::flag(message, "follows"),
                      .not_via = wire::text(message, "not_via")};
}

void Announcement::write(nlohmann::json& message) const {
  message["holds"] = holds;
  message["threads"] = threads;
  message["depth"] = depth;
  message["background"] = background;
  message["reliable"] = reliable;
  message["prewake"] = prewake;
  message["follows"] = follows;
  if (!not_via.empty()) message["not_via"] = not_via;
}

bool came_through(std::string_view via, std::string_view network) noexcept {
  if (network.empty()) return false;
  while (!via.empty()) {
    const std::size_t end = std::min(via.find(' '), via.size());
    if (via.substr(0, end) == network) return true;
    via.remove_prefix(std::min(end + 1, via.size()));
  }
  return false;
}

std::unique_ptr<Attached> make_attached(PublisherCore& publisher, const Announcement& announced, uid_t uid,
                                        const std::shared_ptr<BellBoard>& board, const layout::SubscriberPage* page) {
  auto attached = std::make_unique<Attached>();
  attached->page = page;
  attached->bell = publisher.bell_for(uid, board, announced.background);
  attached->rung = page->armed.load(std::memory_order_relaxed);
  attached->announced = announced.holds + announced.threads;
  attached->threads = announced.threads;
  attached->prewake = announced.prewake;
  attached->reliable = publisher.options().reliable && announced.reliable;
  attached->follows = announced.follows && !attached->reliable;  // a publication may wait for a reliable one
  attached->floor = publisher.floor_for_late_joiner();
  attached->uid = uid;
  attached->depth = announced.depth;
  return attached;
}

}  // namespace cardan::detail
