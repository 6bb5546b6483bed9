// SPDX-License-Identifier: Apache-2.0
#include "cardan/cardan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "cardan/any_publisher.hpp"
#include "cardan/any_subscriber.hpp"
#include "cardan/any_type.hpp"
#include "cardan/clock.hpp"
#include "cardan/detail/sample_block.hpp"
#include "cardan/detail/service_end.hpp"
#include "cardan/error.hpp"
#include "cardan/observer_report.hpp"
#include "cardan/stop.hpp"
#include "src/base/text_of_json.hpp"
#include "src/c/handles.hpp"
#include "src/messages/ros2_definitions.hpp"
#include "src/messages/ros_description.hpp"
#include "src/transport/endpoint/stream.hpp"

namespace detail = cardan::detail;
using namespace cardan::c;  // NOLINT(google-build-using-namespace): its own
using cardan::AnyType;
using cardan::Error;
using cardan::ErrorCode;

struct cardan_subscriber {
  cardan::CdrFramer framer;  ///< of the taking thread; its type is any thread's
  cardan::AnySubscriber end;
  [[nodiscard]] const AnyType& type() const noexcept { return framer.type(); }
};

struct cardan_publisher {
  AnyType type;
  cardan::AnyPublisher end;
  cardan::detail::Basis basis{};  ///< of the next message
};

namespace {

/// The same in the other direction: fills as much of the caller's struct as this library knows, the rest with zeros.
template <class Struct>
void give(Struct known, Struct* to) {
  const std::size_t size = to->struct_size;
  known.struct_size = size;
  std::memcpy(to, &known, std::min(size, sizeof(known)));
  if (size > sizeof(known)) std::memset(reinterpret_cast<std::byte*>(to) + sizeof(known), 0, size - sizeof(known));
}

/// A text for the caller, by cardan_free().
char* given_away(const std::string& words) {
  auto* const copy = static_cast<char*>(std::malloc(words.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, words.c_str(), words.size() + 1);
  return copy;
}

AnyType type_of_subscription(const std::string& topic, const cardan_subscriber_options& options) {
  if (options.type != nullptr) return type_named(options.type, options.definition);
  auto type = AnyType::of_topic(topic, {.domain = text(options.domain)});
  if (!type)
    throw Error(ErrorCode::Unavailable, "nobody publishes '" + topic + "' with a type that can be read",
                "start the publisher first, or give the type");
  return std::move(*type);
}

int hand_over(cardan_subscriber& from, const cardan::AnySample& taken, cardan_sample** sample) {
  if (!taken) return result_of(from.end.reason());
  if (!from.framer.frame(taken))
    throw Error(ErrorCode::Incompatible, "a message of '" + from.end.topic() + "' is malformed",
                "its publisher is hostile or broken: cardan topic info names it");
  detail::SampleBlock* const block = detail::block_of(taken);
  block->references.fetch_add(1, std::memory_order_relaxed);
  *sample = new cardan_sample{detail::sample_of<detail::Anything>(block), from.framer.take_parts()};
  return CARDAN_SAMPLE;
}

/// 0: it was not taken from a publisher's stream.
std::uint64_t publisher_of(const cardan::Sample<detail::Anything>& sample) noexcept {
  const cardan::detail::SampleBlock* const block = cardan::detail::block_of(sample);
  return block == nullptr || block->stream == nullptr ? 0 : block->stream->header.stream;
}

const std::uint8_t* bytes_of(const std::byte* bytes) noexcept { return reinterpret_cast<const std::uint8_t*>(bytes); }

}  // namespace

extern "C" {

const char* cardan_error(void) { return last_error().c_str(); }

cardan_subscriber* cardan_subscribe(const char* topic, const cardan_subscriber_options* given) {
  return guarded<cardan_subscriber*>(nullptr, [&] {
    const cardan_subscriber_options options = copy_of(given);
    const std::string name = text(topic);
    AnyType type = type_of_subscription(name, options);
    cardan::AnyMessageType described = type.message_type();
    return new cardan_subscriber{
        cardan::CdrFramer(std::move(type)),
        cardan::AnySubscriber(
            name, std::move(described), {.max_bytes = std::size_t{1} << 30, .access = access_of(options.access)},
            {.domain = text(options.domain),
             .holds = std::max<std::uint32_t>(options.holds, 1),
             .depth = options.depth,
             .reliable = options.best_effort == 0,
             .background = options.background != 0,
             .waiting = options.background != 0 ? std::optional<cardan::Waiting>(cardan::follow()) : std::nullopt,
             .not_via = text(options.not_via)})};
  });
}

void cardan_unsubscribe(cardan_subscriber* subscriber) { delete subscriber; }

int cardan_take(cardan_subscriber* subscriber, cardan_sample** sample) {
  *sample = nullptr;
  return guarded<int>(CARDAN_ERROR, [&] { return hand_over(*subscriber, subscriber->end.take(), sample); });
}

int cardan_wait(cardan_subscriber* subscriber, int64_t timeout_ns, cardan_sample** sample) {
  *sample = nullptr;
  return guarded<int>(CARDAN_ERROR, [&] {
    return hand_over(
        *subscriber,
        timeout_ns < 0 ? subscriber->end.wait() : subscriber->end.wait(std::chrono::nanoseconds(timeout_ns)), sample);
  });
}

int cardan_fd(cardan_subscriber* subscriber) {
  return guarded<int>(-1, [&] { return subscriber->end.fd(); });
}

uint64_t cardan_missed(const cardan_subscriber* subscriber) {
  return guarded<std::uint64_t>(0, [&] { return subscriber->end.missed(); });
}

size_t cardan_publishers(const cardan_subscriber* subscriber) { return subscriber->end.publishers(); }

const char* cardan_type(const cardan_subscriber* subscriber) { return subscriber->type().layout().name.c_str(); }

const char* cardan_definition(const cardan_subscriber* subscriber) {
  return subscriber->type().message_type().schema.c_str();
}

int cardan_sample_frame(const cardan_sample* sample, cardan_frame* frame) {
  return guarded<int>(-1, [&] {
    if (frame->struct_size < offsetof(cardan_frame, publisher) + sizeof(frame->publisher) ||
        frame->struct_size > kMostStruct)
      throw Error(ErrorCode::InvalidArgument, "struct_size of the frame is wrong", "set it to sizeof the frame");
    const cardan::CdrFrame& parts = sample->parts;
    give(cardan_frame{.struct_size = 0,
                      .prefix = bytes_of(parts.prefix.data()),
                      .prefix_size = parts.prefix.size(),
                      .payload = bytes_of(parts.payload.data()),
                      .payload_size = parts.payload.size(),
                      .suffix = bytes_of(parts.suffix.data()),
                      .suffix_size = parts.suffix.size(),
                      .sequence = sample->sample.sequence(),
                      .missed = sample->sample.missed(),
                      .publish_ns = sample->sample.publish_time(),
                      .source_ns = sample->sample.source_time(),
                      .publisher = publisher_of(sample->sample),
                      .origin_ns = sample->sample.origin_time()},
         frame);
    return 0;
  });
}

void cardan_release(cardan_sample* sample) { delete sample; }

cardan_publisher* cardan_advertise(const char* topic, const cardan_publisher_options* given) {
  return guarded<cardan_publisher*>(nullptr, [&] {
    const cardan_publisher_options options = copy_of(given);
    if (options.type == nullptr)
      throw Error(ErrorCode::InvalidArgument, "a publisher without a type", "set `type` of the options");
    AnyType type = type_named(options.type, options.definition);
    cardan::AnyMessageType described = type.message_type();
    const std::size_t payload = type.payload_bytes(options.max_bytes);
    if (options.max_memory != 0 && payload > options.max_memory)
      throw Error(ErrorCode::Limit,
                  "a message of " + std::to_string(options.max_bytes) + " bytes could need " + std::to_string(payload) +
                      " bytes of memory",
                  "allow more (max_memory), or give max_bytes as large as messages are");
    return new cardan_publisher{std::move(type),
                                cardan::AnyPublisher(text(topic), std::move(described),
                                                     {.max_bytes = payload,
                                                      .depth = std::max<std::uint32_t>(options.depth, 1),
                                                      .reliable = options.reliable != 0,
                                                      .access = access_of(options.access)},
                                                     {.domain = text(options.domain), .via = text(options.via)})};
  });
}

int cardan_publish(cardan_publisher* publisher, const void* cdr, size_t size, int64_t source_ns) {
  return guarded<int>(-1, [&] {
    cardan::AnyLoan loan = publisher->end.loan();
    if (!loan) {
      last_error() = Error(ErrorCode::Limit, "all slots of '" + publisher->end.topic() + "' are held",
                           "let subscribers hold fewer samples, or raise the depth")
                         .what();
      return -2;
    }
    fill(publisher->type, loan, cdr, size);
    loan.set_source_time(source_ns);
    loan.rests_on(std::exchange(publisher->basis, {}));
    publisher->end.publish(std::move(loan));
    return 0;
  });
}

void cardan_rests_on(cardan_publisher* publisher, const cardan_sample* sample) {
  publisher->basis.add(*cardan::detail::block_of(sample->sample));
}

void cardan_arrived_with_age(cardan_publisher* publisher, int64_t age_ns) {
  const std::int64_t now = cardan::steady_now();
  publisher->basis.add(
      cardan::detail::Basis{.origin_ns = age_ns < 0 || age_ns >= now ? cardan::detail::kUnknownOrigin : now - age_ns});
}

size_t cardan_subscribers(const cardan_publisher* publisher) {
  return guarded<std::size_t>(0, [&] { return publisher->end.subscribers(); });
}

void cardan_unadvertise(cardan_publisher* publisher) { delete publisher; }

char* cardan_topics_json(const char* domain) {
  return guarded<char*>(nullptr, [&] {
    const cardan::DomainReport report = cardan::look_around({.domain = text(domain)});
    struct Sum {
      std::string type;
      std::size_t publishers = 0, subscribers = 0;
      std::uint32_t depth = 0;
      std::uint64_t max_bytes = 0;
      bool reliable = false, is_owners = false;
      std::set<std::string> via;
    };
    std::map<std::string, Sum> sums;
    for (const cardan::PublisherReport& p : report.publishers) {
      Sum& sum = sums[p.topic];
      if (sum.type.empty()) sum.type = p.type;
      ++sum.publishers;
      sum.subscribers = std::max<std::size_t>(sum.subscribers, p.subscribers.size() + p.left_out);
      sum.depth = std::max(sum.depth, p.depth);
      sum.max_bytes = std::max(sum.max_bytes, p.max_bytes);
      sum.reliable = sum.reliable || p.reliable;
      sum.is_owners = sum.is_owners || p.is_owners;
      std::istringstream networks(p.via);
      for (std::string network; networks >> network;) sum.via.insert(network);
    }
    nlohmann::ordered_json topics = nlohmann::ordered_json::array();
    for (const auto& [name, sum] : sums)
      topics.push_back({{"topic", name},
                        {"type", sum.type},
                        {"publishers", sum.publishers},
                        {"subscribers", sum.subscribers},
                        {"depth", sum.depth},
                        {"max_bytes", sum.max_bytes},
                        {"reliable", sum.reliable},
                        {"owner", sum.is_owners},
                        {"via", sum.via}});
    const nlohmann::ordered_json all{
        {"run_directory", report.run_directory}, {"problems", report.problems}, {"topics", topics}};
    return given_away(cardan::text_of_json(all));
  });
}

char* cardan_type_description(const char* type, const char* definition) {
  return guarded<char*>(nullptr, [&] {
    if (type == nullptr) throw Error(ErrorCode::InvalidArgument, "a type without a name", "give its name");
    const std::string schema = definition_of(type, definition);
    std::string description = cardan::ros_type_description(type, schema);
    if (description.empty())
      throw Error(ErrorCode::InvalidArgument, text(type) + " has no description that ROS 2 could have",
                  "check its name and its definition");
    return given_away(description);
  });
}

void cardan_free(char* words) { std::free(words); }

void cardan_stop_on_signals(void) { cardan::stop_on_signals(); }

void cardan_request_stop(void) { cardan::request_stop(); }

int cardan_stopping(void) { return cardan::stopping() ? 1 : 0; }

}  // extern "C"
