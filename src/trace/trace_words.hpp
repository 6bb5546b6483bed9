// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/transport/trace_observer.hpp"

namespace cardan::trace {

/// The words for the numbers in events. Empty: not known.
struct TraceWords {
  struct Thread {
    std::int64_t id = 0;
    std::string name;
  };
  struct Process {
    int pid = 0;  ///< 0: of another pid namespace
    std::string name;
    bool foreign = false;  ///< of another user
  };
  std::function<Process(std::uint32_t process)> process;
  std::function<Thread(const detail::TracedEvent& event)> thread;
  std::function<std::string(std::uint64_t stream)> topic;
  std::function<std::string(std::uint32_t process, std::uint64_t number)> callback;
};

/// The observer outlives them.
[[nodiscard]] TraceWords words_of(const detail::TraceObserver& observer);

/// Of the events of one thread at the same time, the order stays.
void sort_by_time(std::vector<detail::TracedEvent>& events);

}  // namespace cardan::trace
