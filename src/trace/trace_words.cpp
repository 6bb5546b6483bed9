// SPDX-License-Identifier: Apache-2.0
#include "src/trace/trace_words.hpp"

#include <algorithm>
#include <utility>

namespace cardan::trace {

using detail::TracedEvent;

TraceWords words_of(const detail::TraceObserver& observer) {
  return {.process =
              [&observer](std::uint32_t process) {
                const detail::TracedProcess& p = observer.processes()[process];
                return TraceWords::Process{.pid = p.pid, .name = p.name};
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
  std::stable_sort(events.begin(), events.end(),
                   [](const TracedEvent& a, const TracedEvent& b) { return a.what.time_ns < b.what.time_ns; });
}

}  // namespace cardan::trace
