// SPDX-License-Identifier: Apache-2.0
#include "src/transport/service/service_card.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cardan/error.hpp"
#include "src/base/random.hpp"
#include "src/transport/discovery/handshake.hpp"
#include "src/transport/endpoint/publisher_core.hpp"

namespace cardan::detail {

std::string card_topic(const std::string& service) { return service + "?"; }

std::string secret_topic(const std::string& service) {
  return fmt::format("{}?{:016x}{:016x}", service, random64(), random64());
}

bool is_secret_topic(const std::string& service, const std::string& topic) noexcept {
  return topic.size() == service.size() + 33 && topic.starts_with(service) && topic[service.size()] == '?';
}

std::uint64_t untaken(const PublisherCore& core) {
  const std::uint64_t published = core.published();
  std::uint64_t taken = 0;
  core.for_each_subscriber(
      [&](const Attached& reader) { taken = reader.page->cursor.load(std::memory_order_acquire); });
  return published - std::min(taken, published);
}

void check_service(const std::string& service, const ServiceOptions& options) {
  const auto bad = [&](const std::string& cause, const std::string& remedy) {
    throw Error(ErrorCode::InvalidArgument, "service '" + service + "': " + cause, remedy);
  };
  constexpr std::size_t kLongest = 200;  // with a secret's 33 characters it is still a topic
  if (service.size() < 2 || service.size() > kLongest || service.front() != '/')
    bad(fmt::format("a name starts with '/' and has 2 to {} characters", kLongest), "use a name such as /map/region");
  if (service.find('?') != std::string::npos) bad("a name has no '?'", "use letters, digits, '_' and '/'");
  if (options.pending < 1 || options.pending > handshake::kMostPending)
    bad(fmt::format("pending is {}", options.pending), fmt::format("use 1 to {}", handshake::kMostPending));
  if (options.holds < 1 || options.holds > 100) bad(fmt::format("holds is {}", options.holds), "use 1 to 100");
  if (options.answers < 1 || options.answers > 64) bad(fmt::format("answers is {}", options.answers), "use 1 to 64");
}

}  // namespace cardan::detail
