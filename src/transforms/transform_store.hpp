// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/transforms.hpp"
#include "src/transforms/frame_table.hpp"
#include "src/transforms/two_sides.hpp"

namespace cardan::detail {

struct SampleBlock;

/// The publisher of a place.
struct TransformSource {
  std::uint64_t stream = 0;
  std::string_view program{};  ///< as it calls itself; empty: this process
  int pid = 0;
  /// "localizer (pid 17)"
  [[nodiscard]] std::string text() const;
};

/// The tree of frames. Any thread; lookup() is wait-free.
class TransformStore {
 public:
  /// `waits` false: wait() does not wait. Throws Error (InvalidArgument).
  explicit TransformStore(const TransformsOptions& options, bool waits = true);

  [[nodiscard]] FoundTransform lookup(std::string_view target, std::string_view source,
                                      std::int64_t stamp) const noexcept;
  [[nodiscard]] FoundTransform wait(std::string_view target, std::string_view source, std::int64_t stamp,
                                    std::chrono::nanoseconds timeout);
  [[nodiscard]] std::string text_of(const FoundTransform& found) const;
  [[nodiscard]] bool waits() const noexcept { return waits_; }

  /// Takes all places of a message in at once. Refuses single ones, and notes why.
  void take(const TransformMessage& message, bool is_static, const TransformSource& source) noexcept;
  /// The same of a sample, which it drops.
  void take(SampleBlock* sample, bool is_static) noexcept;
  void clear();
  [[nodiscard]] std::vector<FrameReport> frames() const;
  [[nodiscard]] std::vector<TransformProblem> problems() const;

 private:
  /// The facts about a frame in addition to its places.
  struct Frame {
    std::uint64_t stream = 0;                       ///< of the newest place
    std::array<std::uint64_t, 4> streams_before{};  ///< a program that was started again is another stream
    std::string publisher{};                        ///< of `stream`
    std::uint64_t received = 0;
    std::int64_t first_arrival = 0, last_arrival = 0;
  };
  struct Accepted {
    FrameIndex child;
    Place place;
  };
  using Kind = TransformProblem::Kind;

  void take_locked(const TransformMessage& message, bool is_static, const TransformSource& source);
  [[nodiscard]] bool accept(const TransformStamped& one, bool is_static, const TransformSource& source, Accepted& into);
  void compare_publishers(FrameIndex child, const Place& place, bool is_static, const TransformSource& source);
  static void accepted_from(Frame& frame, const TransformSource& source);
  [[nodiscard]] FrameIndex frame(std::string_view name);
  void note(Kind kind, std::string_view frame, const std::string& text);

  TransformsOptions options_;
  bool waits_;
  TwoSides<FrameTable> sides_;
  mutable std::mutex mutex_;  ///< all below, and who changes the sides
  std::condition_variable arrived_;
  std::vector<Frame> frames_;  ///< as in the sides
  std::vector<TransformProblem> problems_;
  std::vector<std::string> to_log_;  ///< after the mutex: a log sink may ask this tree
  std::vector<Accepted> accepted_;   ///< of one message; here, so that the next one allocates nothing
  std::vector<FrameTable::Put> put_;
};

}  // namespace cardan::detail
