// SPDX-License-Identifier: Apache-2.0
// Events in Chrome's JSON trace form, which Perfetto's viewer and chrome://tracing open.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/trace_words.hpp"

namespace cardan::apps {

using trace::TraceWords;

struct ChromeTrace {
  std::uint64_t events = 0;               ///< that were written
  std::uint64_t arrows = 0;               ///< from a publication to a callback, a take or a publication that it caused
  std::uint64_t without_publication = 0;  ///< of these those whose cause was not traced
};

/// Writes events that are sorted by time. `write` is given the text in pieces; it may throw.
ChromeTrace write_chrome_trace(const std::vector<detail::TracedEvent>& events, const TraceWords& words,
                               const std::function<void(std::string_view)>& write);

}  // namespace cardan::apps
