// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace cardan::detail {

/// Bounds how many of this process's descriptors the peers of other users may use, in its table or on their way to a
/// peer that does not read: all of them together a quarter of RLIMIT_NOFILE, one user a quarter of that. Our own user
/// and root are not counted.
/// Thread safe; takes a mutex.
class DescriptorShares {
 public:
  /// Returns its descriptors to the share when it is destroyed.
  class Claim {
   public:
    Claim() noexcept = default;
    Claim(Claim&& other) noexcept
        : shares_(std::exchange(other.shares_, nullptr)), uid_(other.uid_), count_(std::exchange(other.count_, 0)) {}
    Claim& operator=(Claim&& other) noexcept;
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() { give_back(); }
    /// Takes over the descriptors of `other`, of the same user.
    void join(Claim&& other) noexcept;
    void give_back() noexcept;
    /// Whether it has any.
    explicit operator bool() const noexcept { return count_ != 0; }

   private:
    friend class DescriptorShares;
    Claim(DescriptorShares* shares, uid_t uid, std::size_t count) noexcept
        : shares_(shares), uid_(uid), count_(count) {}
    DescriptorShares* shares_ = nullptr;
    uid_t uid_ = 0;
    std::size_t count_ = 0;
  };

  /// The shares of this process, with its limit.
  static DescriptorShares& of_process();
  explicit DescriptorShares(std::size_t limit) noexcept : limit_(limit) {}

  /// Empty: the user, or all other users together, have used their share.
  std::optional<Claim> claim(uid_t uid, std::size_t count);
  [[nodiscard]] std::size_t most_of_one() const noexcept { return limit_ / 16; }
  [[nodiscard]] std::size_t most_of_all() const noexcept { return limit_ / 4; }

 private:
  std::size_t limit_;
  std::mutex mutex_;
  std::map<uid_t, std::size_t> used_;
  std::size_t all_ = 0;
};

}  // namespace cardan::detail
