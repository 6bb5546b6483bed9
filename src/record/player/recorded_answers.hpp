// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cardan/any_type.hpp"
#include "cardan/detail/service_end.hpp"
#include "cardan/mcap/reader.hpp"
#include "src/record/player/simulate.hpp"
#include "src/runtime/component_core.hpp"
#include "src/runtime/runtime.hpp"
#include "src/transport/service/service_events.hpp"

namespace cardan::record {

/// Answers in a simulation for servers that are not in it, with the events that they published when a file was
/// recorded (Introspection::Contents). A question gets the recorded answer to a question with the same content, when it
/// was recorded. One thread.
class RecordedAnswers {
 public:
  /// A channel of a file.
  using Place = std::pair<std::size_t, std::uint16_t>;

  /// After the components have started. Must not outlive the runtime.
  explicit RecordedAnswers(Runtime& runtime);
  RecordedAnswers(const RecordedAnswers&) = delete;
  RecordedAnswers& operator=(const RecordedAnswers&) = delete;
  ~RecordedAnswers();

  /// Uses a channel, if it has the events of a service that a component asks and no component serves. Otherwise returns
  /// false. `why` is set if it cannot be used although it has.
  bool connect(Place place, const mcap::Channel& channel, const mcap::Schema* schema, std::string& why);
  [[nodiscard]] bool has(Place place) const { return channels_.contains(place); }
  /// An event of a channel that is used. Malformed ones are counted.
  void push(Place place, mcap::View event);

  [[nodiscard]] std::vector<SimulatedService> report() const;

 private:
  using Bytes = std::vector<std::byte>;
  /// A question of the recording: its client and its number.
  struct Key {
    std::array<std::uint8_t, 16> client{};
    std::int64_t number = 0;
    bool operator==(const Key&) const = default;
  };
  struct Asked {
    detail::TakenQuestion question;
    Bytes content;
  };
  struct Recorded {
    Key key;
    detail::ServiceEvents::Kind kind;  ///< who saw the question: its client, or the server
    Bytes content;
  };
  struct Service {
    Service(std::string name, detail::ServiceType its_type, CdrFramer its_questions, AnyType its_answers)
        : type(std::move(its_type)),
          questions(std::move(its_questions)),
          answers(std::move(its_answers)),
          report{.service = std::move(name)} {}
    detail::ServiceType type;
    CdrFramer questions;
    AnyType answers;
    SimulatedService report;
    std::deque<Asked> waiting{};      ///< in the simulation, the oldest first
    std::deque<Recorded> recorded{};  ///< questions whose answer has not come yet
    std::size_t recorded_bytes = 0;   ///< of their contents
  };
  struct Channel {
    Service* service;
    AnyType event;
  };
  [[nodiscard]] Service* service_of(const std::string& name, const detail::ServiceType& type, std::string& why);
  /// The recorded question, which is forgotten. Empty: it is unknown.
  [[nodiscard]] static Bytes take(Service& service, const Key& key);
  static void remember(Service& service, Recorded&& question);
  /// Lets go of what nobody waits for any more: each holds a slot of its client.
  static void drop_cancelled(Service& service);
  void ask(Service& service, detail::TakenQuestion&& question) const;
  void answer(Service& service, const Bytes& question, const Bytes& answer) const;

  Runtime& runtime_;
  std::map<std::string, std::unique_ptr<Service>> services_;
  std::map<Place, Channel> channels_;
  Bytes message_, payload_;  ///< of the event that is read
};

}  // namespace cardan::record
