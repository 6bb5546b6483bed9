// SPDX-License-Identifier: Apache-2.0
#include "cardan/mcap/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "cardan/error.hpp"
#include "src/mcap/merged.hpp"
#include "src/mcap/new_file.hpp"
#include "src/mcap/ros2_profile.hpp"

namespace cardan::mcap {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMessagesPerReport = 256;

/// Gives each schema and channel of the inputs its number in the output.
class Numbering {
 public:
  explicit Numbering(Writer& writer) : writer_(writer) {}

  std::uint16_t of(const Schema& schema) {
    Schema plain = schema;
    plain.id = 0;
    return number(schemas_, plain, 1, "schemas");
  }
  std::uint16_t of(const Channel& channel, const Schema* schema) {
    Channel plain = channel;
    plain.id = 0;
    plain.schema_id = schema == nullptr ? std::uint16_t{0} : of(*schema);
    return number(channels_, plain, 0, "channels");
  }

 private:
  using Known = std::map<Bytes, std::uint16_t>;

  template <class Record>
  std::uint16_t number(Known& known, const Record& plain, std::size_t first, const char* what) {
    Bytes content;
    append(content, plain);
    if (const auto found = known.find(content); found != known.end()) return found->second;
    const std::size_t id = known.size() + first;
    if (id > std::numeric_limits<std::uint16_t>::max())
      throw Error(ErrorCode::Limit, std::string("more than 65,535 ") + what + " in one file", "leave some topics out");
    Record record = plain;
    record.id = static_cast<std::uint16_t>(id);
    known.emplace(std::move(content), record.id);
    writer_.add(record);
    return record.id;
  }

  Writer& writer_;
  Known schemas_, channels_;
};

class Rewriter {
 public:
  Rewriter(const std::vector<std::string>& inputs, const std::string& output, RewriteOptions options)
      : options_(std::move(options)) {
    for (const std::string& path : inputs) {
      std::error_code ignored;
      if (fs::equivalent(path, output, ignored))
        throw Error(ErrorCode::InvalidArgument, "the output is the input " + path, "name another file");
      readers_.push_back(std::make_unique<Reader>(path, options_.open));
      expected_ += readers_.back()->summary().statistics().message_count;
      note_damage(*readers_.back());
    }
    if (options_.choose && !readers_.empty()) options_.choose(*readers_[0], options_);
  }

  Rewritten run(const std::string& output) {
    NewFile file(output, options_.replace);
    WriterOptions write = options_.write;
    if (write.profile.empty()) write.profile = common_profile();
    if (write.profile == kRos2Profile) write.profile.clear();  // only what is in the output tells whether that is true
    write.overwrite = [&](std::uint64_t offset, View bytes) { file.overwrite(offset, bytes); };
    Writer writer([&](View bytes) { file.write(bytes); }, write);
    if (options_.attachments) copy_attachments(writer);
    for (const Attachment& attachment : options_.add_attachments) writer.add(attachment);
    for (const Metadata& metadata : options_.add_metadata) writer.add(metadata);
    if (!copy_messages(writer)) {
      result_.stopped = true;
      return std::move(result_);
    }
    writer.close();
    file.finish();
    result_.bytes = writer.bytes();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string common_profile() const {
    for (const auto& reader : readers_)
      if (reader->header().profile != readers_[0]->header().profile) return {};
    return readers_.empty() ? std::string() : readers_[0]->header().profile;
  }

  void trouble(const Reader& reader, Problem problem) {
    result_.troubles.push_back({reader.file().path(), std::move(problem)});
  }

  void note_damage(const Reader& reader) {
    for (const Gap& gap : reader.gaps())
      trouble(reader, {gap.begin, fmt::format("{} (to byte {}{})", gap.cause, gap.end,
                                              gap.messages == 0 ? "" : fmt::format(", {} messages", gap.messages))});
    for (const Problem& loss : reader.losses()) trouble(reader, loss);
    if (reader.complete()) return;
    auto& list = reader.finish().lossy ? result_.troubles : result_.notes;
    list.push_back({reader.file().path(), {reader.finish().valid, reader.finish().cause}});
  }

  // Parts of one recording have the same ones.
  bool is_new(const Attachment& a) {
    return readers_.size() == 1 || seen_
                                       .insert(fmt::format("{} {} {} {:08x} {}\n{}", a.log_time, a.create_time,
                                                           a.data.size(), crc32(a.data), a.media_type, a.name))
                                       .second;
  }
  bool is_new(const Metadata& m) {
    // The mark is of the file that was written, not of this one.
    if (m.name == kMarkName || m.name == kBeforeStartName) return false;
    Bytes content;
    append(content, m);
    return readers_.size() == 1 || seen_.emplace(reinterpret_cast<const char*>(content.data()), content.size()).second;
  }

  void copy_attachments(Writer& writer) {
    Bytes buffer;
    for (const auto& reader : readers_) {
      // They lie side by side: an index that names more than the file has would multiply them.
      std::uint64_t left = reader->file().size();
      std::set<std::uint64_t> places;
      const auto afford = [&](const auto& index) {
        const bool enough = places.insert(index.offset).second && index.length <= left;
        left -= std::min(left, index.length);
        if (!enough) trouble(*reader, {index.offset, "the file's index names the same bytes again and again"});
        return enough;
      };
      for (const AttachmentIndex& index : reader->summary().attachments()) {
        if (!afford(index)) break;
        if (options_.drop_attachments.contains(index.name)) continue;
        if (const auto attachment = reader->attachment(index, buffer)) {
          if (is_new(*attachment)) writer.add(*attachment);
        } else {
          trouble(*reader, {index.offset, "the attachment " + index.name + " is damaged"});
        }
      }
      for (const MetadataIndex& index : reader->summary().metadata()) {
        if (!afford(index)) break;
        if (options_.drop_metadata.contains(index.name)) continue;
        if (const auto metadata = reader->metadata(index)) {
          if (is_new(*metadata)) writer.add(*metadata);
        } else {
          trouble(*reader, {index.offset, "the metadata " + index.name + " is damaged"});
        }
      }
    }
  }

  // Those without messages too: what was offered and silent belongs to what happened.
  void copy_channels(Numbering& numbering) const {
    for (const auto& reader : readers_) {
      const auto& schemas = reader->summary().schemas();
      for (const auto& [id, channel] : reader->summary().channels()) {
        if (options_.read.wanted && !options_.read.wanted(channel)) continue;
        const auto schema = schemas.find(channel.schema_id);
        numbering.of(channel, schema == schemas.end() ? nullptr : &schema->second);
      }
    }
  }

  /// Log time from which on messages are the output's own.
  [[nodiscard]] std::uint64_t first_own_time(const std::vector<const Reader*>& readers) const {
    if (options_.read.start != 0) return options_.read.start;
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    bool any = false;
    for (const Reader* const reader : readers) {
      any = any || reader->before_start();
      if (const auto times = own_times(*reader)) first = std::min(first, times->first);
    }
    return any ? first : 0;
  }

  static void end_before_start(Writer& writer, BeforeStart before) {
    writer.end_chunk();
    before.chunks = writer.summary().chunks().size();
    writer.add(before_start_record(before));
  }

  bool copy_messages(Writer& writer) {
    Numbering numbering(writer);
    copy_channels(numbering);
    std::vector<const Reader*> readers;
    std::vector<std::unordered_map<std::uint16_t, std::uint16_t>> channels(readers_.size());  // by number in each input
    for (const auto& reader : readers_) readers.push_back(reader.get());
    MergedMessages messages(readers, options_.read, {},
                            options_.latched ? MergedMessages::Before::Latched : MergedMessages::Before::Nothing);
    BeforeStart before{.start = first_own_time(readers)};
    bool go_on = true, begun = false;
    while (const auto next = messages.next()) {
      const MessageView& view = next->view;
      const bool early = next->before_start || (view.from_before && view.message.log_time <= before.start);
      if (early) {
        before.last = std::max(before.last, view.message.log_time);
        ++before.messages[view.channel->topic];
      } else if (!std::exchange(begun, true) && !before.messages.empty()) {
        end_before_start(writer, before);
      }
      const auto [channel, is_new] = channels[next->file].try_emplace(view.channel->id);
      if (is_new) channel->second = numbering.of(*view.channel, view.schema);
      Message message = view.message;
      message.channel_id = channel->second;
      writer.write(message);
      ++result_.messages;
      if (options_.progress && result_.messages % kMessagesPerReport == 0)
        go_on = options_.progress(result_.messages, expected_);
      if (!go_on) break;
    }
    if (!begun && !before.messages.empty()) end_before_start(writer, before);
    for (const auto& [file, problem] : messages.problems()) trouble(*readers_[file], problem);
    return go_on;
  }

  RewriteOptions options_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::uint64_t expected_ = 0;
  Rewritten result_;
  std::set<std::string> seen_;  ///< attachments and metadata
};

}  // namespace

Rewritten rewrite(const std::vector<std::string>& inputs, const std::string& output, const RewriteOptions& options) {
  return Rewriter(inputs, output, options).run(output);
}

}  // namespace cardan::mcap
