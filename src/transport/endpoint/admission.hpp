// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "src/transport/endpoint/attached.hpp"
#include "src/transport/endpoint/publisher_contract.hpp"

namespace cardan::detail {

/// Threads with which another user may wait for one topic (docs/security.md). They sleep on a bell of their own.
inline constexpr std::uint32_t kForeignThreads = 32;

/// Bounds how much of a topic other users may take. Remembers how they behaved. Helper thread.
class Admission {
 public:
  /// The holdings of some subscribers. A subscriber that has left may still have its place in the table.
  struct Taken {
    std::uint32_t places = 0;
    std::uint32_t slots = 0;
    std::uint32_t threads = 0;
    bool liar = false;
    void add(const Attached& a) noexcept;
  };
  /// Refuses another user more than its share. All other users together leave a quarter to our own user and root. A
  /// user whose subscriber was cut off must wait for a while. `by_user`, `by_all`: with this subscriber. `room`: slots
  /// that the topic has for subscribers. Throws Error (Limit).
  void check(const PublisherContract& contract, uid_t uid, const Taken& by_user, const Taken& by_all,
             std::uint32_t room) const;
  /// A liar takes free slots from the publisher until it is cut off. To prevent it from doing so all the time, its user
  /// must wait: 1 s, 2 s, up to a minute.
  void strike(uid_t uid);
  [[nodiscard]] std::shared_ptr<Patience> patience_with(const Attached& subscriber);

 private:
  struct Strike {  ///< a user whose subscriber was cut off
    uid_t uid;
    std::uint32_t count;
    std::int64_t until_ns;  ///< its subscribers are refused until then
  };
  std::vector<Strike> strikes_;
  std::vector<std::pair<uid_t, std::shared_ptr<Patience>>> patience_;  ///< with other users
};

}  // namespace cardan::detail
