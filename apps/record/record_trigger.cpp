// SPDX-License-Identifier: Apache-2.0
#include "apps/record/record_trigger.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <utility>

#include "apps/terminal/output.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/subscriber.hpp"
#include "src/config/shape.hpp"
#include "src/system/launcher/silence_watch.hpp"
#include "src/system/launcher/topics.hpp"

namespace cardan::apps {
namespace {

constexpr std::int64_t kPause = 1'000'000'000;
constexpr auto kLookForPublishers = std::chrono::milliseconds(250);

Error wrong(const std::string& text, const std::string& why) {
  return {ErrorCode::InvalidArgument, fmt::format("--on {}: {}", text, why),
          "write state=safe_stop, silent=/topic:500 (ms) or message=/topic"};
}

std::string topic_of(const std::string& text, const std::string& name) {
  if (!config::fits(config::Format::Topic, name)) throw wrong(text, fmt::format("'{}' is not a topic", name));
  return name;
}

}  // namespace

struct RecordTrigger::Parts {
  struct OnState {
    std::string system{};  ///< "": of any
    config::State state{};
  };

  struct OnTopic {
    std::string topic{};
    std::int64_t silent_ns = 0;  ///< 0: on a message
    std::int64_t last_ns = 0;    ///< of the newest message that was looked at
    bool begun = false;          ///< this silence has been reported
  };

  std::vector<OnState> states;
  std::vector<OnTopic> topics;
  std::int64_t begun_ns = steady_now();
  std::unique_ptr<Subscriber<SystemState>> state;
  std::unique_ptr<launcher::SilenceWatch> watch;

  void add(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw wrong(text, "it has no '='");
    const std::string kind = text.substr(0, equals);
    const std::string value = text.substr(equals + 1);
    const std::size_t colon = value.rfind(':');
    if (kind == "state") {
      const std::string name = colon == std::string::npos ? value : value.substr(colon + 1);
      const auto found = std::find(config::kStates.begin(), config::kStates.end(), name);
      if (found == config::kStates.end()) throw wrong(text, fmt::format("'{}' is not a state", name));
      states.push_back({.system = colon == std::string::npos ? "" : value.substr(0, colon),
                        .state = static_cast<config::State>(found - config::kStates.begin())});
    } else if (kind == "silent") {
      double ms = 0;
      if (colon == std::string::npos || !CLI::detail::lexical_cast(value.substr(colon + 1), ms) || !(ms >= 1) ||
          ms > 1e9)
        throw wrong(text, "after the topic and ':' come the milliseconds, 1 to 1e9");
      topics.push_back(
          {.topic = topic_of(text, value.substr(0, colon)), .silent_ns = static_cast<std::int64_t>(ms * 1e6)});
    } else if (kind == "message") {
      topics.push_back({.topic = topic_of(text, value)});
    } else {
      throw wrong(text, fmt::format("'{}' is not a kind", kind));
    }
  }

  [[nodiscard]] std::optional<RecordEvent> look_state() {
    if (!state) return {};
    std::optional<RecordEvent> event;
    while (const auto sample = state->take()) {
      if (sample->since_ns < begun_ns || sample->state == sample->previous) continue;  // a late subscriber's past
      const std::string system = printable(std::string_view(sample->system));
      for (const OnState& on : states)
        if (!event && on.state == sample->state && (on.system.empty() || on.system == system))
          event = RecordEvent{std::string(config::name_of(on.state)),
                              fmt::format("{} is in {}: {}", system, config::name_of(on.state),
                                          printable(std::string_view(sample->reason)))};
    }
    return event;
  }

  [[nodiscard]] std::optional<RecordEvent> look_topic(OnTopic& on, std::int64_t now) const {
    const std::int64_t last = std::max(watch->last_published(on.topic), on.last_ns);
    const std::int64_t before = std::exchange(on.last_ns, last);
    if (last < begun_ns) return {};  // nothing yet
    if (on.silent_ns == 0) {
      if (last == before || (before >= begun_ns && last - before < kPause)) return {};
      return RecordEvent{"message", fmt::format("a message came on {}", on.topic)};
    }
    const bool silent = now - last >= on.silent_ns;
    const bool begins = silent && !on.begun;
    on.begun = silent;
    if (!begins) return {};
    return RecordEvent{"silent", fmt::format("nothing was published on {} for {:g} ms", on.topic,
                                             static_cast<double>(on.silent_ns) / 1e6)};
  }
};

RecordTrigger::RecordTrigger(const std::vector<std::string>& on, const std::string& domain)
    : parts_(std::make_unique<Parts>()) {
  for (const std::string& text : on) parts_->add(text);
  if (!parts_->states.empty())
    parts_->state = std::make_unique<Subscriber<SystemState>>(kSystemState, SubscriberOptions{.domain = domain});
  if (parts_->topics.empty()) return;
  std::vector<std::string> names;
  for (const Parts::OnTopic& topic : parts_->topics) names.push_back(topic.topic);
  parts_->watch = std::make_unique<launcher::SilenceWatch>(names, domain, kLookForPublishers);
}
RecordTrigger::~RecordTrigger() = default;

std::optional<RecordEvent> RecordTrigger::look() {
  std::optional<RecordEvent> event = parts_->look_state();
  const std::int64_t now = steady_now();
  for (Parts::OnTopic& topic : parts_->topics)
    if (auto of_topic = parts_->look_topic(topic, now); of_topic && !event) event = std::move(of_topic);
  return event;
}

}  // namespace cardan::apps
