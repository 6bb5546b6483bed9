// SPDX-License-Identifier: Apache-2.0
// `cardan topic echo`: prints copies of a topic's messages.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "apps/decode.hpp"
#include "apps/protobuf/protobuf.hpp"
#include "apps/terminal/output.hpp"
#include "apps/topic/topic.hpp"
#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/observer.hpp"
#include "cardan/stop.hpp"
#include "cardan/type_layout.hpp"
#include "src/runtime/encoded_form.hpp"

namespace cardan::apps {
namespace {

using namespace std::chrono_literals;
using nlohmann::ordered_json;

constexpr auto kLook = 1ms;
constexpr std::int64_t kRefreshNs = 200'000'000;

class Echo {
 public:
  explicit Echo(const EchoOptions& options) : o_(options), observer_(options.topic, {.domain = options.domain}) {}

  int run() {
    if (observer_.streams().empty()) {
      for (const std::string& problem : observer_.problems()) warn(problem);
      if (!observer_.problems().empty() && !o_.wait) return kFailed;
      if (!o_.wait) return no_such_topic(o_.domain, o_.topic);
      warn(fmt::format("waiting for a publisher of '{}'", o_.topic));
    }
    tell_problems();
    std::int64_t refresh_at = steady_now() + kRefreshNs;
    for (;;) {
      if (!print_new()) return kFailed;
      if (finished()) break;
      if (steady_now() >= refresh_at) {
        refresh_at = steady_now() + kRefreshNs;
        const bool had_some = !observer_.streams().empty();
        observer_.refresh();
        tell_problems();
        if (observer_.streams().empty() && had_some && !o_.wait) {
          warn(fmt::format("the last publisher of '{}' has ended", o_.topic));
          if (o_.count != 0 || o_.once) return kFailed;
          break;
        }
      }
      if (!sleep_for(kLook)) break;
    }
    if (passed_over_ != 0)
      warn(fmt::format("{} publications were skipped between those shown: they came faster than 1,000 polls a second",
                       passed_over_));
    return passed_over_ != 0 ? kLoss : kOk;
  }

 private:
  [[nodiscard]] bool finished() const {
    return (o_.once && shown_ != 0) || (o_.count != 0 && shown_ >= o_.count) || stopping();
  }

  /// Notes on what is not shown; each once, and not all of a topic with many.
  void tell_problems() {
    constexpr std::size_t kMost = 16;
    if (observer_.streams().empty()) return;
    for (const std::string& problem : observer_.problems())
      if (told_.size() < kMost && told_.insert(problem).second) warn(problem);
  }

  /// False: standard output is closed.
  bool print_new() {
    std::shared_ptr<const ObservedStream> from;
    if (o_.once) {
      return !observer_.copy_latest(sample_, &from) || print(*from);
    }
    while (!finished() && observer_.copy_next(sample_, &from)) {
      if (started_.contains(from.get())) passed_over_ += sample_.passed_over();
      started_[from.get()] = from;
      if (!print(*from)) return false;
    }
    return true;
  }

  const TypeLayout* layout_of(const ObservedStream& stream) {
    const auto [it, fresh] = layouts_.try_emplace(stream.type_hash());
    if (fresh) {
      it->second = find_layout(stream.type(), stream.type_hash(), stream.schema());
      if (it->second == nullptr)
        warn(
            fmt::format("the memory layout of {} is not known here; its bytes are shown instead — only types whose "
                        "layout follows from their schema are decoded, not those with alignas or bit fields",
                        stream.type()));
    }
    return it->second.get();
  }

  const ProtobufType* protobuf_of(const ObservedStream& stream, const std::string& schema) {
    const auto [at, is_new] = protobufs_.try_emplace({stream.type(), schema});
    std::string why;
    if (is_new) at->second = protobuf_type(stream.type(), std::as_bytes(std::span(schema)), why);
    if (is_new && at->second == nullptr) tell_undecoded(stream, why);
    return at->second.get();
  }

  void tell_undecoded(const ObservedStream& stream, const std::string& why) {
    if (told_undecoded_.insert(stream.type_hash()).second)
      warn(fmt::format("a message of {} is shown as bytes: {}", stream.type(), why));
  }

  /// The fields of a message that is encoded. Empty: it is not decoded; the reason was printed.
  std::optional<ordered_json> decode_object(const ObservedStream& stream, std::string_view encoding,
                                            const std::string& schema, std::span<const std::byte> bytes) {
    std::string why = "it is encoded by a codec of its program";
    if (encoding == "json") {
      if (auto parsed = parse_json(bytes)) return parsed;
      why = kNotShownJson;
    } else if (encoding == "protobuf") {
      const ProtobufType* const type = protobuf_of(stream, schema);
      if (type == nullptr) return std::nullopt;
      if (auto fields = type->read(bytes, longest(), why)) return fields;
    }
    tell_undecoded(stream, why);
    return std::nullopt;
  }

  [[nodiscard]] std::size_t longest() const {
    return o_.list >= 0 ? static_cast<std::size_t>(o_.list) : o_.json ? 64 : 8;
  }

  /// Only the fields that are wanted; of a message that is not decoded, what is known of it.
  ordered_json message_of(const ObservedStream& stream) {
    std::optional<ordered_json> fields;
    const std::string schema = stream.schema();
    if (const char* const encoding = detail::encoding_of(stream.type(), stream.type_hash(), schema)) {
      const auto bytes = encoded_bytes(sample_);
      if (!bytes) return undecoded(sample_);
      fields = decode_object(stream, encoding, schema, *bytes);
      if (!fields) return undecoded(encoding, *bytes);
    } else if (const TypeLayout* const layout = layout_of(stream)) {
      fields = decode(*layout, sample_, longest());
    } else {
      return undecoded(sample_);
    }
    return o_.fields.empty() ? *std::move(fields) : pick_fields(*fields, o_.fields);
  }

  bool print(const ObservedStream& stream) {
    ++shown_;
    const ordered_json message = message_of(stream);
    const double age = static_cast<double>(steady_now() - sample_.publish_time());
    if (o_.json) {
      const ordered_json line{{"topic", o_.topic},
                              {"type", stream.type()},
                              {"program", stream.program()},
                              {"pid", stream.pid()},
                              {"sequence", sample_.sequence()},
                              {"passed_over", sample_.passed_over()},
                              {"publish_time_ns", sample_.publish_time()},
                              {"source_time_ns", sample_.source_time()},
                              {"age_ms", age / 1e6},
                              {"payload_bytes", sample_.payload().size()},
                              {"message", message}};
      return emit(one_line(line) + "\n");
    }
    std::string head = fmt::format("--- {} #{}, {} (pid {}), {} ago", printable(o_.topic), sample_.sequence(),
                                   printable(stream.program()), stream.pid(), time_text(age));
    if (sample_.passed_over() != 0 && shown_ > 1) head += fmt::format(", {} skipped", sample_.passed_over());
    return emit(head + "\n" + readable(message));
  }

  const EchoOptions& o_;
  Observer observer_;
  ObservedSample sample_;
  std::map<std::uint64_t, std::shared_ptr<const TypeLayout>> layouts_;
  std::map<const ObservedStream*, std::shared_ptr<const ObservedStream>>
      started_;  ///< kept, so that no other gets the same address
  std::map<std::pair<std::string, std::string>, std::unique_ptr<const ProtobufType>> protobufs_;
  std::set<std::string> told_;
  std::set<std::uint64_t> told_undecoded_;
  std::uint64_t shown_ = 0;
  std::uint64_t passed_over_ = 0;
};

}  // namespace

int topic_echo(const EchoOptions& o) {
  stop_on_signals();
  try {
    return Echo(o).run();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::InvalidArgument) throw;
    warn(e.what());  // a field or a domain that cannot be
    return kUsage;
  }
}

}  // namespace cardan::apps
