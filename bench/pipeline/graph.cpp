// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/graph.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "bench/pipeline/lidar/chain.hpp"
#include "bench/transport/run.hpp"
#include "cardan/error.hpp"

namespace cardan::bench::perception {
namespace {

constexpr std::array<std::string_view, kStages.size()> kStageNames{"camera", "lane", "detector", "tracker", "fusion"};
constexpr std::array<std::string_view, kLinkCount> kLinkNames{"pictures", "results", "targets"};

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

Chain make_camera_chain() {
  Chain chain{.name = "camera",
              .whole = "camera to fusion",
              .usual_rate_hz = 5,  // the pedestrian detector takes 0.1 s: a faster camera would measure its queue
              .stages = {kStageNames.begin(), kStageNames.end()},
              .links = {}};
  const auto roles = [](const std::vector<Stage>& stages) {
    std::vector<std::uint32_t> out;
    for (const Stage stage : stages) out.push_back(role_of(stage));
    return out;
  };
  for (const Link link : kLinks)
    chain.links.push_back({name_of(link), roles(ends_of(link).publishers), roles(ends_of(link).readers)});
  return chain;
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

const Chain& camera_chain() {
  static const Chain kChain = make_camera_chain();
  return kChain;
}

const Chain* find_chain(std::string_view name) noexcept {
  for (const Chain* const chain : {&camera_chain(), &lidar::lidar_chain()})
    if (chain->name == name) return chain;
  return nullptr;
}

std::string names_of_chains() { return fmt::format("{} or {}", camera_chain().name, lidar::lidar_chain().name); }

std::string_view name_of(Stage stage) noexcept { return kStageNames[role_of(stage)]; }
std::string_view name_of(Link link) noexcept { return kLinkNames[static_cast<std::size_t>(link)]; }

std::optional<Link> find_link(std::string_view name) noexcept {
  const auto place = camera_chain().find_link(name);
  return place ? std::optional(static_cast<Link>(*place)) : std::nullopt;
}

const Ends& ends_of(Link link) {
  static const std::array<Ends, kLinkCount> kEnds{
      Ends{{Stage::Camera}, {kFinders.begin(), kFinders.end()}},
      Ends{{kFinders.begin(), kFinders.end()}, {Stage::Fusion}},
      Ends{{Stage::Detector}, {Stage::Tracker}},
  };
  return kEnds[static_cast<std::size_t>(link)];
}

Graph make_graph(const Chain& chain, const LinkContenders& contenders, std::span<const std::size_t> bytes,
                 double rate_hz, std::uint32_t frames, std::uint32_t warmup) {
  Cell cell{.scenario = {1, static_cast<std::uint32_t>(chain.stages.size() - 1)},
            .bytes = bytes.front(),
            .rate_hz = rate_hz,
            .frames = frames,
            .warmup = warmup};
  Graph graph{.stages = Area(contenders.front(), cell, fresh_topic()), .links = {}, .wiring = {}};
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
