// SPDX-License-Identifier: Apache-2.0
// `cardan bag convert`: recordings of ROS 1 (.bag) and of ROS 2 in SQLite (.db3) as MCAP.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <tuple>

#include "apps/bag/bag.hpp"
#include "apps/bag/convert/message_files.hpp"
#include "apps/bag/convert/ros1_bag.hpp"
#include "apps/bag/convert/ros1_type.hpp"
#include "apps/bag/convert/ros2_definitions.hpp"
#include "apps/bag/convert/sqlite_bag.hpp"
#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "apps/terminal/progress.hpp"
#include "cardan/base/error.hpp"
#include "cardan/mcap/new_file.hpp"
#include "cardan/mcap/writer.hpp"
#include "cardan/record/name_patterns.hpp"
#include "cardan/record/recording_folder.hpp"
#include "cardan/record/ros2_form.hpp"
#include "cardan/transport/stop.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// What ROS 1's latching is in ROS 2, in the numbers of rosbag2: keep last 1, reliable, transient local.
constexpr std::uint32_t kLatchedDepth = 1;

/// A topic of the output, or one that is left out.
struct ConvertedTopic {
  std::string topic{}, type{};
  std::uint16_t channel = 0;
  std::string left_out{};  ///< why; empty: it is converted
  std::uint64_t messages = 0, failed = 0;
  std::string failure{};  ///< the first of them, in words
};

/// The output file, and the counts for its report.
class Conversion {
 public:
  explicit Conversion(const BagConvertOptions& o) : o_(o), file_(o.output, o.force) {}

  /// Once, before anything is added.
  void open(const std::string& was) {
    const std::string name = o_.compression == "same" ? was : o_.compression;
    mcap::WriterOptions options;
    options.compression = name == "lz4"                     ? mcap::Compression::Lz4
                          : name == "zstd" || name == "bz2" ? mcap::Compression::Zstd
                                                            : mcap::Compression::None;
    options.overwrite = [this](std::uint64_t offset, mcap::View bytes) { file_.overwrite(offset, bytes); };
    writer_.emplace([this](mcap::View bytes) { file_.write(bytes); }, std::move(options));
  }

  [[nodiscard]] bool wants(const std::string& topic) const {
    return (o_.topics.empty() || record::fits_one(o_.topics, topic)) && !record::fits_one(o_.exclude, topic);
  }

  /// Where the messages of a topic go; the same for what is alike in all of this.
  std::size_t add(const std::string& topic, const std::string& type, const std::string& encoding,
                  const std::string& definition, std::map<std::string, std::string> metadata) {
    // A strange letter is damage, and no file of MCAP may have it.
    if (printable(topic) != topic || printable(type) != type) return leave_out(topic, type, "its name is damaged");
    for (auto& [key, value] : metadata) value = printable_lines(value);
    const auto [at, is_new] =
        known_.try_emplace(std::tuple(topic, type, definition, metadata[record::kQosKey]), topics_.size());
    if (!is_new) return at->second;
    if (topics_.size() == 65'535) throw Error(ErrorCode::Limit, "more than 65,535 topics in one file", "exclude some");
    const auto [schema, schema_is_new] =
        schemas_.try_emplace(std::pair(type, definition), static_cast<std::uint16_t>(schemas_.size() + 1));
    const auto bytes = std::as_bytes(std::span(definition));
    if (schema_is_new)
      writer_->add(mcap::Schema{
          .id = schema->second, .name = type, .encoding = encoding, .data = mcap::Bytes(bytes.begin(), bytes.end())});
    const auto channel = static_cast<std::uint16_t>(topics_.size());
    writer_->add(mcap::Channel{.id = channel,
                               .schema_id = schema->second,
                               .topic = topic,
                               .message_encoding = "cdr",
                               .metadata = std::move(metadata)});
    topics_.push_back({.topic = topic, .type = type, .channel = channel});
    return at->second;
  }
  std::size_t leave_out(const std::string& topic, const std::string& type, std::string why) {
    topics_.push_back({.topic = topic, .type = type, .left_out = std::move(why)});
    return topics_.size() - 1;
  }

  void write(std::size_t topic, std::uint64_t time, mcap::View data) {
    ++topics_[topic].messages;
    writer_->write({.channel_id = topics_[topic].channel, .log_time = time, .publish_time = time, .data = data});
    ++messages_;
  }
  void fail(std::size_t topic, const char* why) {
    if (topics_[topic].failed++ == 0) topics_[topic].failure = why;
  }
  [[nodiscard]] bool left_out(std::size_t topic) const { return !topics_[topic].left_out.empty(); }

  void problem(const std::string& what) { problems_.push_back(what); }
  void note(std::string what) { notes_.push_back(std::move(what)); }
  void missing(std::uint64_t messages) { missing_ += messages; }

  /// False: it was stopped, and leaves nothing behind.
  bool go_on(std::uint64_t done, std::uint64_t all) {
    progress_.show(done, all);
    return !stopping();
  }

  int finish(const std::string& from) {
    writer_->add(mcap::Metadata{
        .name = "cardan.converted",
        .metadata = {{"from", fs::path(from).filename().string()}, {"missing_messages", std::to_string(missing_)}}});
    writer_->close();
    file_.finish();
    for (const ConvertedTopic& t : topics_) {
      if (!t.left_out.empty() && t.failed == 0)
        note(fmt::format("{} ({}) is left out, and has no messages: {}", printable(t.topic), printable(t.type),
                         t.left_out));
      else if (!t.left_out.empty())
        problem(fmt::format("{} ({}) is left out, with {} messages: {}", printable(t.topic), printable(t.type),
                            t.failed, t.left_out));
      else if (t.failed > 0)
        problem(fmt::format("{}: {} messages could not be converted: {}", t.topic, t.failed, t.failure));
    }
    if (missing_ > 0) problem(fmt::format("{} messages could not be read", missing_));
    for (const std::string& note : notes_) warn(note);
    for (const std::string& what : problems_) warn(what);
    if (!emit(o_.json ? report_json() : report_text())) return kFailed;
    return problems_.empty() ? kOk : kLoss;
  }

 private:
  [[nodiscard]] std::string report_json() const {
    Json topics = Json::array();
    for (const ConvertedTopic& t : topics_)
      topics.push_back({{"topic", t.topic},
                        {"type", t.type},
                        {"messages", t.messages},
                        {"failed", t.failed},
                        {"why", !t.left_out.empty()  ? Json(t.left_out)
                                : !t.failure.empty() ? Json(t.failure)
                                                     : Json()}});
    return json_lines({{"output", o_.output},
                       {"messages", messages_},
                       {"bytes", writer_->bytes()},
                       {"missing", missing_},
                       {"topics", topics},
                       {"problems", problems_},
                       {"notes", notes_},
                       {"lost", !problems_.empty()}});
  }
  [[nodiscard]] std::string report_text() const {
    return fmt::format("{}: {} messages of {} topics, {}{}\n", printable(o_.output), messages_,
                       std::count_if(topics_.begin(), topics_.end(), [](const auto& t) { return t.left_out.empty(); }),
                       bytes_text(static_cast<double>(writer_->bytes())),
                       problems_.empty() ? "" : "; something was lost, see above");
  }

  const BagConvertOptions& o_;
  mcap::NewFile file_;
  std::optional<mcap::Writer> writer_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> known_;
  std::map<std::pair<std::string, std::string>, std::uint16_t> schemas_;
  std::vector<ConvertedTopic> topics_;
  std::vector<std::string> problems_, notes_;
  std::uint64_t messages_ = 0, missing_ = 0;
  Progress progress_;
};

/// What ROS 2's tools look for, beside what ROS 1 said of the connection.
std::map<std::string, std::string> ros1_metadata(const Ros1Connection& c, const std::set<std::string_view>& callers,
                                                 const Ros1Type& type) {
  std::map<std::string, std::string> out{
      {record::kQosKey, c.latching ? record::offered_qos(kLatchedDepth) : std::string()}};
  if (const std::string hash = record::ros_type_hash(type.name(), type.schema()); !hash.empty())
    out[record::kRosTypeHashKey] = hash;
  std::string names;
  for (const std::string_view caller : callers) {
    if (!names.empty()) names += ", ";
    names += caller;
  }
  if (!names.empty()) out["ros1.callerid"] = names;
  if (c.latching) out["ros1.latching"] = "1";
  if (!c.md5.empty()) out["ros1.md5sum"] = c.md5;
  return out;
}

class Ros1Conversion {
 public:
  Ros1Conversion(const std::string& path, Conversion& out) : bag_(path), out_(out), path_(path) {}

  bool run() {
    auto message = bag_.next();  // tells how the file is compressed
    out_.open(bag_.compression());
    for (const auto& [id, connection] : bag_.connections()) {
      if (stopping()) return false;
      (void)target_of(id);
    }
    std::uint64_t seen = 0;
    for (; message; message = bag_.next()) {
      ++seen;
      if (seen % 256 == 0 && !out_.go_on(seen, 0)) return false;
      const Target& target = target_of(message->connection);
      if (!target.where) continue;
      if (out_.left_out(*target.where))
        out_.fail(*target.where, "");
      else if (target.type->to_cdr(message->data, cdr_))
        out_.write(*target.where, message->time, cdr_);
      else
        out_.fail(*target.where, "their bytes are not those of the type that the file names");
    }
    if (stopping()) return false;
    for (const mcap::Problem& p : bag_.problems())
      out_.problem(fmt::format("{}, byte {}: {}", path_, p.offset, p.cause));
    if (bag_.unnamed_problems() > 0) out_.problem(fmt::format("… and {} more", bag_.unnamed_problems()));
    out_.missing(bag_.missing());
    if (bag_.unfinished()) out_.note(fmt::format("{} was never closed: it has no index", path_));
    return true;
  }

 private:
  struct Target {
    std::optional<std::size_t> where{};  ///< empty: nobody wants it
    std::shared_ptr<const Ros1Type> type{};
  };

  /// The same of all connections that become one channel.
  const Target& target_of(std::uint32_t id) {
    const auto [at, is_new] = targets_.try_emplace(id);
    if (is_new) {
      const Ros1Connection& c = bag_.connections().at(id);
      const auto [channel, channel_is_new] = channels_.try_emplace(&c);
      if (channel_is_new && out_.wants(c.topic)) channel->second = new_target(c);
      at->second = &channel->second;
    }
    return *at->second;
  }

  Target new_target(const Ros1Connection& c) {
    std::string why;
    auto type = type_of(c, why);
    const std::size_t where = type == nullptr ? out_.leave_out(c.topic, c.type, why)
                                              : out_.add(c.topic, type->name(), "ros2msg", type->schema(),
                                                         ros1_metadata(c, bag_.callers(c), *type));
    return {where, std::move(type)};
  }

  std::shared_ptr<const Ros1Type> type_of(const Ros1Connection& c, std::string& why) {
    const auto [at, is_new] = types_.try_emplace(std::pair(c.type, c.definition));
    if (is_new) {
      try {
        if (c.definition.empty() && !c.type.ends_with("/Empty"))
          throw Error(ErrorCode::InvalidArgument, "the file does not define it", "");
        at->second.first = std::make_shared<const Ros1Type>(c.type, c.definition);
      } catch (const Error& e) {
        at->second.second = e.cause();
      }
    }
    why = at->second.second;
    return at->second.first;
  }

  Ros1Bag bag_;
  Conversion& out_;
  std::string path_;
  std::map<const Ros1Connection*, Target, AsOneChannel> channels_;
  std::map<std::uint32_t, const Target*> targets_;
  std::map<std::pair<std::string, std::string>, std::pair<std::shared_ptr<const Ros1Type>, std::string>> types_;
  std::vector<std::byte> cdr_;
};

/// False: it was stopped.
bool convert_sqlite(const std::string& path, const MessageFiles& messages, Conversion& out) {
  SqliteBag bag(path);
  std::map<std::int64_t, std::size_t> targets;
  for (const auto& [id, topic] : bag.topics()) {
    if (!out.wants(topic.name)) continue;
    std::string encoding = topic.definition_encoding, definition = topic.definition, missing;
    const bool given = (encoding == "ros2msg" || encoding == "ros2idl") && !definition.empty();
    if (!given) {
      encoding = "ros2msg";
      definition = messages.definition_of(topic.type, &missing);
      if (definition.empty()) definition = ros2_definition_of(topic.type);
    }
    if (topic.format != "cdr") {
      targets[id] = out.leave_out(topic.name, topic.type, fmt::format("its messages are '{}', not cdr", topic.format));
    } else if (definition.empty() && !topic.type.ends_with("/Empty")) {
      targets[id] = out.leave_out(topic.name, topic.type,
                                  fmt::format("nobody defines {}: name the folder of its package with --msgs, or "
                                              "source the workspace that has it",
                                              missing));
    } else {
      std::map<std::string, std::string> metadata{{record::kQosKey, topic.qos}};
      const std::string hash = topic.hash.empty() && encoding == "ros2msg" && given
                                   ? record::ros_type_hash(topic.type, definition)
                                   : topic.hash;
      if (!hash.empty()) metadata[record::kRosTypeHashKey] = hash;
      targets[id] = out.add(topic.name, topic.type, encoding, definition, std::move(metadata));
    }
  }
  std::uint64_t seen = 0, unknown = 0;
  while (const auto message = bag.next()) {
    ++seen;
    if (seen % 256 == 0 && !out.go_on(seen, 0)) return false;
    const auto target = targets.find(message->topic);
    if (target == targets.end()) {
      if (!bag.topics().contains(message->topic)) ++unknown;
    } else if (out.left_out(target->second)) {
      out.fail(target->second, "");
    } else if (message->time < 0 || message->data.size() < 4) {
      out.fail(target->second, "they have no time, or no CDR");
    } else {
      out.write(target->second, static_cast<std::uint64_t>(message->time), message->data);
    }
  }
  if (stopping()) return false;
  for (const std::string& what : bag.problems()) out.problem(fmt::format("{}: {}", path, what));
  if (unknown > 0) out.problem(fmt::format("{}: {} messages belong to topics that it does not name", path, unknown));
  out.missing(bag.missing() + unknown);
  return true;
}

enum class Format : std::uint8_t { Ros1, Sqlite };

Format format_of(const std::string& path) {
  const mcap::InputFile file(path);
  std::array<std::byte, 16> first{};
  const std::string_view magic(reinterpret_cast<const char*>(first.data()), file.read(0, first));
  if (magic.starts_with("#ROSBAG V")) return Format::Ros1;
  if (magic.starts_with("SQLite format 3")) return Format::Sqlite;
  if (path.ends_with(".zstd"))
    throw Error(ErrorCode::InvalidArgument, path + " is compressed as a whole", "unpack it first: zstd -d " + path);
  throw Error(ErrorCode::InvalidArgument,
              path + (magic.find("MCAP") == 1 ? " is an MCAP file already" : " is not a recording of ROS"),
              "name a .bag of ROS 1, or a .db3 of ROS 2 or its folder");
}

}  // namespace

int bag_convert(const BagConvertOptions& o) {
  const record::RecordingFiles inputs = record::recording_files({o.input}, {".db3"});
  if (inputs.metadata.compression_mode == "message" || inputs.metadata.compression_mode == "MESSAGE")
    throw Error(ErrorCode::InvalidArgument, o.input + " has its messages compressed one by one",
                "`ros2 bag convert` unpacks them");
  for (const std::string& path : inputs.files) {
    std::error_code ignored;
    if (fs::equivalent(path, o.output, ignored))
      throw Error(ErrorCode::InvalidArgument, "the output is the input " + path, "name another file");
  }
  const Format format = format_of(inputs.files.front());
  for (const std::string& path : inputs.files)
    if (format_of(path) != format)
      throw Error(ErrorCode::InvalidArgument, o.input + " holds recordings of two kinds",
                  "convert one after the other");
  const MessageFiles messages(o.messages);
  stop_on_signals();
  if (format == Format::Sqlite) (void)SqliteBag(inputs.files.front());  // what cannot be done leaves nothing behind
  Conversion out(o);
  for (const std::string& note : inputs.notes) out.note(note);
  for (const std::string& problem : inputs.problems) out.problem(problem);
  if (format == Format::Sqlite) out.open("none");
  for (const std::string& path : inputs.files) {
    const bool done = format == Format::Ros1 ? Ros1Conversion(path, out).run() : convert_sqlite(path, messages, out);
    if (done) continue;
    warn(fmt::format("stopped; {} was not written", o.output));
    return kFailed;
  }
  return out.finish(o.input);
}

}  // namespace cardan::apps
