// SPDX-License-Identifier: Apache-2.0
// `cardan topic pub`: publishes a message that is written as JSON.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "apps/decode.hpp"
#include "apps/message/encode.hpp"
#include "apps/message/find_type.hpp"
#include "apps/terminal/numbers.hpp"
#include "apps/terminal/output.hpp"
#include "apps/topic/topic.hpp"
#include "cardan/any_publisher.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/observer.hpp"
#include "cardan/stop.hpp"
#include "src/messages/layout_cdr.hpp"

namespace cardan::apps {
namespace {

using namespace std::chrono_literals;
using nlohmann::ordered_json;

constexpr std::size_t kMostInput = std::size_t{16} << 20;
/// A topic exists at least this long: programs that wait for it find it within some milliseconds, and `topic echo
/// --wait` looks five times a second.
constexpr std::int64_t kLeastLifeNs = 1'000'000'000;
constexpr std::uint32_t kDepth = 10, kDepthOfLarge = 4;
constexpr std::size_t kLarge = std::size_t{1} << 20;

/// Standard input to its end.
std::string input_text() {
  std::string text;
  std::array<char, 65536> piece{};
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got == 0) return text;
    if (got < 0 && errno == EINTR && !stopping()) continue;
    if (got < 0)
      throw Error(ErrorCode::System, "cannot read standard input: " + std::generic_category().message(errno),
                  "write the message after the type instead of -");
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > kMostInput)
      throw Error(ErrorCode::Limit, fmt::format("the message has more than {} MiB of text", kMostInput >> 20U),
                  "publish large messages with a program");
  }
}

/// The message, also of a whole line of `topic echo --json`.
ordered_json message_of(const std::string& text, const TypeLayout& type) {
  std::string why;
  auto message = parse_json(std::as_bytes(std::span(text)), &why);
  if (!message)
    throw Error(ErrorCode::InvalidArgument, "the message is not JSON: " + why,
                "write it as {\"field\": value}, in quotation marks of the shell");
  const bool has =
      std::any_of(type.fields.begin(), type.fields.end(), [](const auto& f) { return f.name == "message"; });
  if (!has && message->is_object() && message->contains("publish_time_ns") && message->contains("message"))
    return ordered_json(std::move((*message)["message"]));
  return *std::move(message);
}

/// Other programs trust that a topic has one type; one that has another publisher is not ours to add to unasked.
void check_others(const PubOptions& o, const AnyType& type) {
  if (o.topic.starts_with("/cardan/"))
    throw Error(ErrorCode::Refused, fmt::format("'{}' is one of Cardan's own topics", o.topic),
                "use the command that it belongs to: cardan param set, cardan run --restart, cardan play --tell");
  if (!o.with_others) return;
  const Observer observer(o.topic, {.domain = o.domain});
  for (const auto& stream : observer.streams())
    if (is_of_this_user(*stream) && stream->type_hash() != type.message_type().hash)
      throw Error(ErrorCode::Incompatible,
                  fmt::format("{} (pid {}) publishes '{}' as {}{}", stream->program(), stream->pid(), o.topic,
                              stream->type(), stream->type() == type.message_type().name ? " of another layout" : ""),
                  "use its type, or another topic");
}

std::unique_ptr<AnyPublisher> publisher_for(const PubOptions& o, const AnyType& type, std::size_t payload) {
  check_others(o, type);
  const TopicOptions topic{.max_bytes = payload,
                           .depth = payload > kLarge ? kDepthOfLarge : kDepth,
                           .reliable = true,
                           .exclusive = !o.with_others};
  try {
    return std::make_unique<AnyPublisher>(o.topic, type.message_type(), topic, PublisherOptions{.domain = o.domain});
  } catch (const Error& e) {
    if (e.code() != ErrorCode::NameTaken) throw;
    const auto others = look_around({.domain = o.domain}, o.topic).publishers;
    throw Error(ErrorCode::NameTaken,
                others.empty() ? e.cause()
                               : fmt::format("{} (pid {}) already publishes '{}'", others.front().program,
                                             others.front().pid, o.topic),
                "publish another topic, end that program first, or publish in addition to it: --with-others");
  }
}

class Pub {
 public:
  Pub(const PubOptions& o, AnyType type, ordered_json message)
      : o_(o),
        type_(std::move(type)),
        message_(std::move(message)),
        publisher_(publisher_for(o, type_, encoded_payload(type_.layout(), message_))),
        born_(steady_now()) {}

  int run() {
    if (!wait_for_readers()) return kFailed;
    const std::uint64_t count = o_.count != 0 ? o_.count : o_.rate > 0 ? 0 : 1;
    const double period_ns = 1e9 / (o_.rate > 0 ? o_.rate : 1);
    const std::int64_t begin = steady_now();
    for (std::uint64_t done = 0; (count == 0 || done < count) && !stopping();) {
      publish();
      if (++done == count) break;
      const std::int64_t due = begin + static_cast<std::int64_t>(period_ns * static_cast<double>(done));
      if (!sleep_for(std::chrono::nanoseconds(std::max<std::int64_t>(due - steady_now(), 0)))) break;
    }
    linger();
    return report();
  }

 private:
  bool wait_for_readers() const {
    if (o_.wait_for_readers.empty()) return true;
    const auto wanted = static_cast<std::size_t>(option_number("--wait-for-readers", o_.wait_for_readers, 1, 10'000));
    if (publisher_->subscribers() < wanted)
      warn(fmt::format("waiting for {} of '{}' (--wait-for-readers); topic echo and top only look, and do not count",
                       number_of(wanted, "subscription"), o_.topic));
    while (publisher_->subscribers() < wanted)
      if (!sleep_for(1ms)) return false;
    return true;
  }

  void publish() {
    AnyLoan loan = publisher_->loan();
    if (loan && loan.arena() != nullptr) bind(type_.layout(), loan.message(), *loan.arena());
    if (!loan || !encode(type_.layout(), message_, loan.message()))
      throw Error(ErrorCode::NoMemory, "there is no room for the message", "`cardan doctor` may show why");
    if (!publisher_->publish(std::move(loan))) ++too_slow_;
  }

  /// Until those that wait for the topic have found it, and reliable ones have what was published.
  void linger() const {
    while (steady_now() < born_ + kLeastLifeNs && sleep_for(5ms)) {
    }
    if (!stopping() && publisher_->subscribers() != 0) (void)publisher_->wait_for_readers(1s);
  }

  int report() const {
    const std::size_t readers = publisher_->subscribers();
    const std::uint64_t published = publisher_->published();
    const ordered_json all{{"topic", o_.topic},
                           {"type", type_.message_type().name},
                           {"published", published},
                           {"subscribers", readers},
                           {"too_slow", too_slow_}};
    const std::string text = fmt::format("{} on {} as {}, {}", number_of(published, "message"), printable(o_.topic),
                                         printable(type_.message_type().name), number_of(readers, "subscriber"));
    if (!emit((o_.json ? one_line(all) : text) + "\n")) return kFailed;
    if (readers == 0 && o_.rate <= 0)
      warn(fmt::format("no program subscribes to '{}' — --wait-for-readers waits for one", o_.topic));
    if (too_slow_ != 0) warn(fmt::format("{} found a reliable subscriber too slow", number_of(too_slow_, "message")));
    return too_slow_ != 0 ? kLoss : kOk;
  }

  const PubOptions& o_;
  AnyType type_;
  ordered_json message_;
  std::unique_ptr<AnyPublisher> publisher_;
  std::int64_t born_;
  std::uint64_t too_slow_ = 0;
};

}  // namespace

int topic_pub(const PubOptions& o) {
  stop_on_signals();
  const AnyType type = find_type({.name = o.type, .folders = o.msgs, .topic = o.topic, .domain = o.domain});
  const std::string text = o.message == "-" ? input_text() : o.message;
  if (stopping()) return kFailed;
  return Pub(o, type, message_of(text, type.layout())).run();
}

}  // namespace cardan::apps
