// SPDX-License-Identifier: Apache-2.0
#include "apps/play/play_control.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "apps/send_order.hpp"
#include "cardan/error.hpp"
#include "cardan/subscriber.hpp"

CARDAN_MESSAGE(cardan::apps::PlayOrder, "cardan_msgs/msg/PlayOrder", action, value);

namespace cardan::apps {
namespace {

using Action = PlayOrder::Action;

constexpr Topic<PlayOrder> kPlayOrders{"/cardan/play/orders", {.depth = 8, .reliable = true}};

struct Word {
  std::string_view name;
  Action action;
  double value, least, most;  ///< NaN: it has to be given; most 0: it has none
};
constexpr double kGiven = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kWords{Word{"pause", Action::Pause, 0, 0, 0},      Word{"resume", Action::Resume, 0, 0, 0},
                            Word{"step", Action::Step, 1, 1, 1e6},      Word{"rate", Action::Rate, kGiven, 0.001, 1e6},
                            Word{"seek", Action::Seek, kGiven, 0, 4e9}, Word{"stop", Action::Stop, 0, 0, 0}};

bool makes_sense(const PlayOrder& order) {
  for (const Word& word : kWords)
    if (word.action == order.action) return word.most == 0 || (order.value >= word.least && order.value <= word.most);
  return false;
}

}  // namespace

PlayOrder play_order(const std::string& text) {
  const std::string_view name = std::string_view(text).substr(0, text.find('='));
  for (const Word& word : kWords) {
    if (word.name != name) continue;
    PlayOrder order{.action = word.action, .value = word.value};
    if (name.size() == text.size() && !std::isnan(word.value)) return order;
    if (name.size() < text.size() && word.most > 0) {
      const char* const end = text.data() + text.size();
      const auto [at, error] = std::from_chars(text.data() + name.size() + 1, end, order.value);
      if (error == std::errc{} && at == end && makes_sense(order)) return order;
    }
  }
  throw Error(ErrorCode::InvalidArgument, fmt::format("a player does not know the order '{}'", text),
              "pause, resume, step, step=N, rate=X (0.001 to 1e6), seek=SECONDS or stop");
}

bool tell_players(const std::string& domain, const PlayOrder& order) { return send_order(kPlayOrders, domain, order); }

struct PlayControl::Ear {
  Subscriber<PlayOrder> subscriber;
};

PlayControl::PlayControl(const std::string& domain)
    : ear_(new Ear{Subscriber<PlayOrder>(kPlayOrders, {.domain = domain})}) {}
PlayControl::~PlayControl() = default;

std::optional<PlayOrder> PlayControl::next() {
  while (const auto order = ear_->subscriber.take())
    if (makes_sense(*order)) return *order;
  return std::nullopt;
}

}  // namespace cardan::apps
