// SPDX-License-Identifier: Apache-2.0
// News of the processes about the chains that end in them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cardan/clock.hpp"
#include "src/system/launcher/supervisor.hpp"

namespace cardan::launcher {
namespace {

constexpr std::size_t kMostEvents = 1000;

struct News {
  std::uint64_t publications = 0, unknown = 0, late = 0, age_ns = 0, hop_ns = 0;
  std::string_view chain{}, component{};
};

/// A line of src/system/host/chain_news.cpp. Code of the process could write others.
std::optional<News> read_news(std::string_view words) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;
  News news;
  for (std::uint64_t* const number : {&news.publications, &news.unknown, &news.late, &news.age_ns, &news.hop_ns}) {
    const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), *number);
    if (error != std::errc{} || end == words.data() + words.size() || *end != ' ' || *number > kMost) return {};
    words.remove_prefix(static_cast<std::size_t>(end - words.data()) + 1);
  }
  const std::size_t space = words.find(' ');
  if (space == std::string_view::npos || news.unknown + news.late > news.publications) return {};
  news.chain = words.substr(0, space);
  news.component = words.substr(space + 1);
  return news;
}

double ms(std::uint64_t ns) { return static_cast<double>(ns) / 1e6; }

/// `why`: of the last late publication; empty: none is among the newest.
std::string late_words(const ChainStatus& status, const std::string& why, std::int64_t now) {
  if (!why.empty() && status.unsaid == 1) return why;
  const std::string since =
      status.said_ns == 0 ? "" : fmt::format(" in the last {:.0f} s", static_cast<double>(now - status.said_ns) / 1e9);
  if (why.empty()) return fmt::format("{} more publications were late{}", status.unsaid, since);
  return fmt::format("{}; {} publications were late{}", why, status.unsaid, since);
}

}  // namespace

void Supervisor::chain(std::string_view words) {
  constexpr std::int64_t kDistance = 10'000'000'000;
  const std::optional<News> news = read_news(words);
  if (!news) return;
  const std::vector<config::Chain>& all = plan_->configuration.chains;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const config::Chain& c) { return c.name == news->chain; });
  if (found == all.end() || found->budget.count() == 0) return;
  ChainStatus& status = chains_[found->name];
  status.publications += news->publications;
  status.unknown += news->unknown;
  status.late += news->late;
  const std::int64_t now = steady_now();
  std::string why;
  const std::string component = plan_->configuration.component(std::string(news->component)) != nullptr
                                    ? std::string(news->component)
                                    : std::string();
  if (news->late != 0) {
    why =
        fmt::format("{:.1f} ms from {} to {}, {:g} ms allowed{}", ms(news->age_ns), found->from, found->to,
                    static_cast<double>(found->budget.count()) / 1e6,
                    component.empty() ? "" : fmt::format("; {} took longest ({:.1f} ms)", component, ms(news->hop_ns)));
    status.unsaid += news->late;
  }
  if (status.unsaid != 0 && (status.said_ns == 0 || now - status.said_ns >= kDistance)) {
    say(LogLevel::Warning, fmt::format("chain '{}': {}", found->name, late_words(status, why, now)));
    if (news->late != 0) {
      if (late_.size() == kMostEvents) late_.pop_front();
      late_.push_back({.chain = found->name,
                       .component = component,
                       .at_ns = now,
                       .age_ns = static_cast<std::int64_t>(news->age_ns),
                       .hop_ns = static_cast<std::int64_t>(news->hop_ns),
                       .times = status.unsaid});
    } else if (const auto last = std::find_if(late_.rbegin(), late_.rend(),
                                              [&](const LateChain& one) { return one.chain == found->name; });
               last != late_.rend()) {
      last->times += status.unsaid;
    }
    status.said_ns = now;
    status.unsaid = 0;
  }
  machine_.chain(found->name, news->publications - news->unknown - news->late, news->late, now, why);
}

void Supervisor::say_chains() const {
  for (const config::Chain& chain : plan_->configuration.chains)
    if (const auto status = chains_.find(chain.name); status != chains_.end() && status->second.late != 0)
      say(LogLevel::Warning, fmt::format("chain '{}': {} of {} publications on {} were late ({:g} ms allowed from {})",
                                         chain.name, status->second.late, status->second.publications, chain.to,
                                         static_cast<double>(chain.budget.count()) / 1e6, chain.from));
}

}  // namespace cardan::launcher
