// SPDX-License-Identifier: Apache-2.0
#include "src/record/player/outlets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cardan/error.hpp"
#include "cardan/stop.hpp"
#include "src/base/name_patterns.hpp"
#include "src/mcap/message_sizes.hpp"
#include "src/record/causes.hpp"
#include "src/record/metadata.hpp"
#include "src/transport/discovery/process.hpp"

namespace cardan::record {
namespace {

constexpr std::uint32_t kDepth = 10;
constexpr std::uint32_t kDepthOfLarge = 4;
constexpr std::size_t kLarge = 1 << 20;
constexpr auto kReliableTimeout = std::chrono::seconds(1);  // only readers that join at that moment are waited for

const mcap::Schema* schema_of(const mcap::Reader& reader, const mcap::Channel& channel) {
  const auto found = reader.summary().schemas().find(channel.schema_id);
  return found == reader.summary().schemas().end() ? nullptr : &found->second;
}

/// Others name topics without the slash at the beginning, which ours have.
std::string with_slash(const std::string& topic) { return topic.starts_with('/') ? topic : "/" + topic; }

/// As far as the file says, it has no message: nothing is missing without it.
bool is_empty(const mcap::Reader& reader, const mcap::Channel& channel) {
  const mcap::Statistics& s = reader.summary().statistics();
  if (!reader.has_statistics() || (s.channel_message_counts.empty() && s.message_count != 0)) return false;
  const auto count = s.channel_message_counts.find(channel.id);
  return count == s.channel_message_counts.end() || count->second == 0;
}

/// Late readers get the same number of messages as those of the recorded publishers, within kMostMemory.
std::uint32_t depth_of(const Outlet& outlet) {
  constexpr std::size_t kMostMemory = std::size_t{64} << 20;
  constexpr std::size_t kMostDepth = 1024;
  const std::size_t usual = outlet.payload_bytes > kLarge ? kDepthOfLarge : kDepth;
  const std::size_t bytes = outlet.payload_bytes + outlet.form.type().bytes;
  const std::size_t affordable = std::min(kMostDepth, kMostMemory / std::max<std::size_t>(bytes, 1));
  return static_cast<std::uint32_t>(std::max(usual, std::min<std::size_t>(outlet.depth, affordable)));
}

}  // namespace

Outlets::Outlets(const FileSet& files, const PlayerOptions& options) : files_(files) {
  check_names(options);
  problems_ = files.problems();
  of_channel_.resize(files.readers().size());
  for (const auto& reader : files.readers())
    for (const auto& [id, channel] : reader->summary().channels()) recorded_.insert(channel.topic);
  for (std::size_t file = 0; file < files.readers().size(); ++file) {
    const mcap::Reader& reader = *files.readers()[file];
    for (const auto& [id, channel] : reader.summary().channels()) choose(file, channel, options);
    forms_.clear();
    measure(file);
    if (reader.complete()) continue;
    const std::string what =
        fmt::format("{}, byte {}: {}", reader.file().path(), reader.finish().valid, reader.finish().cause);
    if (reader.finish().how == mcap::Finish::How::Damaged)
      problems_.push_back(what);
    else
      unfinished_.push_back(what);
  }
  create_publishers(options);
}

void Outlets::check_names(const PlayerOptions& options) const {
  const auto require = [&](const std::string& name, bool pattern) {
    for (const auto& reader : files_.readers())
      for (const auto& [id, channel] : reader->summary().channels())
        if (pattern ? detail::fits(name, channel.topic) || detail::fits(name, with_slash(channel.topic))
                    : name == channel.topic)
          return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("{} has no topic '{}'",
                    files_.readers().size() == 1 ? files_.readers()[0]->file().path() : "none of the files", name),
        "cardan bag info shows the topics");
  };
  for (const std::string& pattern : options.topics) require(pattern, true);
  for (const auto& [from, to] : options.remap) require(from, false);
}

void Outlets::leave_out(std::size_t file, const mcap::Channel& channel, std::string why, bool by_design) {
  const mcap::Reader& reader = *files_.readers()[file];
  const mcap::Schema* schema = schema_of(reader, channel);
  left_out_.push_back({.file = reader.file().path(),
                       .topic = channel.topic,
                       .type = schema == nullptr ? std::string() : schema->name,
                       .why = std::move(why),
                       .by_design = by_design});
}

const std::pair<std::optional<MessageForm>, std::string>& Outlets::form_for(const mcap::Reader& reader,
                                                                            const mcap::Channel& channel) {
  const auto hash = channel.metadata.find(kTypeHashKey);
  const auto [at, is_new] = forms_.try_emplace(
      {channel.schema_id, channel.message_encoding, hash == channel.metadata.end() ? std::string() : hash->second});
  if (is_new) at->second.first = form_of(channel, schema_of(reader, channel), at->second.second, effort_);
  return at->second;
}

void Outlets::choose(std::size_t file, const mcap::Channel& channel, const PlayerOptions& options) {
  const auto fits_any = [&](const std::vector<std::string>& patterns) {
    return detail::fits_one(patterns, channel.topic) || detail::fits_one(patterns, with_slash(channel.topic));
  };
  if ((!options.topics.empty() && !fits_any(options.topics)) || fits_any(options.exclude)) return;
  const auto renamed = options.remap.find(channel.topic);
  const std::string topic = renamed == options.remap.end() ? with_slash(channel.topic) : renamed->second;
  if (topic == kCausesTopic) return;  // it is about the recorded publications, not about those of the player
  if (topic.starts_with("/cardan/"))  // orders among them
    return leave_out(file, channel, "it is one of Cardan's own topics; it can be played under another name", true);
  if (options.clock_hz > 0 && topic == "/clock")
    return leave_out(file, channel, "the player publishes its own clock", true);
  const bool slashed = renamed == options.remap.end() && topic != channel.topic;
  if (slashed && recorded_.contains(topic))
    return leave_out(file, channel, fmt::format("{} is recorded too; --remap gives one of them another name", topic),
                     false);
  const auto& [form, why] = form_for(*files_.readers()[file], channel);
  if (!form) return leave_out(file, channel, why, is_empty(*files_.readers()[file], channel));
  Outlet*& outlet = outlet_of_[{topic, form->type().hash, form->type().name}];
  if (outlet == nullptr) {
    refuse_mixture(channel, topic, options);
    outlet = outlets_.emplace_back(std::make_unique<Outlet>(topic, *form)).get();
  }
  if (slashed && slashed_.insert(topic).second) notes_.push_back(channel.topic + " is played as " + topic);
  const std::uint64_t publishers = files_.readers()[file]->publishers(channel.topic);
  outlet->depth = std::max(outlet->depth, static_cast<std::uint32_t>(mcap::latched_depth(channel) * publishers));
  count(*outlet, file, channel.id);
  of_channel_[file][channel.id] = outlet;
}

void Outlets::count(Outlet& outlet, std::size_t file, std::uint16_t channel) const {
  const mcap::Reader& reader = *files_.readers()[file];
  const auto& counts = reader.summary().statistics().channel_message_counts;
  const auto count = counts.find(channel);
  if (!reader.has_statistics() || (counts.empty() && reader.summary().statistics().message_count != 0))
    outlet.recorded.reset();
  else if (outlet.recorded && count != counts.end())
    *outlet.recorded += count->second;
}

/// A topic that was recorded with two types is played with both; two topics of different types do not become one.
void Outlets::refuse_mixture(const mcap::Channel& channel, const std::string& topic, const PlayerOptions& options) {
  const auto [first, is_new] = played_as_.try_emplace(topic, channel.topic);
  if (is_new || first->second == channel.topic) return;
  throw Error(ErrorCode::InvalidArgument,
              fmt::format("{} and {} would both be played as {}, but have different types", first->second,
                          channel.topic, topic),
              options.remap.contains(channel.topic) ? "give " + channel.topic + " another name"
                                                    : "give " + first->second + " another name");
}

void Outlets::measure(std::size_t file) {
  const mcap::Reader& reader = *files_.readers()[file];
  const auto measured = [&](const mcap::Channel& channel) {
    const Outlet* outlet = of(file, channel);
    return outlet != nullptr && (outlet->form.type().has_arena || outlet->form.type().bytes > kLarge);
  };
  for (const auto& [id, bytes] : mcap::largest_messages(reader, measured)) {
    Outlet& outlet = *of_channel_[file].at(id);
    const TypeLayout* const layout = outlet.form.layout();
    // Some letters of a definition must not cost the memory of messages that nobody has.
    if (outlet.form.type().bytes > kLarge && layout != nullptr && layout->least_cdr > bytes) {
      of_channel_[file].erase(id);
      leave_out(file, reader.summary().channels().at(id),
                fmt::format("a message of {} has at least {} bytes, but the longest in the file has {}",
                            outlet.form.type().name, layout->least_cdr, bytes),
                false);
      continue;
    }
    outlet.payload_bytes = std::max(outlet.payload_bytes, outlet.form.payload_bytes(static_cast<std::size_t>(bytes)));
  }
}

void Outlets::create_publishers(const PlayerOptions& options) {
  (void)detail::Process::of(options.domain);              // what is wrong with that is wrong with all of them
  std::unordered_map<const Outlet*, std::string> failed;  // and why
  std::set<const Outlet*> used;
  for (const auto& channels : of_channel_)
    for (const auto& [id, outlet] : channels) used.insert(outlet);
  std::erase_if(outlets_, [&](const std::unique_ptr<Outlet>& outlet) { return !used.contains(outlet.get()); });
  for (const auto& outlet : outlets_) {
    if (stopping()) {  // the publishers of thousands of topics take seconds
      failed.emplace(outlet.get(), "the player was stopped");
      continue;
    }
    try {
      outlet->publisher =
          std::make_unique<AnyPublisher>(outlet->topic, outlet->form.type(),
                                         TopicOptions{.max_bytes = outlet->payload_bytes,
                                                      .depth = options.depth != 0 ? options.depth : depth_of(*outlet),
                                                      .reliable = options.reliable,
                                                      .reliable_timeout = kReliableTimeout,
                                                      .access = options.access},
                                         PublisherOptions{.domain = options.domain});
    } catch (const Error& e) {
      // A problem with the name, size or memory of this topic must not keep the others from playing; one with the run
      // directory must.
      if (e.code() == ErrorCode::Unavailable || e.code() == ErrorCode::Forked) throw;
      failed.emplace(outlet.get(), e.what());
    }
  }
  if (failed.empty()) return;
  for (std::size_t file = 0; file < of_channel_.size(); ++file)
    for (const auto& [id, channel] : files_.readers()[file]->summary().channels())
      if (const auto why = failed.find(of(file, channel)); why != failed.end()) {
        of_channel_[file].erase(id);
        leave_out(file, channel, why->second, false);
      }
  std::erase_if(outlets_, [&](const std::unique_ptr<Outlet>& outlet) { return failed.contains(outlet.get()); });
}

Outlet* Outlets::of(std::size_t file, const mcap::Channel& channel) const noexcept {
  const auto found = of_channel_[file].find(channel.id);
  return found == of_channel_[file].end() ? nullptr : found->second;
}

std::size_t Outlets::subscribers() const {
  std::size_t sum = 0;
  for (const auto& outlet : outlets_) sum += outlet->publisher->subscribers();
  return sum;
}

void Outlets::note(const std::vector<FileProblem>& problems) {
  const std::lock_guard lock(mutex_);
  for (const FileProblem& p : problems)
    if (noted_.emplace(p.file, p.problem.offset).second)
      problems_.push_back(
          fmt::format("{}, byte {}: {}", files_.readers()[p.file]->file().path(), p.problem.offset, p.problem.cause));
}

std::vector<std::string> Outlets::problems() const {
  const std::lock_guard lock(mutex_);
  return problems_;
}

}  // namespace cardan::record
