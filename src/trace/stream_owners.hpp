// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "src/trace/trace_words.hpp"

namespace cardan::trace {

/// The process that publishes in each stream: there is one. A publication that another process writes into its own
/// events is false. The first process that claims a stream has it, but a process of another user gives way to one
/// of this user.
class StreamOwners {
 public:
  /// `events`: as sort_by_time() leaves them.
  StreamOwners(const std::vector<detail::TracedEvent>& events, const TraceWords& words);
  /// Whether the event of a publication is of its stream's process.
  [[nodiscard]] bool is_owners(const detail::TracedEvent& publication) const;

 private:
  struct Owner {
    std::uint32_t process = 0;
    bool foreign = false;
  };
  std::map<std::uint64_t, Owner> owners_;  ///< by stream
};

}  // namespace cardan::trace
