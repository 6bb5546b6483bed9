// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/descriptor_shares.hpp"

#include <sys/resource.h>

#include "src/transport/endpoint/foreign.hpp"

namespace cardan::detail {

DescriptorShares& DescriptorShares::of_process() {
  static auto* const shares = [] {
    rlimit limit{};
    const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1'000'000;
    return new DescriptorShares(known ? static_cast<std::size_t>(limit.rlim_cur) : 1'000'000);
  }();
  return *shares;
}

std::optional<DescriptorShares::Claim> DescriptorShares::claim(uid_t uid, std::size_t count) {
  if (!is_foreign(uid) || count == 0) return Claim();
  const std::lock_guard lock(mutex_);
  std::size_t& used = used_[uid];
  if (used + count > most_of_one() || all_ + count > most_of_all()) {
    if (used == 0) used_.erase(uid);
    return std::nullopt;
  }
  used += count;
  all_ += count;
  return Claim(this, uid, count);
}

DescriptorShares::Claim& DescriptorShares::Claim::operator=(Claim&& other) noexcept {
  if (this != &other) {
    give_back();
    shares_ = std::exchange(other.shares_, nullptr);
    uid_ = other.uid_;
    count_ = std::exchange(other.count_, 0);
  }
  return *this;
}

void DescriptorShares::Claim::join(Claim&& other) noexcept {
  if (shares_ == nullptr)
    *this = std::move(other);
  else if (std::exchange(other.shares_, nullptr) != nullptr)
    count_ += std::exchange(other.count_, 0);
}

void DescriptorShares::Claim::give_back() noexcept {
  if (shares_ == nullptr) return;
  const std::lock_guard lock(shares_->mutex_);
  shares_->all_ -= count_;
  const auto used = shares_->used_.find(uid_);
  used->second -= count_;
  if (used->second == 0) shares_->used_.erase(used);
  shares_ = nullptr;
  count_ = 0;
}

}  // namespace cardan::detail
