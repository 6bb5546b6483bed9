// SPDX-License-Identifier: Apache-2.0
// `cardan bag chain`: where the time of recorded publications went, hop by hop.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "apps/bag/bag.hpp"
#include "apps/bag/chain_table.hpp"
#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/reader.hpp"
#include "cardan/stop.hpp"
#include "src/config/suggest.hpp"
#include "src/record/player/file_set.hpp"

namespace cardan::apps {
namespace {

/// `from` and `to` of a chain of a configuration that was recorded with `cardan record --attach FILE.json`.
std::pair<std::string, std::string> ends_of(const std::string& chain, const record::FileSet& files) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 20;
  mcap::Bytes buffer;
  for (const auto& reader : files.readers())
    for (const mcap::AttachmentIndex& index : reader->summary().attachments()) {
      if (!index.name.ends_with(".json") || index.data_size > kLargest) continue;
      const auto attachment = reader->attachment(index, buffer);
      if (!attachment) continue;
      const auto text =
          std::string_view(reinterpret_cast<const char*>(attachment->data.data()), attachment->data.size());
      const auto file = nlohmann::json::parse(text, nullptr, false, true);
      const auto* at = &file;
      for (const std::string& name : {std::string("chains"), chain})
        if (at != nullptr) at = at->is_object() && at->contains(name) ? &at->at(name) : nullptr;
      if (at == nullptr || !at->is_object() || !at->contains("from") || !at->contains("to")) continue;
      if (at->at("from").is_string() && at->at("to").is_string())
        return {at->at("from").get<std::string>(), at->at("to").get<std::string>()};
    }
  throw Error(ErrorCode::InvalidArgument, fmt::format("no configuration in the recording has a chain '{}'", chain),
              "write --from TOPIC --to TOPIC, or record with --attach FILE.json");
}

void require_topic(const std::string& topic, const record::RecordedCauses& causes) {
  const std::vector<std::string> known = causes.topics();
  if (std::find(known.begin(), known.end(), topic) != known.end()) return;
  throw Error(ErrorCode::InvalidArgument, fmt::format("the recording has no causes of '{}'", topic),
              config::suggestion(topic, known, "cardan bag info shows the topics"));
}

/// The exit code that the file itself leads to.
int read_all(const record::FileSet& files, const BagChainOptions& o, record::RecordedCauses& causes) {
  BagSelection selection{.topics = {}, .exclude = {}, .start = o.start, .end = o.end};
  mcap::ReadOptions read = read_options(selection, files, o.file);
  read.wanted = [](const mcap::Channel& channel) { return channel.topic == record::kCausesTopic; };
  record::FileMessages messages = selected_messages(files, read);
  std::uint64_t bad = 0, good = 0;
  Progress progress;
  while (const auto next = messages.next()) {
    const mcap::MessageView& one = next->view;
    const bool is_ours = one.schema != nullptr && one.schema->name == record::kCausesType &&
                         one.channel->message_encoding == "cdr" && causes.add(one.message.data, one.message.log_time);
    ++(is_ours ? good : bad);
    progress.show(one.message.log_time - std::min(files.first(), one.message.log_time), files.last() - files.first());
    if (stopping()) return kFailed;
  }
  const bool damaged = tell_faults(files, messages);
  if (bad != 0) warn(fmt::format("{} on {} cannot be read", number_of(bad, "message"), record::kCausesTopic));
  if (causes.left_out() != 0)
    warn(fmt::format("the recorder could not keep the causes of {}: the disk was too slow",
                     number_of(causes.left_out(), "sample")));
  if (good == 0)
    throw Error(
        ErrorCode::InvalidArgument, fmt::format("{} has no causes (topic {})", o.file, record::kCausesTopic),
        "record without --no-causes a system in which something rests on something, and keep this topic when you "
        "cut the file");
  return damaged || bad != 0 || causes.left_out() != 0 ? kLoss : kOk;
}

}  // namespace

int bag_chain(const BagChainOptions& o) {
  if (o.chain.empty() ? o.from.empty() || o.to.empty() : !o.from.empty() || !o.to.empty())
    throw Error(ErrorCode::InvalidArgument, "a chain has a beginning and an end",
                "write --from TOPIC --to TOPIC, or --chain NAME");
  if (o.json && o.csv)
    throw Error(ErrorCode::InvalidArgument, "--json and --csv exclude each other", "write one of them");
  stop_on_signals();
  const record::FileSet files({o.file});
  auto [from, to] = o.chain.empty() ? std::pair(o.from, o.to) : ends_of(o.chain, files);
  record::RecordedCauses causes;
  const int code = read_all(files, o, causes);
  if (code == kFailed) return code;
  require_topic(from, causes);
  require_topic(to, causes);
  const record::RecordedChain chain = causes.chain(from, to, stopping);
  if (stopping()) return kFailed;
  if (!emit(o.json ? chain_json(chain, from, to) : o.csv ? chain_csv(chain) : chain_tables(chain, from, to)))
    return kFailed;
  if (!chain.ways.empty()) return code;
  // `cardan check` knows the ways that a configuration has; it does not know what was recorded.
  warn(fmt::format("no publication on {} can be followed back to {} — {}", to, from,
                   chain.not_recorded > chain.from_others
                       ? "a topic on the way was not recorded: record it, too, or follow it with cardan trace if it "
                         "stays within a process"
                       : "cardan check FILE.json shows the ways"));
  return kFailed;
}

}  // namespace cardan::apps
