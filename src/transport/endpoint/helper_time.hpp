// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>

namespace cardan::detail {

/// Bounds how much of the helper thread's time each other user may take, for its requests and for the rings of its
/// subscribers. One user gets a tenth, and less if more than five were active lately, so that all of them together get
/// half. A burst of up to kBurst is not delayed. Our own user and root are not counted.
/// Helper thread only; never blocks.
class HelperTime {
 public:
  static constexpr std::int64_t kBurst = 50'000'000;  ///< ns of processor time
  static constexpr std::int64_t kMemory =
      1'000'000'000;  ///< ns; a user that has been quiet for this long takes nothing from the others
  static constexpr std::int64_t kShare = 10;  ///< of one user: a tenth
  static constexpr std::size_t kUsers = 256;  ///< further users share one place

  /// When this user may have time again (steady clock, ns); 0: now.
  [[nodiscard]] std::int64_t opens_at(uid_t uid, std::int64_t now) const;
  /// Charges the user with `ns` of processor time.
  void spend(uid_t uid, std::int64_t ns, std::int64_t now);

 private:
  [[nodiscard]] uid_t place_of(uid_t uid) const;
  struct User {                   // steady clock
    std::int64_t paid_until = 0;  ///< when its processor time is paid for
    std::int64_t last = 0;        ///< when it last had some
  };
  std::map<uid_t, User> users_;
};

/// Processor time of this thread so far, ns.
std::int64_t thread_time() noexcept;

}  // namespace cardan::detail
