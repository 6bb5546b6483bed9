// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/announcement.hpp"

#include <algorithm>

#include "src/transport/endpoint/subscriber_core.hpp"

namespace cardan::detail {

handshake::Announcement announcement_of(const SubscriberCore& subscriber) {
  return {.holds = subscriber.endpoint().holds,
          .threads = subscriber.endpoint().threads,
          .depth = subscriber.wanted_depth(),
          .background = subscriber.endpoint().background,
          .reliable = subscriber.endpoint().reliable,
          .prewake = subscriber.waiting().kind == Waiting::Kind::Prewake,
          .follows = subscriber.waiting().kind == Waiting::Kind::Follow};
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

std::unique_ptr<Attached> make_attached(PublisherCore& publisher, const handshake::Announcement& announced, uid_t uid,
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
