// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cardan/detail/duration.hpp"
#include "cardan/messages/transforms.hpp"
#include "cardan/output.hpp"
#include "cardan/publisher.hpp"
#include "cardan/transform_math.hpp"

/// \file
/// Where frames are, at which time: what tf2 does in ROS (docs/transforms.md). eigen.hpp has to_eigen(), for a result
/// as an Eigen::Isometry3d.

namespace cardan {

class Transforms;

namespace detail {
class ComponentCore;
class TransformFeed;
class TransformStore;
/// For other languages: wait() may wait. False: in a simulation, in a child of fork(), or one that was not set.
[[nodiscard]] bool waits(const Transforms& transforms) noexcept;
}  // namespace detail

/// The stamp that asks for the newest time at which the place is known.
inline constexpr std::int64_t kNewest = 0;

/// Why a place is not known.
enum class NoTransform : std::uint8_t {
  None,          ///< it is known
  NotSet,        ///< the Transforms was never set: Context::transforms() makes it, in on_start()
  UnknownFrame,  ///< nobody has published a place of this frame, or a place in it
  NotConnected,  ///< the two frames are in two trees
  TooOld,        ///< the stamp is before the oldest place that is kept
  TooNew,        ///< the stamp is after the newest place: it may come
  Loop,          ///< at this time, frames are one another's parents
  Forked,        ///< this is a child of fork(): make a new one after exec
};

/// The word for a reason, as used in JSON output.
const char* to_string(NoTransform reason) noexcept;

/// A place of a frame in another, or the reason for a missing one.
class FoundTransform {
 public:
  FoundTransform() = default;

  explicit operator bool() const noexcept { return reason_ == NoTransform::None; }
  /// Takes coordinates in the source frame to the target frame. The identity if it is not known.
  const Transform& operator*() const noexcept { return transform_; }
  const Transform* operator->() const noexcept { return &transform_; }
  /// The time for which it holds: the stamp that was asked for; for kNewest the newest time that all places on the way
  /// have. 0: it never changes.
  [[nodiscard]] std::int64_t stamp() const noexcept { return stamp_; }
  [[nodiscard]] NoTransform reason() const noexcept { return reason_; }
  /// TooOld, TooNew: the distance from the stamp to the next known place. Else 0.
  [[nodiscard]] std::chrono::nanoseconds beyond() const noexcept { return beyond_; }
  /// The frame that is unknown, or whose place is not known at that time. Empty if it is known.
  [[nodiscard]] const FrameId& frame() const noexcept { return frame_; }
  /// For people: the reason, with what is near. Only while the Transforms exists. Allocates.
  [[nodiscard]] std::string text() const;

 private:
  friend class detail::TransformStore;
  friend class Transforms;
  Transform transform_{};
  std::int64_t stamp_ = 0;
  NoTransform reason_ = NoTransform::NotSet;
  std::chrono::nanoseconds beyond_{0};
  FrameId frame_{}, other_{};
  const detail::TransformStore* store_ = nullptr;
};

/// A frame of the tree.
struct FrameReport {
  std::string name, parent;                          ///< parent empty: a root
  bool is_static = false;                            ///< its place never changes
  Transform place{};                                 ///< the newest, in its parent
  std::int64_t newest_stamp = 0;                     ///< nanoseconds, the publisher's clock; 0: static, or a root
  std::int64_t oldest_stamp = 0;                     ///< of the oldest place that is kept
  std::uint64_t received = 0;                        ///< places that were accepted
  std::int64_t first_arrival = 0, last_arrival = 0;  ///< steady clock, nanoseconds
  std::string publisher;                             ///< who published the newest place: program and pid
};

/// Something wrong with what is published.
struct TransformProblem {
  /// The mistake, and the fate of the place.
  enum class Kind : std::uint8_t {
    NotFinite,        ///< a place has NaN or infinity; refused
    NotARotation,     ///< a quaternion is not of length 1; refused
    NoName,           ///< a frame has no name; refused
    OwnParent,        ///< a frame is its own parent; refused
    Loop,             ///< a place would close a circle of frames; refused
    TwoParents,       ///< two publishers give a frame two parents; the last one counts
    TwoPublishers,    ///< two publishers give a frame two places in the same parent; both count
    StaticAndMoving,  ///< a frame is published on both topics
    Late,             ///< a place is older than what is kept; refused
    TooManyFrames,    ///< the tree is full; refused
    NoMemory,         ///< all places were dropped
  };
  Kind kind;
  std::string frame;
  std::string text;  ///< for people: cause, publishers and remedy
  std::uint64_t count = 0;
};

/// The word for a kind of problem, as used in JSON output.
const char* to_string(TransformProblem::Kind kind) noexcept;

/// Options of a Transforms.
struct TransformsOptions {
  /// How long places are kept. A longer time answers older questions, and takes more memory.
  std::chrono::nanoseconds history = std::chrono::seconds{10};
  /// Places of one frame that are kept at most, whatever their time: the bound of the memory. Each takes 144 bytes,
  /// with room for the next power of two (10,000: 2.4 MB for a frame that fills it).
  std::uint32_t most_places = 10'000;
  /// Writes each problem to the log, the first time that it occurs.
  bool log_problems = true;
  /// As SubscriberOptions::domain. Not of a component, which has its runtime's.
  std::string domain{};
};

/// Where frames are: reads /tf and /tf_static, and answers from memory. It is a handle: copies ask the same tree. At
/// most 1,024 frames. `cardan::Transforms tf{cardan::TransformsOptions{}};`, in a component `context.transforms()`.
/// Thread safety: any thread. lookup() is wait-free, allocates nothing and makes no system call; wait() blocks.
class Transforms {
 public:
  /// Not set: each lookup says so.
  Transforms() = default;
  /// Knows what running publishers have published last. A thread takes what comes. Throws Error: as Subscriber, and
  /// InvalidArgument. Set-up; blocks for about 1 ms, at most 1 s when a peer does not answer.
  explicit Transforms(const TransformsOptions& options);

  /// Where `source` is in `target` at `stamp`: takes coordinates in source to target (as tf2's lookupTransform).
  /// Between two places it interpolates; it does not extrapolate.
  [[nodiscard]] FoundTransform lookup(std::string_view target, std::string_view source,
                                      std::int64_t stamp = kNewest) const noexcept;
  /// The same across time: from where source was at `source_stamp` to where target is at `target_stamp`, if `fixed` has
  /// not moved meanwhile ("map", "odom").
  [[nodiscard]] FoundTransform lookup(std::string_view target, std::int64_t target_stamp, std::string_view source,
                                      std::int64_t source_stamp, std::string_view fixed) const noexcept;
  /// As lookup(), but waits until the place is known, the time is up, or a stop is requested. In a simulation, which
  /// never waits: as lookup().
  [[nodiscard]] FoundTransform wait(std::string_view target, std::string_view source, std::int64_t stamp,
                                    std::chrono::nanoseconds timeout) const;

  /// All frames, by name. Allocates; takes a mutex.
  [[nodiscard]] std::vector<FrameReport> frames() const;
  /// The problems so far, at most 256 different ones. Allocates; takes a mutex.
  [[nodiscard]] std::vector<TransformProblem> problems() const;
  /// Forgets all places that change: after a jump of the clock, or when a recording begins again. Takes a mutex.
  void clear();
  /// Whether it was set.
  explicit operator bool() const noexcept { return store_ != nullptr; }

 private:
  friend class detail::ComponentCore;
  friend bool detail::waits(const Transforms& transforms) noexcept;
  [[nodiscard]] static FoundTransform forked() noexcept;
  explicit Transforms(std::shared_ptr<detail::TransformStore> store) noexcept : store_(std::move(store)) {}
  std::shared_ptr<detail::TransformStore> store_;
  std::shared_ptr<detail::TransformFeed> feed_;
};

/// Publishes places that change, on /tf. `cardan::TransformOutput tf{cardan::PublisherOptions{}};`, in a component
/// `context.transform_output()`. A topic has 64 publishers at most.
/// Thread safety: one thread at a time. Never blocks, allocates nothing; in a component it also takes the place into
/// the trees of the components of the same process, for which it may wait a moment.
class TransformOutput {
 public:
  /// Not set: publish() throws Error (InvalidArgument).
  TransformOutput() = default;
  /// Throws Error as Publisher. Set-up; blocks for about 1 ms.
  explicit TransformOutput(const PublisherOptions& options);

  /// The place of `child` in `parent` at `stamp`, nanoseconds. Returns false if it was not published: a name is empty
  /// or longer than 60 bytes, a number is not finite, the rotation is not of length 1, the stamp is negative, or all
  /// loans are out.
  bool publish(std::string_view parent, std::string_view child, std::int64_t stamp, const Transform& place);

 private:
  friend class detail::ComponentCore;
  explicit TransformOutput(Output<TransformMessage> output) noexcept : output_(std::move(output)) {}
  std::shared_ptr<Publisher<TransformMessage>> publisher_;
  Output<TransformMessage> output_;
};

/// Publishes one place that never changes, on /tf_static, as long as it exists: `cardan::StaticTransform
/// lidar{"base_link", "lidar", place};`. A topic has 64 publishers at most: for more, publish one message on
/// kStaticTransforms. A system of a configuration has its `transforms` instead. Thread safety: none. Never blocks after
/// its construction.
class StaticTransform {
 public:
  /// Throws Error: InvalidArgument (as TransformOutput::publish() returns false), and as Publisher. Set-up; blocks for
  /// about 1 ms.
  StaticTransform(std::string_view parent, std::string_view child, const Transform& place,
                  const PublisherOptions& options = {});

 private:
  Publisher<TransformMessage> publisher_;
};

}  // namespace cardan
