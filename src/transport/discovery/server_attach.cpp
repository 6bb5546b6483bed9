// SPDX-License-Identifier: Apache-2.0
// The answer of a publishing process to an attach: which publication, the limits, access, shares, type, page.
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "cardan/error.hpp"
#include "src/transport/discovery/access.hpp"
#include "src/transport/discovery/announcement.hpp"
#include "src/transport/discovery/server.hpp"

namespace cardan::detail {
namespace {

constexpr std::size_t kMaxAttachments = 4096;          ///< of one connection
constexpr std::size_t kMaxAttachmentsOfOne = 512;      ///< of all connections of one other user
constexpr std::size_t kMaxAttachmentsOfOthers = 4096;  ///< of all other users together
constexpr std::size_t kMaxObserversOfOne = 64;         ///< of one other user's connections, those that only observe
constexpr const char* kMoreDescriptors = "raise ulimit -n of the publisher (systemd: LimitNOFILE=)";

handshake::Refused because_of(const Error& e) {
  const handshake::Reason code = e.code() == ErrorCode::NoMemory       ? handshake::Reason::Memory
                                 : e.code() == ErrorCode::Incompatible ? handshake::Reason::Area
                                                                       : handshake::Reason::Limit;
  return {.code = code, .why = e.cause(), .remedy = e.remedy()};
}

}  // namespace

void Server::attach(Connection& c, const handshake::Attach& asked, std::vector<Fd>& fds) {
  const std::shared_ptr<PublisherCore> core = publication(asked);
  if (!core) return reply(c, handshake::Gone{asked.id});  // it ended while the subscriber was attaching
  if (auto refused = beyond_limits(c, asked)) return refuse(c, asked.id, std::move(*refused));
  if (auto refused = no_access(c, *core)) return refuse(c, asked.id, std::move(*refused));
  // Claimed before anything is done: an answer that has to wait for others' shares would look like one that is not
  // read.
  auto claim = c.outbox.claim_for(c.socket->get(), asked.observer ? 1 : 2);
  if (!claim) return refuse(c, asked.id, no_share(c));
  if (asked.observer) return attach_observer(c, asked, core, std::move(*claim));
  if (came_through(core->via(), asked.not_via))  // no line of the log: nothing is wrong
    return reply(c, handshake::Refused{.id = asked.id, .code = handshake::Reason::Via});
  if (auto refused = other_type(c, asked, *core)) return refuse(c, asked.id, std::move(*refused));
  if (auto refused = incomplete(asked, fds)) return refuse(c, asked.id, std::move(*refused));
  attach_subscriber(c, asked, core, fds[0], std::move(*claim));
}

std::shared_ptr<PublisherCore> Server::publication(const handshake::Attach& asked) const {
  const auto it = process_.published().find(asked.serial);
  if (it == process_.published().end()) return {};
  const std::shared_ptr<PublisherCore>& core = it->second.core;
  if (core->topic() != asked.topic || core->options().process_private) return {};
  return core;
}

std::optional<handshake::Refused> Server::beyond_limits(const Connection& c, const handshake::Attach& asked) const {
  if (c.attachments.contains(asked.id) || c.attachments.size() >= kMaxAttachments)
    return handshake::Refused{.code = handshake::Reason::Limit,
                              .why = "too many or duplicate attachments on one connection",
                              .remedy = "use more processes"};
  if (!c.foreign) return std::nullopt;
  const Counts counts = counts_of(c.peer.uid);
  if (counts.attachments < kMaxAttachmentsOfOne && counts.attachments_of_strangers < kMaxAttachmentsOfOthers &&
      (!asked.observer || counts.observers < kMaxObserversOfOne))
    return std::nullopt;
  return handshake::Refused{.code = handshake::Reason::Limit,
                            .why = fmt::format("user {} already has its share of attachments", c.peer.uid),
                            .remedy = "detach from topics that are not needed any more"};
}

std::optional<handshake::Refused> Server::no_access(const Connection& c, const PublisherCore& core) const {
  std::string why;
  try {
    why = refusal(core.options().access, core.topic(), c.peer, process_.directory().root());
  } catch (const Error& e) {  // a policy that cannot be read
    why = e.what();
  }
  if (why.empty()) return std::nullopt;
  return handshake::Refused{
      .code = handshake::Reason::Access,
      .why = fmt::format("'{}' of {} (pid {}) is not for you: {}", core.topic(), process_.name(), ::getpid(), why),
      .remedy = "set the topic's access, or add the user to the policy"};
}

handshake::Refused Server::no_share(const Connection& c) const {
  return handshake::Refused{
      .code = handshake::Reason::Limit,
      .why = fmt::format("user {}, or other users together, have their share of the descriptors of {} (pid {})",
                         c.peer.uid, process_.name(), ::getpid()),
      .remedy = kMoreDescriptors};
}

std::optional<handshake::Refused> Server::other_type(const Connection& c, const handshake::Attach& asked,
                                                     const PublisherCore& core) const {
  const std::string our_hash = fmt::format("{:016x}", core.type().hash);
  if (asked.type == core.type().name && asked.hash == our_hash) return std::nullopt;
  return handshake::Refused{
      .code = handshake::Reason::Type,
      .why = fmt::format("'{}' has type {} (layout {}) at its publisher {} (pid {}), but {} (layout {}) at its "
                         "subscriber {} (pid {})",
                         core.topic(), core.type().name, our_hash, process_.name(), ::getpid(), asked.type, asked.hash,
                         c.name, c.peer.pid),
      .remedy = "build both sides with the same message definition"};
}

std::optional<handshake::Refused> Server::incomplete(const handshake::Attach& asked, const std::vector<Fd>& fds) const {
  if (!asked.announced)
    return handshake::Refused{
        .code = handshake::Reason::Limit,
        .why = "holds or threads are out of range",
        .remedy = fmt::format("announce 1 to {} holds and 1 to {} threads", layout::kMaxHolds, layout::kMaxThreads)};
  if (fds.size() != 1)
    return handshake::Refused{
        .code = handshake::Reason::Limit,
        .why = fmt::format("the subscriber's page did not reach {} (pid {})", process_.name(), ::getpid()),
        .remedy = kMoreDescriptors};
  return std::nullopt;
}

void Server::attach_observer(Connection& c, const handshake::Attach& asked, const std::shared_ptr<PublisherCore>& core,
                             DescriptorShares::Claim claim) {
  c.attachments[asked.id] = {core, nullptr, {}};
  reply(c, handshake::Attached{.id = asked.id, .bytes = core->area().size(), .access = core->options().access},
        {core->area().read_only_fd()}, core, std::move(claim));
}

void Server::attach_subscriber(Connection& c, const handshake::Attach& asked,
                               const std::shared_ptr<PublisherCore>& core, const Fd& page_fd,
                               DescriptorShares::Claim claim) {
  try {
    Mapping mapping = map_read_only(page_fd, layout::align_up(sizeof(layout::SubscriberPage), layout::kPage));
    const auto* page = reinterpret_cast<const layout::SubscriberPage*>(mapping.data());
    if (page->magic != layout::kMagic || page->version != layout::kVersion)
      return refuse(c, asked.id,
                    handshake::Refused{.code = handshake::Reason::Version,
                                       .why = "the subscriber's page has another layout version",
                                       .remedy = "build both sides with the same Cardan"});
    const std::shared_ptr<BellBoard> board = board_for(c);
    auto subscriber = make_attached(*core, *asked.announced, c.peer.uid, board, page);
    subscriber->mapping = std::move(mapping);
    subscriber->connection = c.socket;
    subscriber->pid = c.peer.pid;
    subscriber->name = c.name;
    handshake::Attached answer{.id = asked.id, .bytes = core->area().size()};
    answer.bell = static_cast<std::uint64_t>(subscriber->bell->index);
    answer.bell_bytes = board->size();
    Attachment& place = c.attachments[asked.id];  // made first: without memory for it the table would keep the entry
    place.publisher = core;
    place.subscriber = core->attach(std::move(subscriber));
    // Read again now that the entry is visible: later publications must be delivered to it, earlier ones are history.
    answer.cursor = core->floor_for_late_joiner();
    answer.owed_from = core->published();
    // Only now: the table entry is visible (A1).
    reply(c, answer, {core->area().read_only_fd(), board->read_only_fd()},
          std::make_shared<std::pair<std::shared_ptr<PublisherCore>, std::shared_ptr<BellBoard>>>(core, board),
          std::move(claim));
  } catch (const Error& e) {
    c.attachments.erase(asked.id);
    refuse(c, asked.id, because_of(e));
  }
}

/// Unmapped users are not one user: each of their connections gets a board (not each attach, because a subscriber maps
/// one board for each connection). The board is kept as long as the connection, because the subscriber keeps its
/// mapping.
std::shared_ptr<BellBoard> Server::board_for(Connection& c) {
  if (!c.board)
    c.board = c.peer.uid == socket::kUnmapped ? std::make_shared<BellBoard>() : process_.board_of(c.peer.uid);
  return c.board;
}

}  // namespace cardan::detail
