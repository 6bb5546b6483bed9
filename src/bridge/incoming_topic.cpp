// SPDX-License-Identifier: Apache-2.0
#include "src/bridge/incoming_topic.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"

namespace cardan::bridge {
namespace {

constexpr std::uint32_t kDepthOfLarge = 2;
constexpr std::size_t kMostUsual = 16U << 20U;  ///< bytes that the messages of a depth that no rule names take at most
/// Elements may be larger in memory than on the wire. The memory that a sender can make us commit is bounded all the
/// same.
constexpr std::size_t kMostGrowth = 4;
/// Orders to this computer's programs are messages there. Whatever the rules say, nobody on a network gives them.
constexpr std::string_view kCardansOwn = "/cardan/";

}  // namespace

const std::shared_ptr<IncomingMemory>& IncomingMemory::of_process() {
  static const auto all = [] {
    constexpr std::uint64_t kLeast = std::uint64_t{1} << 30;
    const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
    const auto bytes = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 0L));
    return std::make_shared<IncomingMemory>(std::max(pages * bytes / 4, kLeast));
  }();
  return all;
}

bool IncomingMemory::take(std::uint64_t bytes) noexcept {
  if (bytes <= most_ && used_.fetch_add(bytes) + bytes <= most_) return true;
  if (bytes <= most_) give_back(bytes);
  return false;
}

IncomingTopic::IncomingTopic(std::string beyond, std::string name, AnyType type, TopicRule rule,
                             IncomingOptions options)
    : beyond_(std::move(beyond)),
      name_(std::move(name)),
      type_(std::move(type)),
      rule_(std::move(rule)),
      options_(std::move(options)) {
  if (name_.starts_with(kCardansOwn))
    throw Error(ErrorCode::Refused, fmt::format("'{}' does not come in: {} is Cardan's own", name_, kCardansOwn),
                "give it another name with 'rename' or 'namespace', or leave it out with 'exclude'");
}

bool IncomingTopic::refuse(std::string why) {
  ++counts_.refused;
  note_ = std::move(why);
  return false;
}

bool IncomingTopic::make_room(std::size_t cdr_bytes) {
  const std::size_t needed = type_.payload_bytes(cdr_bytes);
  if (now_.publisher && needed <= room_) return true;
  if (needed > kMostGrowth * rule_.max_bytes)
    return refuse(fmt::format("a message of {} bytes could need {} bytes of memory", cdr_bytes, needed));
  const std::size_t room = std::min<std::size_t>(2 * needed, std::max<std::size_t>(needed, rule_.max_bytes));
  const auto fits = static_cast<std::uint32_t>(kMostUsual / std::max<std::size_t>(room, 1));
  const std::uint32_t depth = rule_.depth != 0 ? rule_.depth : std::max(std::min(options_.depth, fits), kDepthOfLarge);
  const std::uint64_t all = std::uint64_t{room} * (depth + 2);  // and one that is written, one that is read
  if (!options_.memory->take(all))
    return refuse(
        fmt::format("all topics that come in may have {} MiB together, and that is taken: exclude some, or give "
                    "them a smaller depth or max_mib",
                    options_.memory->most() >> 20U));
  Room next{.share = {options_.memory, all}};
  try {
    // Its samples stay with the subscribers that hold them; those that come late need its latched ones.
    if (now_.publisher && options_.latched && depth > 1) earlier_.push_back(std::move(now_));
    now_.publisher.reset();
    next.publisher = std::make_unique<AnyPublisher>(
        name_, type_.message_type(),
        TopicOptions{
            .max_bytes = room, .depth = depth, .reliable = rule_.reliable.value_or(false), .access = options_.access},
        PublisherOptions{.domain = options_.domain, .via = options_.via});
    now_ = std::move(next);
    room_ = room;
    depth_ = depth;
    return true;
  } catch (const Error& e) {
    return refuse(e.what());
  }
}

bool IncomingTopic::deliver(CdrPieces cdr, std::int64_t source_ns) {
  std::size_t size = 0;
  for (const auto& piece : cdr) size += piece.size();
  if (rule_.max_hz > 0) {
    const std::int64_t now = steady_now();
    const std::int64_t period = std::llround(1e9 / rule_.max_hz);
    if (now < due_ns_) {
      ++counts_.thinned;
      return false;
    }
    due_ns_ = now - due_ns_ < period ? due_ns_ + period : now + period;
  }
  if (size > rule_.max_bytes)
    return refuse(
        fmt::format("a message has {} bytes, and the rule lets at most {} in (max_mib)", size, rule_.max_bytes));
  if (!make_room(size)) return false;
  AnyLoan loan = now_.publisher->loan();
  if (!loan) {
    ++counts_.lost;
    return false;
  }
  if (const CdrResult filled = type_.fill(cdr, loan); !filled)
    return refuse(fmt::format("a message is not a {}: {}", type_.message_type().name, filled.text()));
  loan.set_source_time(source_ns);
  now_.publisher->publish(std::move(loan));  // false: a reliable subscriber was too slow, and counts its loss itself
  if (!earlier_.empty() && now_.publisher->published() >= depth_) earlier_.clear();  // the new one has enough
  ++counts_.carried;
  counts_.bytes += size;
  counts_.copied += size;
  return true;
}

}  // namespace cardan::bridge
