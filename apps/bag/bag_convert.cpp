// SPDX-License-Identifier: Apache-2.0
// `cardan bag convert`: recordings of ROS 1 (.bag) and of ROS 2 in SQLite (.db3) as MCAP, and all of them as .db3.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "apps/bag/bag.hpp"
#include "apps/bag/convert/bag_kind.hpp"
#include "apps/bag/convert/conversion.hpp"
#include "apps/bag/convert/ros1_bag.hpp"
#include "apps/bag/convert/ros1_type.hpp"
#include "apps/bag/convert/sqlite_bag.hpp"
#include "apps/decode.hpp"
#include "apps/message/message_files.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "src/mcap/ros2_profile.hpp"
#include "src/messages/ros2_definitions.hpp"
#include "src/record/metadata.hpp"
#include "src/record/player/file_set.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;

/// ROS 1's latching as a profile of ROS 2, in the numbers of rosbag2: keep last 1, reliable, transient local.
constexpr std::uint32_t kLatchedDepth = 1;

/// Metadata that ROS 2's tools look for, in addition to that of the ROS 1 connection.
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

/// The definition of a type of ROS 2: the file, else the folders of definitions, else what is built in.
struct Definition {
  std::string encoding{}, text{};
  bool given = false;     ///< by the file
  std::string missing{};  ///< a type that nobody defines

  Definition(const std::string& type, std::string its_encoding, std::string its_text, const MessageFiles& messages)
      : encoding(std::move(its_encoding)), text(std::move(its_text)) {
    given = !text.empty() ? encoding == "ros2msg" || encoding == "ros2idl"
                          : encoding == "ros2msg" && type.ends_with("/Empty");
    if (given) return;
    encoding = "ros2msg";
    text = messages.definition_of(type, &missing);
    if (text.empty()) text = known_definition(type).value_or("");
  }
};

/// Where the messages of a topic of ROS 2 go.
std::size_t add_ros2(Conversion& out, const std::string& topic, const std::string& type, const Definition& definition,
                     const std::string& qos, const std::string& known_hash) {
  if (definition.text.empty() && !type.ends_with("/Empty"))
    return out.leave_out(topic, type,
                         fmt::format("nobody defines {}: name the folder of its package with --msgs, or "
                                     "source the workspace that has it",
                                     definition.missing));
  std::map<std::string, std::string> metadata{{record::kQosKey, qos}};
  const std::string hash = known_hash.empty() && definition.encoding == "ros2msg" && definition.given
                               ? record::ros_type_hash(type, definition.text)
                               : known_hash;
  if (!hash.empty()) metadata[record::kRosTypeHashKey] = hash;
  return out.add(topic, type, definition.encoding, definition.text, std::move(metadata));
}

/// False: it was stopped.
bool convert_sqlite(const std::string& path, const MessageFiles& messages, Conversion& out) {
  SqliteBag bag(path);
  out.open("none");
  std::map<std::int64_t, std::size_t> targets;
  for (const auto& [id, topic] : bag.topics()) {
    if (!out.wants(topic.name)) continue;
    if (topic.format != "cdr")
      targets[id] = out.leave_out(topic.name, topic.type, fmt::format("its messages are '{}', not cdr", topic.format));
    else
      targets[id] =
          add_ros2(out, topic.name, topic.type, {topic.type, topic.definition_encoding, topic.definition, messages},
                   topic.qos, topic.hash);
  }
  mcap::PackedMessages packed(bag.bytes());
  mcap::Bytes unpacked;
  std::uint64_t seen = 0, unknown = 0;
  while (const auto message = bag.next()) {
    ++seen;
    if (seen % 256 == 0 && !out.go_on(seen, 0)) return false;
    const auto target = targets.find(message->topic);
    mcap::View data = message->data;
    const bool is_packed = mcap::PackedMessages::is_packed(data);
    if (target == targets.end()) {
      if (!bag.topics().contains(message->topic)) ++unknown;
    } else if (out.left_out(target->second)) {
      out.fail(target->second, "");
    } else if (const std::string why = is_packed ? packed.unpack(data, unpacked) : ""; !why.empty()) {
      out.fail(target->second, why);
    } else if (message->time < 0 || data.size() < 4) {
      out.fail(target->second, "they have no time, or no CDR");
    } else {
      if (is_packed) data = unpacked;
      out.write(target->second, static_cast<std::uint64_t>(message->time), data);
    }
  }
  if (stopping()) return false;
  for (const std::string& what : bag.problems()) out.problem(fmt::format("{}: {}", path, what));
  if (unknown > 0) out.problem(fmt::format("{}: {} messages belong to topics that it does not name", path, unknown));
  out.missing(bag.missing() + unknown);
  return true;
}

/// MCAP as .db3: what ROS 2 writes, and nothing else.
class McapConversion {
 public:
  McapConversion(const std::string& input, const MessageFiles& messages, Conversion& out)
      : files_({input}), messages_(messages), out_(out), targets_(files_.readers().size()) {}

  bool run() {
    out_.open("none");
    for (std::size_t file = 0; file < files_.readers().size(); ++file)
      for (const auto& [id, channel] : files_.readers()[file]->summary().channels())
        if (out_.wants(channel.topic)) targets_[file][id] = target_of(*files_.readers()[file], channel);
    record::FileMessages messages(files_, 0, std::numeric_limits<std::uint64_t>::max(),
                                  [this](std::size_t, const mcap::Channel& c) { return out_.wants(c.topic); });
    std::uint64_t seen = 0;
    while (const auto next = messages.next()) {
      ++seen;
      if (seen % 256 == 0 && !out_.go_on(seen, 0)) return false;
      const std::size_t target = targets_[next->file].at(next->view.channel->id);
      if (out_.left_out(target))
        out_.fail(target, "");
      else
        out_.write(target, next->view.message);
    }
    if (stopping()) return false;
    tell_faults_of(messages);
    tell_parts();
    return true;
  }

 private:
  std::size_t target_of(const mcap::Reader& reader, const mcap::Channel& channel) {
    const auto found = reader.summary().schemas().find(channel.schema_id);
    const bool has_schema = found != reader.summary().schemas().end();
    const std::string type = has_schema ? found->second.name : std::string();
    if (!has_schema || !mcap::as_ros2_writes(channel, found->second))
      return out_.leave_out(
          channel.topic, type,
          fmt::format("a .db3 holds messages of ROS 2 (cdr with ros2msg or ros2idl), and its are '{}' with '{}'",
                      channel.message_encoding, has_schema ? found->second.encoding : "no schema"));
    const auto value = [&](const char* key) {
      const auto at = channel.metadata.find(key);
      return at == channel.metadata.end() ? std::string() : at->second;
    };
    const mcap::Schema& schema = found->second;
    const std::string text(reinterpret_cast<const char*>(schema.data.data()), schema.data.size());
    return add_ros2(out_, channel.topic, type, {type, schema.encoding, text, messages_}, value(record::kQosKey),
                    value(record::kRosTypeHashKey));
  }

  void tell_faults_of(const record::FileMessages& messages) {
    for (const record::FileProblem& p : messages.problems())
      out_.problem(
          fmt::format("{}, byte {}: {}", files_.readers()[p.file]->file().path(), p.problem.offset, p.problem.cause));
    for (const std::string& problem : files_.problems()) out_.problem(problem);
    for (const std::string& note : files_.notes()) out_.note(note);
    for (const auto& reader : files_.readers()) {
      if (reader->complete()) continue;
      const std::string what = fmt::format("{} is not finished: {} (byte {})", reader->file().path(),
                                           reader->finish().cause, reader->finish().valid);
      if (reader->finish().how == mcap::Finish::How::Damaged)
        out_.problem(what);
      else
        out_.note(what);
    }
  }

  void tell_parts() {
    std::size_t attachments = 0, metadata = 0;
    for (const auto& reader : files_.readers()) {
      attachments += reader->summary().attachments().size();
      for (const mcap::MetadataIndex& m : reader->summary().metadata())
        if (!m.name.starts_with("cardan.") && m.name != "rosbag2") ++metadata;
    }
    if (attachments > 0)
      out_.problem(fmt::format(
          "{} attachments are left out: a .db3 has no place for them (cardan bag attachment extract)", attachments));
    if (metadata > 0)
      out_.problem(fmt::format(
          "{} metadata records are left out: a .db3 has no place for them (cardan bag metadata list)", metadata));
  }

  record::FileSet files_;
  const MessageFiles& messages_;
  Conversion& out_;
  std::vector<std::map<std::uint16_t, std::size_t>> targets_;  ///< of each file, by channel
};

[[noreturn]] void refuse(const std::string& cause, const std::string& remedy) {
  throw Error(ErrorCode::InvalidArgument, cause, remedy);
}

/// Throws Error: what the options say cannot be.
void check(const BagConvertOptions& o, const FoundBag& in) {
  const bool to_sqlite = is_sqlite(o.output);
  if (in.kind == BagKind::Other)
    refuse(in.files.files.front() + " is not a recording of ROS",
           "name an .mcap, a .bag of ROS 1, a .db3 of ROS 2 or its folder");
  for (const std::string& path : in.files.files) {
    std::error_code ignored;
    if (fs::equivalent(path, o.output, ignored)) refuse("the output is the input " + path, "name another file");
    if (to_sqlite && fs::equivalent(fs::path(path).parent_path(), o.output, ignored))
      refuse("the output is the folder of the input " + path, "name another folder");
    if (kind_of(path) != in.kind) refuse(o.input + " holds recordings of two kinds", "convert one after the other");
  }
  if (to_sqlite && o.compression != "same" && o.compression != "none")
    refuse("a .db3 has no chunks to compress", "leave --compression out");
}

}  // namespace

int bag_convert(const BagConvertOptions& o) {
  const FoundBag in = find_bag(o.input, {BagKind::Sqlite, BagKind::Ros1, BagKind::Mcap});
  check(o, in);
  if (in.kind == BagKind::Mcap && !is_sqlite(o.output)) {
    if (in.files.files.front() == o.input && !o.input.ends_with(mcap::InputFile::kPackedEnding))
      refuse(o.input + " is an MCAP file already",
             "name a folder (drive/) or a .db3 to make SQLite of it; cardan bag cut and merge make other MCAP files");
    BagRewriteOptions same;
    same.inputs = {o.input};
    same.output = o.output;
    same.selection.topics = o.topics;
    same.selection.exclude = o.exclude;
    same.compression = o.compression;
    same.force = o.force;
    same.json = o.json;
    return bag_rewrite(same);
  }
  const MessageFiles messages(o.messages);
  stop_on_signals();
  Conversion out(o);
  bool done = true;
  if (in.kind == BagKind::Mcap) {
    done = McapConversion(o.input, messages, out).run();
  } else {
    for (const std::string& note : in.files.notes) out.note(note);
    for (const std::string& problem : in.files.problems) out.problem(problem);
    for (const std::string& path : in.files.files)
      done = done && (in.kind == BagKind::Ros1 ? Ros1Conversion(path, out).run() : convert_sqlite(path, messages, out));
  }
  if (done) return out.finish(o.input);
  warn(fmt::format("stopped; {} was not written", o.output));
  return kFailed;
}

}  // namespace cardan::apps
