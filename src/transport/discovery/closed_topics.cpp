// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/closed_topics.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "src/base/printable.hpp"
#include "src/transport/discovery/observer_link.hpp"

namespace cardan {

std::vector<uid_t> users_behind(const DomainReport& report, const std::string& domain) {
  std::vector<uid_t> users;
  if (report.closed.empty()) return users;
  const auto links = detail::ObserverLinks::of(domain);
  const std::lock_guard lock(links->mutex());
  for (const detail::TopicEntry& e : links->directory().entries()) {
    if (e.owner == ::geteuid()) continue;
    const auto name = links->directory().topic_of(e);
    if (name && std::binary_search(report.closed.begin(), report.closed.end(), detail::printable(*name, 1024)))
      users.push_back(e.owner);
  }
  std::sort(users.begin(), users.end());
  users.erase(std::unique(users.begin(), users.end()), users.end());
  return users;
}

}  // namespace cardan
