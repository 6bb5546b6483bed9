// SPDX-License-Identifier: Apache-2.0
#include "bench/results/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "bench/results/statistics.hpp"

namespace cardan::bench {
namespace {

constexpr std::uint32_t kMostLinks = 1'000'000;  // a file may hold any text

std::string key_of(const Measurement& m, const std::string& cell) {
  return fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f{}", m.peer, m.setup, cell, m.bytes, m.rate_hz);
}

}  // namespace

std::pair<std::uint32_t, std::string> split_links(const std::string& cell) {
  const std::string scenario = cell.substr(0, cell.find(' '));
  const auto x = scenario.find('x');
  std::uint32_t links = 1;
  if (x != std::string::npos) {
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + x, links);
    if (error != std::errc{} || end != cell.data() + x || links < 2 || links > kMostLinks) return {0, cell};
  }
  const std::string link = x == std::string::npos ? scenario : scenario.substr(x + 1);
  const auto p = link.find('p');
  const bool has_form =
      p != std::string::npos && p > 0 && link.size() > p + 2 && link.back() == 's' &&
      std::all_of(link.begin(), link.end(), [](char c) { return (c >= '0' && c <= '9') || c == 'p' || c == 's'; });
  if (!has_form) return {0, cell};
  return {links, x == std::string::npos ? cell : cell.substr(x + 1)};
}

std::uint32_t LinksOfPeer::sustained() const noexcept {
  std::uint32_t most = 0;
  for (const LinksPoint& point : points)
    if (point.sustained()) most = std::max(most, point.links);
  return most;
}

std::string LinksOfPeer::text() const {
  const std::uint32_t most = sustained();
  if (most == 0) return "none";
  return most == points.back().links ? fmt::format("{} or more", most) : std::to_string(most);
}

std::string text_of(const LinksPoint& point) {
  // Not rounded up to what is more than arrived.
  return fmt::format("{:.4g} % at {:.1f} Hz", std::floor(1000 * point.arrived + 1e-6) / 10, point.achieved_hz);
}

std::string links_criterion() {
  return fmt::format(
      "Links are topics of their own, each with its processes, at the same time and under one set of conditions. A "
      "number of them is sustained if at least {:g} % of the frames arrived and the mean rate of the publishers is at "
      "least {:g} % of the asked one. The share that arrived and that rate are given for each number.",
      100 * kLeastArrived, 100 * kLeastOfRate);
}

std::vector<LinksOfPeer> links_of(const std::vector<const Measurement*>& measurements) {
  std::map<std::string, double> rates;  // by contender and whole cell
  for (const Measurement* m : measurements)
    if (m->part == "transport" && m->quantity == kAchievedRate && m->kept() > 0)
      rates[key_of(*m, m->cell)] = median(m->pooled());
  std::vector<LinksOfPeer> all;
  std::map<std::string, std::size_t> places;  // by contender and cell of one link
  for (const Measurement* m : measurements) {
    if (m->part != "transport" || !m->due || !m->lost || *m->due == 0 || m->rate_hz <= 0) continue;
    const auto rate = rates.find(key_of(*m, m->cell));
    const auto [links, cell] = split_links(m->cell);
    if (rate == rates.end() || links == 0) continue;
    const auto [place, fresh] = places.emplace(key_of(*m, cell), all.size());
    if (fresh)
      all.push_back({.cell = fmt::format("{}, {}, {:g} Hz", cell, name_of_size(m->bytes), m->rate_hz),
                     .contender = name_of_contender(*m)});
    LinksOfPeer& peer = all[place->second];
    const double lost = static_cast<double>(*m->lost) / static_cast<double>(*m->due);
    peer.points.push_back({links, 1 - lost, m->rate_hz, rate->second});
    if (!m->command.empty()) peer.commands.push_back(m->command);
  }
  for (LinksOfPeer& peer : all)
    std::sort(peer.points.begin(), peer.points.end(),
              [](const LinksPoint& a, const LinksPoint& b) { return a.links < b.links; });
  // One number of links, measured once or in several parts, says nothing of how many are sustained.
  std::erase_if(all, [](const LinksOfPeer& peer) { return peer.points.front().links == peer.points.back().links; });
  return all;
}

}  // namespace cardan::bench
