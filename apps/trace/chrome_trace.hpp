// SPDX-License-Identifier: Apache-2.0
// Events in Chrome's JSON trace form, which Perfetto's viewer and chrome://tracing open.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/transport/trace_observer.hpp"

namespace cardan::apps {

/// The words for the numbers in events. Empty: not known.
struct TraceWords {
  struct Thread {
    std::int64_t id = 0;
    std::string name;
  };
  struct Process {
    int pid = 0;
    std::string name;
  };
  std::function<Process(std::uint32_t process)> process;
  std::function<Thread(const detail::TracedEvent& event)> thread;
  std::function<std::string(std::uint64_t stream)> topic;
  std::function<std::string(std::uint32_t process, std::uint64_t number)> callback;
};

[[nodiscard]] TraceWords words_of(const detail::TraceObserver& observer);

struct ChromeTrace {
  std::uint64_t events = 0;               ///< that were written
  std::uint64_t arrows = 0;               ///< from a publication to a callback, a take or a publication that it caused
  std::uint64_t without_publication = 0;  ///< of these those whose cause was not traced
};

/// Of the events of one thread at the same time, the order stays.
void sort_by_time(std::vector<detail::TracedEvent>& events);

/// Writes events that are sorted by time. `write` is given the text in pieces; it may throw.
ChromeTrace write_chrome_trace(const std::vector<detail::TracedEvent>& events, const TraceWords& words,
                               const std::function<void(std::string_view)>& write);

}  // namespace cardan::apps
