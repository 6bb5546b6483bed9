// SPDX-License-Identifier: Apache-2.0
#include "src/transport/endpoint/publisher_contract.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cardan/error.hpp"
#include "src/transport/protocol/layout.hpp"

namespace cardan::detail {

void refuse_name_of_service(const std::string& topic) {
  if (is_of_service(topic))
    throw Error(ErrorCode::InvalidArgument, "topic '" + topic + "': a name has no '?'",
                "use letters, digits, '_' and '/'");
}

PublisherContract::PublisherContract(std::string its_topic, MessageType its_type, const TopicOptions& its_options,
                                     std::string its_via, std::uint32_t its_chain_entries)
    : topic(std::move(its_topic)),
      type(std::move(its_type)),
      options(its_options),
      via(std::move(its_via)),
      chain_entries(its_chain_entries) {
  constexpr std::size_t kMostVia = 255;
  const auto is_control = [](char c) { return c < ' ' || c == 0x7f; };
  const auto bad = [this](const std::string& cause, const std::string& remedy) {
    throw Error(ErrorCode::InvalidArgument, "topic '" + topic + "': " + cause, remedy);
  };
  if (topic.size() < 2 || topic.front() != '/' || topic.size() > 255)
    bad("a name starts with '/' and has 2 to 255 characters", "use a name such as /camera/front");
  if (std::any_of(topic.begin(), topic.end(), [&](char c) { return c == ' ' || is_control(c); }))
    bad("a name has no spaces or control characters", "use letters, digits, '_' and '/'");
  if (options.depth < 1 || options.depth > layout::kMaxDepth)
    bad(fmt::format("depth is {}", options.depth), fmt::format("use 1 to {}", layout::kMaxDepth));
  if (options.max_bytes > layout::kMaxPayload)
    bad(fmt::format("max_bytes is {}", options.max_bytes), "use at most 1 GiB");
  if (options.loans < 1 || options.loans > 64) bad(fmt::format("loans is {}", options.loans), "use 1 to 64");
  if (via.size() > kMostVia || std::any_of(via.begin(), via.end(), is_control))
    bad("via is too long, or has control characters", "name networks as 'dds:0 zenoh', at most 255 characters in all");
}

}  // namespace cardan::detail
