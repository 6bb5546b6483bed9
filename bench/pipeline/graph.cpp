// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/graph.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "bench/pipeline/messages.hpp"
#include "bench/transport/run.hpp"
#include "cardan/base/error.hpp"

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
void hand_over(Wiring from, Link link, const Area& area, Wiring& to) {
  const Ends& ends = ends_of(link);
  std::vector<Stage> roles = ends.publishers;
  roles.insert(roles.end(), ends.readers.begin(), ends.readers.end());
  for (std::size_t i = 0; i < roles.size(); ++i) {
    RoleSlot& slot = area.role(i);
    slot.descriptor_count = 0;
    const auto note = [&](const Fd& fd) { slot.descriptors.at(slot.descriptor_count++) = fd.get(); };
    for (const Fd& fd : from.shared) note(fd);
    if (i >= from.owned.size()) continue;
    for (Fd& fd : from.owned[i]) {
      note(fd);
      to.owned[role_of(roles[i])].push_back(std::move(fd));
    }
  }
  for (Fd& fd : from.shared) to.shared.push_back(std::move(fd));
}

}  // namespace

std::string_view name_of(Stage stage) noexcept { return kStageNames[role_of(stage)]; }
std::string_view name_of(Link link) noexcept { return kLinkNames[static_cast<std::size_t>(link)]; }

std::optional<Link> find_link(std::string_view name) noexcept {
  const auto found = std::find(kLinkNames.begin(), kLinkNames.end(), name);
  if (found == kLinkNames.end()) return std::nullopt;
  return static_cast<Link>(found - kLinkNames.begin());
}

const Ends& ends_of(Link link) {
  static const std::array<Ends, kLinkCount> kEnds{
      Ends{{Stage::Camera}, {kFinders.begin(), kFinders.end()}},
      Ends{{kFinders.begin(), kFinders.end()}, {Stage::Fusion}},
      Ends{{Stage::Detector}, {Stage::Tracker}},
  };
  return kEnds[static_cast<std::size_t>(link)];
}

Graph make_graph(const LinkContenders& contenders, std::size_t picture_bytes, double rate_hz, std::uint32_t frames,
                 std::uint32_t warmup) {
  Cell cell{.scenario = {1, static_cast<std::uint32_t>(kStages.size() - 1)},
            .bytes = picture_bytes,
            .rate_hz = rate_hz,
            .frames = frames,
            .warmup = warmup};
  Graph graph{.stages = Area(contenders.front(), cell, fresh_topic()), .links = {}, .wiring = {}};
  graph.wiring.owned.resize(kStages.size());
  for (const Link link : kLinks) {
    const Contender& contender = contenders[static_cast<std::size_t>(link)];
    const PeerKind& kind = kind_of(contender.peer);
    if (kind.links.writer == nullptr || kind.links.reader == nullptr)
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("`{}` cannot be a link of a pipeline", bench::name_of(contender.peer)),
                  "leave it out of --peers and --links");
    cell.scenario = {static_cast<std::uint32_t>(ends_of(link).publishers.size()),
                     static_cast<std::uint32_t>(ends_of(link).readers.size())};
    cell.bytes = link == Link::Pictures ? picture_bytes : kResultBytes;
    graph.links.emplace_back(contender, cell, fresh_topic());
    // First in the list of each stage, in the order of Link: there open_links() looks for them.
    graph.wiring.shared.push_back(duplicate(graph.links.back().fd()));
  }
  for (const Link link : kLinks) {
    const Area& area = graph.link(link);
    const PeerKind& kind = kind_of(area.header().contender.peer);
    if (kind.wire != nullptr) hand_over(kind.wire(area.header().cell), link, area, graph.wiring);
  }
  return graph;
}

std::vector<Area> open_links(const Area& stages, Stage stage) {
  const RoleSlot& slot = stages.role(role_of(stage));
  if (slot.descriptor_count < kLinkCount)
    throw Error(ErrorCode::InvalidArgument, "a stage of the pipeline was started without its links",
                "start `cardan bench pipeline` without --role-fd");
  std::vector<Area> links;
  // An area owns its descriptor, and a stage may open its links again.
  for (std::size_t i = 0; i < kLinkCount; ++i) links.emplace_back(duplicate(slot.descriptors[i]).release());
  return links;
}

}  // namespace cardan::bench::perception
