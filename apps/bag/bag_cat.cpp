// SPDX-License-Identifier: Apache-2.0
// `cardan bag cat`: a file's messages with their fields.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "apps/bag/bag.hpp"
#include "apps/cdr_json.hpp"
#include "apps/decode.hpp"
#include "apps/protobuf/recorded.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/reader.hpp"
#include "cardan/stop.hpp"
#include "src/record/player/file_set.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;

/// Reads messages by what the file says of their types; each definition is looked at once.
class MessageDecoder {
 public:
  explicit MessageDecoder(std::size_t longest_list) : longest_list_(longest_list) {}

  /// A message of an encoding that is not known, or that does not fit its definition, becomes its size and first bytes.
  Json fields(const record::FileMessages::Next& next) {
    const mcap::MessageView& view = next.view;
    const std::span<const std::byte> data = view.message.data;
    if (view.channel->message_encoding == "json") {
      if (auto parsed = parse_json(data)) return *std::move(parsed);
    }
    if (const RosSchema* const schema = ros_schema_of(next))
      if (auto decoded = cdr_json(*schema, data, longest_list_)) return *decoded;
    if (view.channel->message_encoding == "protobuf" && view.schema != nullptr) {
      Protobuf& protobuf = protobuf_of(next);
      if (protobuf.type != nullptr)
        if (auto decoded = protobuf.type->read(data, longest_list_, protobuf.why)) return *std::move(decoded);
      if (!std::exchange(protobuf.told, true))
        warn(fmt::format("a message of {} is shown as bytes: {}", view.schema->name, protobuf.why));
    }
    return undecoded(view.channel->message_encoding, data);
  }

 private:
  /// Of a schema in one of the files, which count their own.
  using SchemaId = std::pair<std::size_t, std::uint16_t>;

  /// A type by its definition, which many files may have.
  struct Protobuf {
    std::unique_ptr<const ProtobufType> type;  ///< null: `why`
    std::string why;
    bool told = false;
  };

  const RosSchema* ros_schema_of(const record::FileMessages::Next& next) {
    const mcap::MessageView& view = next.view;
    if (view.schema == nullptr || view.channel->message_encoding != "cdr" || view.schema->encoding != "ros2msg")
      return nullptr;
    const auto [at, is_new] = ros_schemas_.try_emplace({next.file, view.schema->id});
    if (is_new) {
      try {
        at->second = std::make_unique<RosSchema>(
            view.schema->name,
            std::string_view(reinterpret_cast<const char*>(view.schema->data.data()), view.schema->data.size()));
      } catch (const Error& e) {
        warn(fmt::format("{}: {}", view.schema->name, e.what()));
      }
    }
    return at->second.get();
  }

  Protobuf& protobuf_of(const record::FileMessages::Next& next) {
    const mcap::Schema& schema = *next.view.schema;
    Protobuf*& found = protobufs_[{next.file, schema.id}];
    if (found == nullptr) {
      const auto [at, is_new] = definitions_.try_emplace({schema.name, schema.encoding, schema.data});
      if (is_new) at->second.type = protobuf_type(schema, at->second.why);
      found = &at->second;
    }
    return *found;
  }

  std::size_t longest_list_;
  std::map<SchemaId, std::unique_ptr<RosSchema>> ros_schemas_;
  std::map<SchemaId, Protobuf*> protobufs_;
  std::map<std::tuple<std::string, std::string, mcap::Bytes>, Protobuf> definitions_;
};

}  // namespace

int bag_cat(const BagCatOptions& o) {
  const record::FileSet files({o.file});
  record::FileMessages messages = selected_messages(files, read_options(o.selection, files, o.file));
  MessageDecoder decoder(o.list >= 0 ? static_cast<std::size_t>(o.list) : o.json ? 64 : 8);
  stop_on_signals();
  std::uint64_t shown = 0;
  while (const auto next = messages.next()) {
    const mcap::MessageView* const one = &next->view;
    Json fields = decoder.fields(*next);
    if (!o.fields.empty()) fields = pick_fields(fields, o.fields);
    const std::string text = o.json ? one_line({{"log_time", one->message.log_time},
                                                {"publish_time", one->message.publish_time},
                                                {"source_time", one->message.source_time},
                                                {"sequence", one->message.sequence},
                                                {"topic", one->channel->topic},
                                                {"message", std::move(fields)}}) +
                                          "\n"
                                    : fmt::format("{}  {}\n{}", stamp_text(one->message.log_time),
                                                  printable(one->channel->topic), readable(fields, 1));
    if (!emit(text)) return kFailed;
    if (stopping() || ++shown == o.count) break;
  }
  return tell_faults(files, messages) ? kLoss : kOk;
}

}  // namespace cardan::apps
