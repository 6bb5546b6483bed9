// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

#include "cardan/runtime/fusion/fusion_policy.hpp"

namespace cardan {

/// Options of one input of approximate().
struct ApproximateInput {
  /// The shortest time between two samples of this input, if known (half of its period is safe): sets are then decided
  /// without waiting for a sample that cannot be closer, up to one period of the input sooner. An input that breaks it
  /// can make a set not the closest, nothing else. 0: unknown.
  std::chrono::nanoseconds min_period{0};
};

/// See approximate().
struct ApproximateOptions {
  /// The largest spread of a set. Wide finds more sets, narrow closer ones. With the period of the second slowest
  /// input every sample of the slowest finds partners.
  std::chrono::nanoseconds tolerance = std::chrono::milliseconds{10};
  /// Samples of each input that may wait, 1 to 1024. Long: partners may come late (samples of the fastest input in the
  /// longest delay or period); short: sets are decided sooner, and fewer of the publishers' slots are held.
  std::size_t queue = 10;
  /// Decide with what is known once some input's stamps have come this far past the pivot: bounds how long a set waits
  /// for a closer one, but then the sets depend on when samples arrive. 0: until a queue is full.
  std::chrono::nanoseconds patience{0};
  /// The time that counts as a sample's stamp.
  FusionTime time = FusionTime::Source;
  /// An input that goes back by more than this has had its clock set: waiting samples are cleared, and it continues
  /// with the new time. Steps back up to this are disorder; samples that come too late are lost. Short: less is lost
  /// after a small step; it must be longer than samples of an input overtake each other.
  std::chrono::nanoseconds clock_step = std::chrono::seconds{1};
  /// Options that differ from input to input: `.inputs = {{.min_period = 20ms}, {.min_period = 60ms}}`.
  PerInput<ApproximateInput> inputs{};
};

/// Sets of samples that are close in time, each sample in one set at most (the idea of ROS's ApproximateTime).
///
/// *Words.* The spread of a set is the time from its earliest to its latest sample. An input's head is its oldest
/// sample that waits. The pivot is the latest of the heads.
///
/// *The algorithm.*
///  1. A head from which another input's head is further ahead than the tolerance can be in no set any more: it is
///     overtaken and let go, until the heads themselves are a set.
///  2. From the heads on, the earliest sample of the set is exchanged for the next of its input, again and again, until
///     none is before the pivot. The closest set on this way fires, of equally close ones the earliest; what lies
///     before it is overtaken.
///  3. If the next sample is needed and has not arrived, it is assumed to be the best possible one (at the pivot, or
///     `min_period` after its predecessor). If the set could become closer by it, nothing fires until it is there, or
///     `patience` or a queue's room is at an end.
///
/// *What it guarantees*, for inputs that are each in order:
///  - the spread of a set is at most the tolerance;
///  - a sample is in one set at most, and sets do not cross: what a set has of an input follows what the last one had;
///  - a set is the closest of all that contain any of the heads at its turn, known or still to come;
///  - no set within the tolerance could be made of what was passed over between two sets;
///  - a set is decided at the latest when every input has come to the pivot's time: no input is waited for longer;
///  - the order of the inputs does not matter, and neither does when samples arrive: the sets follow from the stamps.
///
/// The first holds always, the second until a clock is set back. The others end where a queue is full or `patience` is
/// over: then the closest known set fires if there is one, else the oldest sample of the full queue is pushed out. A
/// sample out of order is sorted in; where something later of its input has left already, it comes too late.
///
/// It does not look past the pivot: that a later sample of the set would have found a still closer partner in the next
/// period is not waited for.
[[nodiscard]] FusionPolicy approximate(const ApproximateOptions& options = {});

}  // namespace cardan
