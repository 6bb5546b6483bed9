// SPDX-License-Identifier: Apache-2.0
// `cardan bag export`: a recording's messages as files for other programs.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <tuple>

#include "apps/bag/bag.hpp"
#include "apps/bag/bag_rerun.hpp"
#include "apps/bag/export/names.hpp"
#include "apps/bag/export/topic_output.hpp"
#include "apps/decode.hpp"
#include "apps/protobuf/recorded.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/reader.hpp"
#include "cardan/stop.hpp"
#include "src/base/output_file.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Frames a second of a topic, by the middle one of its first intervals; a video has one rate.
double frame_rate(const mcap::Reader& reader, mcap::ReadOptions read, const std::string& topic) {
  constexpr std::size_t kEnough = 60;
  read.wanted = [&topic](const mcap::Channel& channel) { return channel.topic == topic; };
  std::vector<double> seconds;
  std::uint64_t last = 0;
  mcap::Messages messages = reader.messages(std::move(read));
  for (auto one = messages.next(); one && seconds.size() < kEnough; one = messages.next()) {
    if (last != 0) seconds.push_back(static_cast<double>(one->message.log_time - last) / 1e9);
    last = one->message.log_time;
  }
  if (seconds.empty()) return 1;
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle > 0 ? std::clamp(1 / *middle, 1.0, 240.0) : 240.0;
}

/// "sensor_msgs/msg/Image" → "sensor_msgs/Image", which some writers say.
std::string short_type(const std::string& name) {
  const auto middle = name.find("/msg/");
  return middle == std::string::npos ? name : name.substr(0, middle) + name.substr(middle + 4);
}

class Export {
 public:
  Export(const BagExportOptions& options, const mcap::Reader& reader)
      : options_(options), reader_(reader), read_(read_options(options.selection, reader)) {
    pictures_.as = options.images == "jpeg" ? Picture::Jpeg : Picture::Png;
    if (options.quality) pictures_.quality = *options.quality;
    // In the file's order and with those that are not wanted, so that a topic's file always has the same name.
    for (const auto& [id, channel] : reader.summary().channels()) topic_of(channel, schema_of(channel));
    if (!options.force)
      for (const Topic& topic : topics_) refuse_to_replace(topic);
  }

  /// False: Ctrl-C ended it.
  bool run() {
    make_output_folder(options_.to);
    stop_on_signals();
    if (!learn()) return false;
    Progress progress;
    const mcap::Statistics& all = reader_.summary().statistics();
    const std::uint64_t first = std::max(read_.start, all.message_start_time);
    const std::uint64_t last = std::min(read_.end, all.message_end_time);
    mcap::Messages messages = reader_.messages(read_);
    while (const auto one = messages.next()) {
      topic_of(*one->channel, one->schema).output->take(*one);
      if (reader_.has_statistics() && first < last) progress.show(one->message.log_time - first, last - first);
      if (stopping()) break;
    }
    workers_.drain();
    for (const Topic& topic : topics_)
      if (topic.output) topic.output->finish();
    problems_ = messages.problems();
    return !stopping();
  }

  /// Says what was left out.
  void complain() const {
    for (const Topic& topic : topics_) {
      if (!topic.output) continue;
      for (const auto& [cause, skipped] : topic.output->tally().skipped)
        warn(fmt::format("{}: {} messages left out, the first of {}: {}", topic.name, skipped.messages,
                         stamp_text(skipped.first_log_time), cause));
      for (const std::string& list : topic.output->tally().counted_lists)
        warn(fmt::format("{}: of lists of more than {} elements in '{}' the table has only the count; --list raises it",
                         topic.name, options_.list, list));
    }
    for (const mcap::Problem& p : problems_)
      warn(fmt::format("{}, byte {}: {}", reader_.file().path(), p.offset, p.cause));
    if (!reader_.complete())
      warn(fmt::format("{} is not finished: {} (byte {})", reader_.file().path(), reader_.finish().cause,
                       reader_.finish().valid));
  }

  [[nodiscard]] bool lost() const {
    return !problems_.empty() || reader_.finish().how == mcap::Finish::How::Damaged ||
           std::any_of(topics_.begin(), topics_.end(),
                       [](const Topic& t) { return t.output && !t.output->tally().skipped.empty(); });
  }

  [[nodiscard]] std::string text() const {
    Table table({{"topic"}, {"type"}, {"messages", true}, {"left out", true}, {"as"}, {"files", true}, {"where"}});
    for (const Topic& topic : topics_) {
      if (!topic.output) continue;
      const ExportTally& tally = topic.output->tally();
      const std::string as = topic.output->as();
      table.row({printable(topic.name), printable(topic.type.empty() ? "-" : topic.type),
                 std::to_string(tally.messages), std::to_string(left_out(tally)), as.empty() ? "-" : as,
                 std::to_string(tally.files), tally.files == 0 ? "-" : (fs::path(options_.to) / topic.stem).string()});
    }
    return table.text();
  }

  [[nodiscard]] std::string json(bool stopped) const {
    Json topics = Json::array();
    for (const Topic& topic : topics_) {
      if (!topic.output) continue;
      const ExportTally& tally = topic.output->tally();
      Json skipped = Json::array();
      for (const auto& [cause, s] : tally.skipped)
        skipped.push_back({{"cause", cause}, {"messages", s.messages}, {"first_log_time", s.first_log_time}});
      Json paths = Json::array();
      if (tally.files != 0)
        for (const std::string& file : topic.output->files()) paths.push_back((fs::path(options_.to) / file).string());
      topics.push_back({{"topic", topic.name},
                        {"type", topic.type.empty() ? Json() : Json(topic.type)},
                        {"as", topic.output->as().empty() ? Json() : Json(topic.output->as())},
                        {"messages", tally.messages},
                        {"files", tally.files},
                        {"paths", std::move(paths)},
                        {"skipped", std::move(skipped)},
                        {"lists_counted_only", tally.counted_lists}});
    }
    Json problems = Json::array();
    for (const mcap::Problem& p : problems_) problems.push_back({{"byte", p.offset}, {"cause", p.cause}});
    return json_lines({{"file", reader_.file().path()},
                       {"to", options_.to},
                       {"finished", reader_.complete()},
                       {"stopped", stopped},
                       {"lost", lost()},
                       {"topics", std::move(topics)},
                       {"problems", std::move(problems)}});
  }

 private:
  struct Topic {
    std::string name, type, stem;
    std::unique_ptr<TopicOutput> output;  ///< null: it is not wanted
  };
  struct Protobuf {
    std::shared_ptr<const ProtobufType> type;  ///< null: `why`
    std::string why;
  };

  static std::uint64_t left_out(const ExportTally& tally) {
    std::uint64_t all = 0;
    for (const auto& [cause, skipped] : tally.skipped) all += skipped.messages;
    return all;
  }

  [[nodiscard]] const mcap::Schema* schema_of(const mcap::Channel& channel) const {
    const auto schema = reader_.summary().schemas().find(channel.schema_id);
    return schema == reader_.summary().schemas().end() ? nullptr : &schema->second;
  }

  /// Channels of the same name and type share a topic's files.
  Topic& topic_of(const mcap::Channel& channel, const mcap::Schema* schema) {
    const auto known = by_channel_.find(channel.id);
    if (known != by_channel_.end()) return topics_[known->second];
    mcap::Schema kind = schema == nullptr ? mcap::Schema{} : *schema;
    kind.id = 0;
    const auto [at, is_new] = by_kind_.try_emplace(
        {channel.topic, channel.message_encoding, kind.name, kind.encoding, std::move(kind.data)}, topics_.size());
    by_channel_[channel.id] = at->second;
    if (is_new) {
      topics_.push_back({channel.topic, kind.name, stems_.next(channel.topic), nullptr});
      if (!read_.wanted || read_.wanted(channel))
        topics_.back().output = output_for(channel, schema, {options_.to, topics_.back().stem, options_.force});
    }
    return topics_[at->second];
  }

  std::unique_ptr<TopicOutput> output_for(const mcap::Channel& channel, const mcap::Schema* schema, ExportPlace place) {
    const std::string& encoding = channel.message_encoding;
    if (encoding == "json") return json_table(std::move(place), options_.list);
    if (encoding == "protobuf" && schema != nullptr) return protobuf_output(*schema, std::move(place));
    if (encoding != "cdr") return nothing_of(fmt::format("its encoding '{}' is not supported", encoding));
    if (schema == nullptr) return nothing_of("the file has no definition of its type");
    const std::string type = short_type(schema->name);
    const bool video = options_.images == "video";
    const bool table =
        type != "sensor_msgs/Image" && type != "sensor_msgs/CompressedImage" && type != "sensor_msgs/PointCloud2";
    if (table && schema->encoding != "ros2msg")
      return nothing_of(fmt::format("its definition is in '{}', and only ros2msg is supported", schema->encoding));
    try {
      if (type == "sensor_msgs/Image")
        return video ? image_video(std::move(place), frame_rate(reader_, read_, channel.topic))
                     : image_files(std::move(place), pictures_, workers_);
      if (type == "sensor_msgs/CompressedImage")
        return video ? compressed_image_video(std::move(place), frame_rate(reader_, read_, channel.topic))
                     : compressed_image_files(std::move(place), pictures_, workers_);
      if (type == "sensor_msgs/PointCloud2") return cloud_files(std::move(place), workers_);
      return ros_table(std::move(place), *schema, options_.list);
    } catch (const Error& e) {
      return nothing_of(e.code() == ErrorCode::Unavailable ? e.cause() + " — " + e.remedy() : e.cause());
    }
  }

  /// Topics of one type share it: a definition can be large.
  std::unique_ptr<TopicOutput> protobuf_output(const mcap::Schema& schema, ExportPlace place) {
    const auto [at, is_new] = protobufs_.try_emplace({schema.name, schema.encoding, schema.data});
    if (is_new) at->second.type = protobuf_type(schema, at->second.why);
    if (at->second.type == nullptr) return nothing_of(at->second.why);
    return protobuf_table(std::move(place), at->second.type, options_.list);
  }

  void refuse_to_replace(const Topic& topic) const {
    if (!topic.output) return;
    for (const std::string& file : topic.output->files()) {
      const fs::path path = fs::path(options_.to) / file;
      std::error_code ignored;
      if (fs::exists(fs::symlink_status(path, ignored)) &&
          !(fs::is_directory(path, ignored) && fs::is_empty(path, ignored)))
        throw Error(ErrorCode::InvalidArgument, path.string() + " already exists",
                    "name another folder; --force replaces files of the same names and leaves the others");
    }
  }

  /// Some tables have to know all messages before the first row. False: Ctrl-C ended it.
  bool learn() {
    const auto curious = [this](const mcap::Channel& channel) {
      const auto topic = by_channel_.find(channel.id);
      return topic != by_channel_.end() && topics_[topic->second].output &&
             topics_[topic->second].output->wants_to_learn();
    };
    const auto& channels = reader_.summary().channels();
    if (std::none_of(channels.begin(), channels.end(), [&](const auto& one) { return curious(one.second); }))
      return true;
    mcap::ReadOptions read = read_;
    read.wanted = curious;
    mcap::Messages messages = reader_.messages(std::move(read));
    for (auto one = messages.next(); one && !stopping(); one = messages.next())
      topic_of(*one->channel, one->schema).output->learn(*one);
    return !stopping();
  }

  const BagExportOptions& options_;
  const mcap::Reader& reader_;
  mcap::ReadOptions read_;
  PictureOptions pictures_;
  FileStems stems_;
  std::vector<Topic> topics_;
  std::map<std::tuple<std::string, std::string, std::string, std::string, mcap::Bytes>, std::size_t> by_kind_;
  std::map<std::uint16_t, std::size_t> by_channel_;
  std::map<std::tuple<std::string, std::string, mcap::Bytes>, Protobuf> protobufs_;  ///< by definition
  std::vector<mcap::Problem> problems_;
  /// Declared after the data that it works on, so that it ends first. Each of its threads has a whole image in memory.
  Workers workers_{std::min(std::thread::hardware_concurrency(), 16U)};
};

}  // namespace

int bag_export(const BagExportOptions& o) {
  if (o.quality && o.images != "jpeg")
    throw Error(ErrorCode::InvalidArgument, "--quality is only for JPEGs", "add --images jpeg, or leave it out");
  if (const std::string file = rerun_file(o); !file.empty()) become_rerun(o, file);
  const mcap::Reader reader(o.file);
  Export work(o, reader);
  const bool whole = work.run();
  work.complain();
  if (!emit(o.json ? work.json(!whole) : work.text())) return kFailed;
  if (!whole) {
    warn("stopped; what was written is whole");
    return kFailed;
  }
  return work.lost() ? kLoss : kOk;
}

}  // namespace cardan::apps
