// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "cardan/detail/fd.hpp"

namespace cardan::bridge::dds {

/// Wakes the bridge's thread from any of Cyclone's, and names the entities that rang, so that the bridge looks at these
/// alone. Any thread; does not block.
class Bell {
 public:
  using Who = std::int32_t;  ///< a dds_entity_t

  /// The entities that have rung. Beyond kMostNamed it knows only that each may have.
  class Rung {
   public:
    static constexpr std::size_t kMostNamed = 64;
    explicit operator bool() const noexcept { return any_; }
    [[nodiscard]] bool everybody() const noexcept { return everybody_; }
    /// Each once.
    [[nodiscard]] std::span<const Who> named() const noexcept { return {who_.data(), count_}; }

   private:
    friend class Bell;
    void note(Who who) noexcept;
    bool any_ = false, everybody_ = false;
    std::size_t count_ = 0;
    std::array<Who, kMostNamed> who_{};
  };

  /// Throws Error (Limit).
  Bell();
  /// `who`: the entity that has something; 0: none of those that are looked up.
  void ring(Who who = 0) noexcept;
  /// Everybody may have something.
  void ring_all() noexcept;
  /// Those that have rung since the last call; at the first call all have. Call it before looking at what it rang for.
  [[nodiscard]] Rung answer() noexcept;
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  void wake(bool first) noexcept;

  Fd fd_;
  std::mutex mutex_;
  Rung rung_;
};

}  // namespace cardan::bridge::dds
