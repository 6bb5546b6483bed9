// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cardan/transforms.hpp"
#include "src/transforms/history.hpp"

namespace cardan::detail {

inline constexpr std::size_t kMostFrames = 1024;

/// Where a frame is in another, or what is missing.
struct Located {
  NoTransform reason = NoTransform::None;
  Transform transform{};
  std::int64_t stamp = 0;
  std::int64_t beyond_ns = 0;
  FrameIndex frame = kNoFrame;  ///< whose place is missing
};

/// All frames and their places: one of two sides. Readers use const functions only, none of which allocates.
class FrameTable {
 public:
  struct Frame {
    FrameId name;
    bool is_static = false;
    bool had_other_parents = false;  ///< among the places that are kept
    FrameIndex parent = kNoFrame;    ///< of its newest place; none: a root
    History places{};
  };

  /// kNoFrame: there is none of that name.
  [[nodiscard]] FrameIndex find(std::string_view name) const noexcept;
  [[nodiscard]] const Frame& at(FrameIndex i) const noexcept { return frames_[i]; }
  [[nodiscard]] std::size_t size() const noexcept { return frames_.size(); }
  /// As Transforms::lookup(), for frames that are there.
  [[nodiscard]] Located locate(FrameIndex target, FrameIndex source, std::int64_t stamp) const noexcept;
  FrameTable() { frames_.reserve(kMostFrames); }
  /// The frame of that name; a new one if needed. kNoFrame: there are kMostFrames.
  FrameIndex add(std::string_view name) noexcept;
  enum class Put : std::uint8_t { Accepted, Known, Late, Loop };
  /// Known: there is a place of this stamp. Throws std::bad_alloc.
  Put put(FrameIndex child, const Place& place, bool is_static, std::int64_t kept_ns, std::size_t most);
  /// All places; with `moving_only` those that change. The frames stay.
  void clear(bool moving_only) noexcept;

 private:
  /// The frames from one to the root of its tree, at a time.
  struct Way {
    std::array<FrameIndex, kMostFrames>
        frames;  // NOLINT(cppcoreguidelines-pro-type-member-init): 2 KiB for each lookup
    std::size_t count = 0;
    bool loops = false;
    FrameIndex missing = kNoFrame;  ///< the last one's place at that time
  };
  void walk(Way& way, FrameIndex from, std::int64_t stamp, bool newest, bool strict) const noexcept;
  [[nodiscard]] Located locate(FrameIndex target, FrameIndex source, std::int64_t stamp, bool newest,
                               bool strict) const noexcept;
  [[nodiscard]] FrameIndex parent_at(const Frame& frame, std::int64_t stamp, bool strict, bool& missing) const noexcept;
  [[nodiscard]] Located place_at(FrameIndex frame, std::int64_t stamp) const noexcept;
  /// Whether `child` is `frame`, or one of its parents, by their newest places.
  [[nodiscard]] bool is_above(FrameIndex child, FrameIndex frame) const noexcept;
  [[nodiscard]] std::size_t bucket_of(std::string_view name) const noexcept;

  static constexpr std::size_t kBuckets = 2 * kMostFrames;
  std::vector<Frame> frames_;
  std::vector<FrameIndex> buckets_ = std::vector<FrameIndex>(kBuckets, kNoFrame);
};

}  // namespace cardan::detail
