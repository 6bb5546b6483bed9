// SPDX-License-Identifier: Apache-2.0
#include "src/trace/trace_words.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace cardan::trace {

using detail::TracedEvent;

TraceWords words_of(const detail::TraceObserver& observer) {
  return {.process =
              [&observer](std::uint32_t process) {
                const detail::TracedProcess& p = observer.processes()[process];
                return TraceWords::Process{.pid = p.pid, .name = p.name, .foreign = p.foreign};
              },
          .thread =
              [&observer](const TracedEvent& event) {
                detail::TracedThreadName thread = observer.thread_of(event);
                return TraceWords::Thread{.id = thread.thread, .name = std::move(thread.name)};
              },
          .topic = [&observer](std::uint64_t stream) { return observer.topic_of(stream); },
          .callback = [&observer](std::uint32_t process,
                                  std::uint64_t number) { return observer.callback_of(process, number); }};
}

void sort_by_time(std::vector<TracedEvent>& events) {
  // Not stable_sort: clang warns of what libstdc++ 12 does inside.
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&events](std::size_t a, std::size_t b) {
    const std::int64_t at_a = events[a].what.time_ns, at_b = events[b].what.time_ns;
    return at_a != at_b ? at_a < at_b : a < b;
  });
  std::vector<TracedEvent> sorted;
  sorted.reserve(events.size());
  for (const std::size_t i : order) sorted.push_back(events[i]);
  events = std::move(sorted);
}

}  // namespace cardan::trace
