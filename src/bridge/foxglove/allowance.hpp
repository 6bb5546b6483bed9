// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace cardan::bridge::foxglove {

/// The cost of clients' bytes. One unit is a byte of a message that may come in: it is copied. A text is parsed, and
/// each request has its answer.
inline constexpr std::int64_t kRawUnits = 16;    ///< a byte from a client that publishes nothing
inline constexpr std::int64_t kTextUnits = 256;  ///< a byte of a text, or of a message that nobody takes
inline constexpr std::int64_t kRequestUnits = 512 * kTextUnits;
inline constexpr std::int64_t kMessageUnits = 64 * kTextUnits;  ///< a message that may come in
inline constexpr std::int64_t kPageUnits = 8 * kRequestUnits;   ///< a request for a page

/// This many units a second. Unused ones are kept for one second; overdrawn ones are waited for.
/// Thread safety: none. No function blocks. Times are of the steady clock, in ns.
class Budget {
 public:
  explicit Budget(std::int64_t units_of_a_second) noexcept : rate_(static_cast<double>(units_of_a_second) / kSecond) {}

  /// Not more than a second's; zero or less: wait.
  [[nodiscard]] std::int64_t left(std::int64_t now) const noexcept {
    const std::int64_t ns = kSecond - std::max<std::int64_t>(paid_until_ - now, 0);
    return static_cast<std::int64_t>(static_cast<double>(ns) * rate_);
  }
  void spend(std::int64_t units, std::int64_t now) noexcept {
    const double ns = std::min(static_cast<double>(units) / rate_, static_cast<double>(kLongest));
    paid_until_ = std::min(std::max(paid_until_, now) + static_cast<std::int64_t>(ns), now + kLongest);
  }
  /// Whether it is as if it were new.
  [[nodiscard]] bool is_full(std::int64_t now) const noexcept { return paid_until_ <= now; }

 private:
  static constexpr std::int64_t kSecond = 1'000'000'000;
  static constexpr std::int64_t kLongest = 30 * kSecond;  ///< nobody waits longer
  double rate_;                                           ///< units of one ns
  std::int64_t paid_until_ = 0;
};

/// The budgets of a server's users.
/// Thread safety: none. No function blocks.
class Budgets {
 public:
  /// `requests`: of a client in a second.
  explicit Budgets(std::uint32_t requests) noexcept
      : client_(requests * kRequestUnits), strangers_(std::make_shared<Budget>(8 * client_)) {}

  [[nodiscard]] std::int64_t of_client() const noexcept { return client_; }
  [[nodiscard]] const std::shared_ptr<Budget>& of_strangers() const noexcept { return strangers_; }
  /// The budget of all connections of a share, also of later ones. If there are too many shares, the rest have one
  /// together.
  [[nodiscard]] std::shared_ptr<Budget> of_share(const std::string& share, std::int64_t now) {
    if (users_.size() >= kMostUsers)
      std::erase_if(users_, [&](const auto& one) { return one.second.use_count() == 1 && one.second->is_full(now); });
    const auto it = users_.find(share);
    if (it != users_.end()) return it->second;
    return users_.try_emplace(users_.size() < kMostUsers ? share : "the rest", std::make_shared<Budget>(2 * client_))
        .first->second;
  }

 private:
  static constexpr std::size_t kMostUsers = 64;
  std::int64_t client_;
  std::shared_ptr<Budget> strangers_;
  std::map<std::string, std::shared_ptr<Budget>, std::less<>> users_{};
};

/// The allowance of one connection for reading. Our own user is limited for each client only.
/// Thread safety: none. No function blocks.
class Allowance {
 public:
  Allowance(Budgets& budgets, const std::string& share, std::int64_t now)
      : own_(budgets.of_client()), is_stranger_(!share.empty()) {
    if (!is_stranger_) return;
    user_ = budgets.of_share(share, now);
    strangers_ = budgets.of_strangers();
  }

  void spend(std::int64_t units, std::int64_t now) noexcept {
    own_.spend(units, now);
    if (user_) user_->spend(units, now);
    if (strangers_) strangers_->spend(units, now);
  }
  /// Messages that may come in cost our own user nothing.
  void publishes(bool does) noexcept {
    publishes_ = does;
    raw_ = !does ? kRawUnits : is_stranger_ ? 1 : 0;
  }
  /// A part of a message.
  void take_part(std::size_t bytes, bool is_text, std::int64_t now) noexcept {
    if (is_text || !publishes_) spend(static_cast<std::int64_t>(bytes) * kTextUnits, now);
  }
  /// A message is complete.
  void take_message(bool is_text, std::int64_t now) noexcept {
    if (is_text || !publishes_)
      spend(kRequestUnits, now);
    else if (is_stranger_)
      spend(kMessageUnits, now);
  }
  void take_raw(std::size_t bytes, std::int64_t now) noexcept {
    if (raw_ != 0) spend(static_cast<std::int64_t>(bytes) * raw_, now);
    waits_ = false;
  }
  /// How many bytes may be read now. 0: the reader waits.
  [[nodiscard]] std::size_t raw(std::int64_t now) noexcept {
    std::int64_t left = own_.left(now);
    if (user_) left = std::min(left, user_->left(now));
    if (strangers_) left = std::min(left, strangers_->left(now));
    const std::int64_t bytes = left <= 0 ? 0 : raw_ == 0 ? std::numeric_limits<std::int64_t>::max() : left / raw_;
    waits_ = bytes == 0;
    return static_cast<std::size_t>(bytes);
  }
  /// Whether the reader waits for it.
  [[nodiscard]] bool waits() const noexcept { return waits_; }

 private:
  Budget own_;
  std::shared_ptr<Budget> user_{}, strangers_{};
  std::int64_t raw_ = kRawUnits;
  bool is_stranger_, publishes_ = false, waits_ = false;
};

}  // namespace cardan::bridge::foxglove
