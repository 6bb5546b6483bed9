// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>

namespace cardan::detail {

/// How much of the helper thread's time each other user may take: for its requests, and for the rings of its readers.
/// One user gets a tenth, and less where more than five have had some lately, so that all of them together get half.
/// What one does at once, up to kBurst, is not delayed. Our own user and root are not counted. Helper thread only;
/// never blocks.
class HelperTime {
 public:
  static constexpr std::int64_t kBurst = 50'000'000;  ///< ns of processor time
  static constexpr std::int64_t kMemory =
      1'000'000'000;                          ///< ns; who has been quiet for that long takes nothing from the others
  static constexpr std::int64_t kShare = 10;  ///< of one user: a tenth
  static constexpr std::size_t kUsers = 256;  ///< further ones share one place

  /// When this user may have time again (steady clock, ns); 0: now.
  [[nodiscard]] std::int64_t opens_at(uid_t uid, std::int64_t now) const;
  /// It has had so many ns of processor time.
  void spend(uid_t uid, std::int64_t ns, std::int64_t now);

 private:
  [[nodiscard]] uid_t place_of(uid_t uid) const;
  struct User {                   // steady clock
    std::int64_t paid_until = 0;  ///< what it has had is paid for then
    std::int64_t last = 0;        ///< when it had some
  };
  std::map<uid_t, User> users_;
};

/// Processor time of this thread so far, ns.
std::int64_t thread_time() noexcept;

}  // namespace cardan::detail
