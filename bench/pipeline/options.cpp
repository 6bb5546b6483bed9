// SPDX-License-Identifier: Apache-2.0
#include "bench/pipeline/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "bench/transport/options.hpp"
#include "cardan/error.hpp"

namespace cardan::bench::perception {
namespace {

constexpr std::uint32_t kUsualFrames = 60, kQuickFrames = 30, kUsualRuns = 3, kQuickRuns = 1;
constexpr int kFewestFrames = 4, kMostFrames = 100'000, kMostRuns = 100, kMostThreads = 256;
constexpr double kSlowest = 0.5, kFastest = 1000;
constexpr double kSetUpSeconds = 2;  // five or six processes, of which each loads OpenCV or PCL

bool can_be_link(const Peer& peer) {
  const PeerKind* const kind = find_peer(bench::name_of(peer));
  return kind != nullptr && kind->links.writer != nullptr && kind->links.reader != nullptr;
}

/// "results=cardan,targets=uds": the links that are not made by the peer that is measured.
std::vector<std::pair<std::size_t, Contender>> parse_links(const Chain& chain, const std::string& text) {
  const std::string remedy =
      fmt::format("write it as {}=cardan; the links are {}", chain.links[1].name, chain.names_of_links());
  std::vector<std::pair<std::size_t, Contender>> chosen;
  for (const std::string& word : split(text)) {
    const std::size_t at = word.find('=');
    const auto link = chain.find_link(std::string_view(word).substr(0, at));
    if (at == std::string::npos || !link) refuse(fmt::format("--links: `{}` names no link", word), remedy);
    const PeerKind* const kind = find_peer(std::string_view(word).substr(at + 1));
    if (kind == nullptr || !can_be_link(kind->peer))
      refuse(fmt::format("--links: `{}` names no peer that can be a link", word), remedy);
    if (std::any_of(chosen.begin(), chosen.end(), [&](const auto& c) { return c.first == *link; }))
      refuse(fmt::format("--links names `{}` twice", chain.links[*link].name), remedy);
    chosen.emplace_back(*link, Contender{kind->peer, kind->waits({Wait::Block}).front()});
  }
  return chosen;
}

const Chain& parse_chain(const PipelineArguments& a) {
  const Chain* const chain = a.chain.empty() ? &camera_chain() : find_chain(a.chain);
  if (chain == nullptr)
    refuse(fmt::format("--chain: there is no `{}`", a.chain), fmt::format("use {}", names_of_chains()));
  const bool is_camera = chain == &camera_chain();
  for (const auto& [option, value, of_camera] : {std::tuple{"--camera", &a.inputs.camera, true},
                                                 {"--detector", &a.inputs.detector, true},
                                                 {"--lidar", &a.inputs.lidar, false}})
    if (!value->empty() && of_camera != is_camera)
      refuse(fmt::format("{} is not for --chain {}", option, chain->name), "leave one of them out");
  if (!a.inputs.topic.empty() && a.inputs.from.empty())
    refuse("--topic is of a recording", "give it with --from FILE.mcap");
  if (!a.inputs.from.empty() && (!a.inputs.camera.empty() || !a.inputs.lidar.empty()))
    refuse("--from and another source of the same sensor", "give one of them");
  return *chain;
}

void check_pipeline_numbers(const PipelineArguments& a) {
  check_if_given("--rate", a.rate_hz, kSlowest, kFastest);
  check_if_given("--frames", a.frames, kFewestFrames, kMostFrames);
  check_if_given("--runs", a.runs, 1, kMostRuns);
  check_range("--threads", a.inputs.threads, 0, kMostThreads);
}

}  // namespace

std::string Mix::setup() const {
  std::string out(bench::name_of(contender.wait));
  if (!chosen.empty()) out += " " + chosen;
  return out;
}

PipelineOptions parse_pipeline(const PipelineArguments& a, const std::vector<int>& cpus) {
  const Chain& chain = parse_chain(a);
  check_pipeline_numbers(a);
  // Peers and ways of waiting are those of `cardan bench transport`, and so are their mistakes.
  const TransportOptions of_transport =
      parse_options({.peers = a.peers, .waits = a.waits.empty() ? "block" : a.waits}, cpus);
  PipelineOptions options{
      .chain = &chain, .rate_hz = a.rate_hz > 0 ? a.rate_hz : chain.usual_rate_hz, .inputs = a.inputs, .json = a.json};
  options.inputs.rate_hz = options.rate_hz;
  options.frames = a.frames > 0 ? static_cast<std::uint32_t>(a.frames) : (a.quick ? kQuickFrames : kUsualFrames);
  options.runs = a.runs > 0 ? static_cast<std::uint32_t>(a.runs) : (a.quick ? kQuickRuns : kUsualRuns);
  options.warmup = std::min(std::max(options.frames / 10, 5U), options.frames / 2);

  const auto chosen = parse_links(chain, a.links);
  for (const Contender& contender : of_transport.contenders) {
    const std::string_view name = bench::name_of(contender.peer);
    if (!can_be_link(contender.peer)) {
      const std::string why = fmt::format("`{}` cannot be a link of a pipeline", name);
      if (!a.peers.empty()) refuse("--peers: " + why, "leave it out");
      options.left_out.push_back(why);
      continue;
    }
    Mix mix{.contender = contender};
    mix.links.fill(contender);
    for (const auto& [link, other] : chosen) {
      mix.links.at(link) = other;
      mix.chosen +=
          fmt::format("{}{}={}", mix.chosen.empty() ? "" : ",", chain.links[link].name, bench::name_of(other.peer));
    }
    options.mixes.push_back(std::move(mix));
  }
  return options;
}

double expected_seconds(const PipelineOptions& options) noexcept {
  return kSetUpSeconds + static_cast<double>(options.frames) / options.rate_hz;
}

}  // namespace cardan::bench::perception
