// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "src/bridge/foxglove/preview.hpp"

namespace cardan::bridge::foxglove {

/// The newest message of a channel, and what was made of it for pages. Each preview of a message is made once, however
/// often and from however many pages it is asked for.
/// Thread safety: none. No function blocks.
class PreviewCache {
 public:
  /// A newer message. The same one again, as a latched one may come, keeps its number and its previews.
  void offer(const FramePtr& frame) {
    newest_ = frame;
    if (last_.lock() == frame) return;
    last_ = frame;
    ++number_;
    made_.clear();
  }
  /// Nobody wants a preview: lets go of the message, and so of the publisher's slot.
  void let_go() noexcept { newest_.reset(); }
  /// Nothing is known of the topic any longer.
  void clear() noexcept {
    newest_.reset();
    made_.clear();
  }

  /// Null: none, or it was let go of.
  [[nodiscard]] const FramePtr& newest() const noexcept { return newest_; }
  /// Of the newest message, from 1; 0: no message yet.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  /// The previews that were made of a message. Those of older ones are not kept.
  void keep(std::uint64_t number, const Preview& preview, FramePtr made) {
    if (number == number_ && find(preview) == nullptr) made_.emplace_back(preview, std::move(made));
  }
  /// The preview of the newest message; null: it is not made yet.
  [[nodiscard]] FramePtr find(const Preview& preview) const noexcept {
    for (const auto& [one, frame] : made_)
      if (one == preview) return frame;
    return nullptr;
  }

 private:
  FramePtr newest_;
  std::weak_ptr<const OutgoingFrame> last_;
  std::uint64_t number_ = 0;
  std::vector<std::pair<Preview, FramePtr>> made_;  ///< one for each size; they hold no slot
};

}  // namespace cardan::bridge::foxglove
