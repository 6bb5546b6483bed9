// SPDX-License-Identifier: Apache-2.0
// The graphs of the pipelines. The camera's, as in ComP ("Oops! It's Too Late"): a camera; lane finder, detector and
// tracker, which all read its pictures; and a fusion of their results. The detector's results go to the tracker too,
// which begins to track what was detected. The LiDAR's, as in SIM (IV-F), is a line: preprocessing, localization by
// NDT, perception, planning, decision.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/transport/area.hpp"
#include "bench/transport/peers/peer.hpp"

namespace cardan::bench::perception {

inline constexpr std::size_t kMostStages = 6, kMostLinks = 5;

/// A connection of stages: the places of those that publish and of those that read.
struct ChainLink {
  std::string_view name{};
  std::vector<std::uint32_t> publishers{}, readers{};
};
/// A stage's end of a link: the link, and the place of the stage among its publishers or its readers.
struct LinkEnd {
  std::size_t link = 0;
  std::uint32_t place = 0;
};
/// A pipeline: its processes, and what connects them. The place of a stage is its role in a run.
struct Chain {
  std::string_view name{};   ///< --chain
  std::string_view whole{};  ///< from its first to its last stage, "camera to fusion"
  double usual_rate_hz = 0;
  std::vector<std::string_view> stages{};
  std::vector<ChainLink> links{};

  /// The place of a link. Empty: it has none of that name.
  [[nodiscard]] std::optional<std::size_t> find_link(std::string_view link) const noexcept;
  /// The first link that a stage reads, or writes. Empty: it reads or writes none.
  [[nodiscard]] std::optional<LinkEnd> input_of(std::uint32_t role) const noexcept;
  [[nodiscard]] std::optional<LinkEnd> output_of(std::uint32_t role) const noexcept;
  /// Whether the stage gets one message of one link for each frame: all but the first stage, and the fusion.
  [[nodiscard]] bool has_one_input(std::uint32_t role) const noexcept;
  /// "pictures, results and targets"
  [[nodiscard]] std::string names_of_links() const;
};
[[nodiscard]] const Chain& camera_chain();
[[nodiscard]] const Chain& lidar_chain();
/// Returns null if no chain has this name.
[[nodiscard]] const Chain* find_chain(std::string_view name) noexcept;
/// "camera or lidar"
[[nodiscard]] std::string names_of_chains();

/// A process of the camera's pipeline; the value is its role in the run.
enum class Stage : std::uint32_t { Camera, Lane, Detector, Tracker, Fusion };
/// The stages that read pictures; their order is that of the readers of `Pictures` and the publishers of `Results`.
inline constexpr std::array kFinders{Stage::Lane, Stage::Detector, Stage::Tracker};
constexpr std::uint32_t role_of(Stage stage) { return static_cast<std::uint32_t>(stage); }
/// Of a finder, its place in kFinders.
constexpr std::uint32_t place_of(Stage finder) { return role_of(finder) - 1; }

/// A link of the camera's pipeline, by its place.
enum class Link : std::uint32_t {
  Pictures,  ///< camera → lane, detector, tracker
  Results,   ///< lane, detector, tracker → fusion
  Targets,   ///< detector → tracker
};

namespace lidar {
/// A process of the LiDAR's. The place of the link that a stage reads is the one before its own; of that which it
/// writes, its own.
enum class Stage : std::uint32_t { Lidar, Preprocessing, Localization, Perception, Planning, Decision };
constexpr std::uint32_t role_of(Stage stage) { return static_cast<std::uint32_t>(stage); }
}  // namespace lidar

/// Each link's peer and way of waiting, by its place; a chain uses the first ones, one for each link.
using LinkContenders = std::array<Contender, kMostLinks>;

/// The memory of a run of the pipeline, made by the harness: the stages' area, whose roles are the stages, and the
/// links'. Stamps are in the links' areas, by the number of the frame: when a message was published, when it was in
/// hand, and when the stage was ready with it.
struct Graph {
  const Chain* chain;
  Area stages;
  std::vector<Area> links;  ///< by their place
  Wiring wiring;            ///< of the stages' area, for the crew

  [[nodiscard]] const Area& link(Link which) const { return links.at(static_cast<std::size_t>(which)); }
};
/// Of the last stage, by the number of the frame: when its last input was in hand, and when it was ready.
[[nodiscard]] std::span<Stamps> stamps_of_end(const Area& stages);
/// `frames` and `rate_hz` of the first stage, the first `warmup` of them discarded; `bytes`: of a whole message of each
/// link. Throws cardan::Error: a peer cannot be a link, or the system gives no memory or socket.
[[nodiscard]] Graph make_graph(const Chain& chain, const LinkContenders& contenders, std::span<const std::size_t> bytes,
                               double rate_hz, std::uint32_t frames, std::uint32_t warmup);
/// In a stage: opens the links' areas that the harness handed over. Throws cardan::Error.
[[nodiscard]] std::vector<Area> open_links(const Area& stages, const Chain& chain, std::uint32_t role);

}  // namespace cardan::bench::perception
