// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "src/base/area.hpp"
#include "src/transport/endpoint/trace.hpp"

namespace cardan::detail::trace {

/// The area as an observer sees it.
class TraceView {
 public:
  explicit TraceView(const Switch& tracing)
      : mapping_(map_read_only(Fd(::dup(tracing.read_only_fd())), tracing.bytes())), next_(layout::kTraceRings) {
    for (std::uint32_t r = 0; r < layout::kTraceRings; ++r) next_[r] = line(r).written.load();
  }
  [[nodiscard]] const layout::TraceHeader& header() const {
    return *reinterpret_cast<const layout::TraceHeader*>(mapping_.data());
  }
  /// The ring's events since the last call.
  std::vector<layout::TraceEvent> drain(std::uint32_t r) {
    std::vector<protocol::EventWords<protocol::kTraceWords>> room(header().ring_events);
    const auto* words =
        mapping_.data() + layout::kTraceRingsOffset + r * layout::trace_ring_bytes(header().ring_events);
    const protocol::TraceReaderRing<Native> ring{
        &line(r).written, reinterpret_cast<const Atomic<std::uint64_t>*>(words), header().ring_events};
    const auto drained = protocol::drain_events<Native, protocol::kTraceWords>(ring, next_[r], room);
    EXPECT_FALSE(drained.corrupt);
    next_[r] = drained.next;
    std::vector<layout::TraceEvent> events(drained.count);
    for (std::size_t i = 0; i < events.size(); ++i) EXPECT_TRUE(layout::unpack(room[i], events[i]));
    return events;
  }

  /// Those of all rings.
  std::vector<layout::TraceEvent> drain_all() {
    std::vector<layout::TraceEvent> all;
    for (std::uint32_t r = 0; r < header().committed.load(); ++r)
      for (const layout::TraceEvent& event : drain(r)) all.push_back(event);
    return all;
  }

 private:
  [[nodiscard]] const layout::TraceLine& line(std::uint32_t r) const {
    return reinterpret_cast<const layout::TraceLine*>(mapping_.data() + layout::kTraceLinesOffset)[r];
  }
  Mapping mapping_;
  std::vector<std::uint64_t> next_;
};

}  // namespace cardan::detail::trace
