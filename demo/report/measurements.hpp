// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "cardan/observer_report.hpp"
#include "demo/processes/roles.hpp"
#include "demo/report/note.hpp"
#include "demo/report/statistics.hpp"

namespace cardan::street {

/// The figures of one run, as they go into tables and JSON.
struct Figures {
  struct OfHop {
    std::uint64_t received = 0, missed = 0, bytes = 0;
    Summary transport_us;
  };
  std::array<OfHop, kHops> hops;
  std::uint64_t decisions = 0;
  Summary decision_us;
  Summary carried_us;                              ///< of it, what the transport took: both hops
  Summary worked_us;                               ///< the rest: the algorithms, and frames that wait for one
  std::map<std::string, LatencyHistogram> ages{};  ///< of what decisions rest on, by chain; only Cardan carries it
};

/// Turns notes into figures.
///
/// Transport latency is from the publish call to the reader's hands, as in SIM; but a frame that was published while
/// the reader was still busy with the last one waits for the reader, not for the transport: then it counts from when
/// the reader asked. Decision latency is from publishing the sensor's frame to the decision that it led to: two hops
/// and the algorithms.
class Measurements {
 public:
  /// Forgets everything up to `now` (steady, ns): the figures begin here. Before, nothing counts.
  void begin(std::int64_t now);
  void add(const Note& note);
  /// Adds the ages at the end of a chain.
  void add(const std::string& chain, const LatencyHistogram& ages);
  /// Adds what another run of the same setup has counted.
  void add(const Measurements& other);

  [[nodiscard]] Figures figures() const;

  /// For the live view, over the last `kRecent`.
  struct Recent {
    double rate_hz = 0, megabytes_per_s = 0;
    std::uint64_t missed = 0;  ///< since the beginning
    Summary transport_us;
  };
  static constexpr std::int64_t kRecent = 3'000'000'000;
  [[nodiscard]] Recent recent(std::size_t hop, std::int64_t now) const;
  [[nodiscard]] Summary recent_decision_us(std::int64_t now) const;
  [[nodiscard]] const Note& last_decision() const noexcept { return last_decision_; }
  [[nodiscard]] std::uint64_t decisions() const noexcept { return decisions_; }

 private:
  struct Frame {
    std::int64_t published;
    double transport_us;
  };
  struct Sample {
    std::int64_t time;
    double microseconds;
    std::uint64_t bytes;
  };
  struct OfHop {
    std::uint64_t received = 0, missed = 0, bytes = 0;
    std::vector<double> transport_us;
    std::deque<Sample> recent;
    std::map<std::uint64_t, Frame> frames;  // by sequence, of the last frames: what decisions are joined with
  };
  /// A decision, whose notes may come in any order: the parts of the street use different sockets.
  struct Way {
    Note decision;
    double first_us = -1, second_us = -1;  // what its hops took; −1: not known yet
    double all_us = -1;
  };
  void decided(const Note& note);
  void first_hop(Way& way, const Frame& frame);
  void complete();

  std::int64_t begin_ = 0;
  bool counting_ = false;
  std::array<OfHop, kHops> hops_;
  std::uint64_t decisions_ = 0;
  std::vector<double> decision_us_, carried_us_, worked_us_;
  std::map<std::string, LatencyHistogram> ages_;
  std::deque<Sample> recent_decisions_;
  std::deque<Way> ways_;  // decisions of which a hop is not known yet
  Note last_decision_;
};

}  // namespace cardan::street
