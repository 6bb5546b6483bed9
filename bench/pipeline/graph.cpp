// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/graph.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "bench/transport/run.hpp"
#include "cardan/error.hpp"

namespace cardan::bench::perception {
namespace {

// A second descriptor of an area: the crew's wiring owns what it hands over.
Fd duplicate(int fd) {
  Fd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (copy.get() < 0)
    throw Error(ErrorCode::Limit, fmt::format("cannot duplicate a descriptor: {}", std::strerror(errno)),
                "raise the limit of open files with ulimit -n");
  return copy;
}

/// Writes down in the link's area which descriptors each of its roles inherits, and gives them to the stages' wiring.
void hand_over(Wiring from, const ChainLink& link, const Area& area, Wiring& to) {
  std::vector<std::uint32_t> roles = link.publishers;
  roles.insert(roles.end(), link.readers.begin(), link.readers.end());
  for (std::size_t i = 0; i < roles.size(); ++i) {
    RoleSlot& slot = area.role(i);
    slot.descriptor_count = 0;
    const auto note = [&](const Fd& fd) { slot.descriptors.at(slot.descriptor_count++) = fd.get(); };
    for (const Fd& fd : from.shared) note(fd);
    if (i >= from.owned.size()) continue;
    for (Fd& fd : from.owned[i]) {
      note(fd);
      to.owned[roles[i]].push_back(std::move(fd));
    }
  }
  for (Fd& fd : from.shared) to.shared.push_back(std::move(fd));
}

std::optional<LinkEnd> find_end(const std::vector<ChainLink>& links, std::vector<std::uint32_t> ChainLink::* side,
                                std::uint32_t role) noexcept {
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::vector<std::uint32_t>& roles = links[i].*side;
    if (const auto found = std::find(roles.begin(), roles.end(), role); found != roles.end())
      return LinkEnd{i, static_cast<std::uint32_t>(found - roles.begin())};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> Chain::find_link(std::string_view link) const noexcept {
  const auto found = std::find_if(links.begin(), links.end(), [&](const ChainLink& l) { return l.name == link; });
  if (found == links.end()) return std::nullopt;
  return static_cast<std::size_t>(found - links.begin());
}

std::string Chain::names_of_links() const {
  std::string out;
  for (std::size_t i = 0; i < links.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : (i + 1 == links.size() ? " and " : ", "), links[i].name);
  return out;
}

std::optional<LinkEnd> Chain::input_of(std::uint32_t role) const noexcept {
  return find_end(links, &ChainLink::readers, role);
}
std::optional<LinkEnd> Chain::output_of(std::uint32_t role) const noexcept {
  return find_end(links, &ChainLink::publishers, role);
}
bool Chain::has_one_input(std::uint32_t role) const noexcept {
  const auto input = input_of(role);
  return input && links[input->link].publishers.size() == 1;
}

const Chain& camera_chain() {
  static const Chain kChain{
      .name = "camera",
      .whole = "camera to fusion",
      .usual_rate_hz = 5,  // the pedestrian detector takes 0.1 s: a faster camera would measure its queue
      .stages = {"camera", "lane", "detector", "tracker", "fusion"},
      .links = {{"pictures", {0}, {1, 2, 3}}, {"results", {1, 2, 3}, {4}}, {"targets", {2}, {3}}}};
  return kChain;
}

const Chain& lidar_chain() {
  static const Chain kChain{.name = "lidar",
                            .whole = "perception to decision",
                            .usual_rate_hz = 10,
                            .stages = {"lidar", "preprocessing", "localization", "perception", "planning", "decision"},
                            .links = {{"scans", {0}, {1}},
                                      {"points", {1}, {2}},
                                      {"located", {2}, {3}},
                                      {"obstacles", {3}, {4}},
                                      {"plans", {4}, {5}}}};
  return kChain;
}

const Chain* find_chain(std::string_view name) noexcept {
  for (const Chain* const chain : {&camera_chain(), &lidar_chain()})
    if (chain->name == name) return chain;
  return nullptr;
}

std::string names_of_chains() { return fmt::format("{} or {}", camera_chain().name, lidar_chain().name); }

std::span<Stamps> stamps_of_end(const Area& stages) { return stages.received(stages.subscribers() - 1, 0); }

Graph make_graph(const Chain& chain, const LinkContenders& contenders, std::span<const std::size_t> bytes,
                 double rate_hz, std::uint32_t frames, std::uint32_t warmup) {
  Cell cell{.scenario = {1, static_cast<std::uint32_t>(chain.stages.size() - 1)},
            .bytes = bytes.front(),
            .rate_hz = rate_hz,
            .frames = frames,
            .warmup = warmup};
  Graph graph{.chain = &chain, .stages = Area(contenders.front(), cell, fresh_topic()), .links = {}, .wiring = {}};
  graph.wiring.owned.resize(chain.stages.size());
  for (std::size_t i = 0; i < chain.links.size(); ++i) {
    const Contender& contender = contenders.at(i);
    const PeerKind& kind = kind_of(contender.peer);
    if (kind.links.writer == nullptr || kind.links.reader == nullptr)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("`{}` cannot be a link of a pipeline", bench::name_of(contender.peer)),
                  "leave it out of --peers and --links");
    cell.scenario = {static_cast<std::uint32_t>(chain.links[i].publishers.size()),
                     static_cast<std::uint32_t>(chain.links[i].readers.size())};
    cell.bytes = bytes[i];
    graph.links.emplace_back(contender, cell, fresh_topic());
    // First in the list of each stage, in the order of the links: there open_links() looks for them.
    graph.wiring.shared.push_back(duplicate(graph.links.back().fd()));
  }
  for (std::size_t i = 0; i < chain.links.size(); ++i) {
    const Area& area = graph.links[i];
    const PeerKind& kind = kind_of(area.header().contender.peer);
    if (kind.wire != nullptr) hand_over(kind.wire(area.header().cell), chain.links[i], area, graph.wiring);
  }
  return graph;
}

std::vector<Area> open_links(const Area& stages, const Chain& chain, std::uint32_t role) {
  const RoleSlot& slot = stages.role(role);
  if (slot.descriptor_count < chain.links.size())
    throw Error(ErrorCode::InvalidArgument, "a stage of the pipeline was started without its links",
                "start `cardan bench pipeline` without --role-fd");
  std::vector<Area> links;
  // An area owns its descriptor, and a stage may open its links again.
  for (std::size_t i = 0; i < chain.links.size(); ++i) links.emplace_back(duplicate(slot.descriptors[i]).release());
  return links;
}

}  // namespace cardan::bench::perception
