// SPDX-License-Identifier: Apache-2.0
#include "src/trace/stream_owners.hpp"

namespace cardan::trace {

StreamOwners::StreamOwners(const std::vector<detail::TracedEvent>& events, const TraceWords& words) {
  std::map<std::uint32_t, bool> foreign;  // by process
  for (const detail::TracedEvent& event : events) {
    if (event.what.kind != layout::TraceKind::Publish) continue;
    const auto [owner, first] = owners_.try_emplace(event.what.stream);
    if (!first && (owner->second.process == event.process || !owner->second.foreign)) continue;
    const auto [known, made] = foreign.try_emplace(event.process);
    if (made) known->second = words.process(event.process).foreign;
    if (first || !known->second) owner->second = {.process = event.process, .foreign = known->second};
  }
}

bool StreamOwners::is_owners(const detail::TracedEvent& publication) const {
  const auto owner = owners_.find(publication.what.stream);
  return owner != owners_.end() && owner->second.process == publication.process;
}

}  // namespace cardan::trace
