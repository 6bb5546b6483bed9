// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/dds/inbox.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace cardan::bridge::dds {
namespace {

constexpr std::size_t kMostSpare = 2;
constexpr std::uint64_t kLeastKept = 16U << 20U;
/// A larger gap is not a loss: the writer is hostile, or has restarted its numbering.
constexpr std::int64_t kMostAtOnce = 1'000'000;

}  // namespace

bool Inbox::admits(std::size_t size) noexcept {
  if (size >= 4 && size <= most_bytes_) return true;
  refuse();
  return false;
}

bool Inbox::room(std::size_t size, Buffer& buffer) noexcept {
  {
    const std::lock_guard lock(mutex_);
    const auto fit = std::find_if(spare_.begin(), spare_.end(), [&](const Buffer& b) { return b.capacity >= size; });
    if (fit != spare_.end()) {
      buffer = std::move(*fit);
      spare_.erase(fit);
    } else if (!spare_.empty()) {
      spare_.pop_back();  // too small for what comes now
    }
  }
  if (!buffer.bytes) {
    buffer.bytes.reset(new (std::nothrow) std::byte[size]);
    buffer.capacity = size;
  }
  if (!buffer.bytes) {
    not_taken();
    return false;
  }
  buffer.size = size;
  copied_.fetch_add(size, std::memory_order_relaxed);
  return true;
}

void Inbox::give_back(Buffer buffer) noexcept {
  if (!buffer.bytes) return;
  const std::lock_guard lock(mutex_);
  if (spare_.size() >= kMostSpare) return;
  try {
    spare_.push_back(std::move(buffer));
  } catch (const std::bad_alloc&) {  // it is freed then
  }
}

bool Inbox::keep(std::size_t cost) noexcept {
  if (way_ != Way::Kept || cost == 0) return false;
  if (kept_.fetch_add(cost) + cost <= std::max(2 * most_bytes_, kLeastKept)) return true;
  let_go(cost);
  return false;
}

void Inbox::go_on_from(Inbox& before) noexcept {
  const std::scoped_lock lock(mutex_, before.mutex_);
  writers_ = before.writers_;
  known_ = before.known_;
}

std::optional<Inbox::Came> Inbox::came_of(const Guid& writer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto end = writers_.begin() + static_cast<std::ptrdiff_t>(known_);
  const auto it = std::find_if(writers_.begin(), end, [&](const Writer& one) { return one.guid == writer; });
  if (it != end) return it->came;
  if (known_ == writers_.size()) return std::nullopt;
  return Came{};
}

bool Inbox::note(const Origin& origin) noexcept {
  if (way_ != Way::Kept || origin.sequence <= 0) return true;
  std::uint64_t missing = 0;
  bool is_new = true;
  {
    const std::lock_guard lock(mutex_);
    auto it = std::find_if(writers_.begin(), writers_.begin() + static_cast<std::ptrdiff_t>(known_),
                           [&](const Writer& one) { return one.guid == origin.writer; });
    if (it == writers_.begin() + static_cast<std::ptrdiff_t>(known_)) {
      // Its earlier messages were not for us: it had not met us, or we do not know.
      if (known_ < writers_.size())
        ++known_;
      else
        --it;
      *it = {.guid = origin.writer, .came = {.first = origin.sequence, .last = origin.sequence}};
    } else if (origin.sequence > it->came.last) {
      const std::int64_t between = origin.sequence - it->came.last - 1;
      missing = static_cast<std::uint64_t>(between > kMostAtOnce ? 1 : between);
      it->came.last = origin.sequence;
    } else {
      is_new = false;
    }
    std::rotate(writers_.begin(), it, it + 1);
  }
  if (missing != 0) not_taken(missing);
  return is_new;
}

}  // namespace cardan::bridge::dds
