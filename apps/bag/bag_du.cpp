// SPDX-License-Identifier: Apache-2.0
// `cardan bag du`: where a file's bytes are.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "apps/bag/bag.hpp"
#include "apps/decode.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/error.hpp"
#include "cardan/mcap/input_file.hpp"
#include "cardan/mcap/record_reader.hpp"
#include "cardan/mcap/scan.hpp"
#include "cardan/stop.hpp"
#include "src/record/recording_folder.hpp"

namespace cardan::apps {
namespace {

using Json = nlohmann::ordered_json;

struct KindBytes {
  std::uint64_t records = 0, bytes = 0;
  void add(std::uint64_t more) {
    ++records;
    bytes += more;
  }
};

struct TopicBytes {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  ///< of the messages themselves, not compressed
  double in_file = 0;       ///< of the file: its part of chunks by its part of their records, and its indexes
};

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Counts all records of some files.
class Account {
 public:
  /// False: it was stopped.
  bool add(const std::string& path) {
    const auto file = mcap::InputFile::of_recording(path);
    mcap::check_magic(file);
    const std::uint64_t size = file.size();
    bytes_ += size;
    std::uint64_t at = 0;
    mcap::RecordReader reader(
        [&](std::span<std::byte> into) {
          const std::size_t got = file.read(at, into);
          at += got;
          return got;
        },
        {.open_chunks = false});
    channels_.clear();
    schemas_.clear();
    name_bytes_ = topic_name_bytes_;  // of earlier files, the topics' are kept
    while (const auto record = reader.next()) {
      take(path, *record);
      progress_.show(record->offset, size);
      if (stopping()) return false;
    }
    const mcap::Finish& finish = reader.finish();
    if (finish.how == mcap::Finish::How::Complete) {
      top_["magic"].add(2 * mcap::kMagic.size());
      return true;
    }
    top_["magic"].add(mcap::kMagic.size());
    if (size > finish.valid) top_["not readable"].add(size - finish.valid);
    std::string what = fmt::format("{}, byte {}: {}", path, finish.valid, finish.cause);
    (finish.how == mcap::Finish::How::Damaged ? problems_ : notes_).push_back(std::move(what));
    return true;
  }

  void problem(const std::string& what) { problems_.push_back(what); }
  void note(const std::string& what) { notes_.push_back(what); }

  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  [[nodiscard]] Json json(const std::string& named) const {
    const std::uint64_t of_messages = message_bytes();
    Json out{{"file", named}, {"bytes", bytes_}, {"message_bytes", of_messages}};
    out["records"] = kinds_json(top_, bytes_);
    std::uint64_t inside = 0;
    for (const auto& [name, kind] : inside_) inside += kind.bytes;
    out["in_chunks"] = kinds_json(inside_, inside);
    out["topics"] = Json::array();
    for (const auto& [key, topic] : sorted())
      out["topics"].push_back({{"topic", key->first},
                               {"type", key->second},
                               {"messages", topic->messages},
                               {"bytes", topic->bytes},
                               {"share", share(static_cast<double>(topic->bytes), static_cast<double>(of_messages))},
                               {"file_bytes", static_cast<std::uint64_t>(topic->in_file)},
                               {"file_share", share(topic->in_file, static_cast<double>(bytes_))}});
    out["problems"] = problems_;
    out["notes"] = notes_;
    return out;
  }

  [[nodiscard]] std::string text(const std::string& named) const {
    std::string out = fmt::format("{}: {}\n\n", printable(named), bytes_text(static_cast<double>(bytes_)));
    Table kinds({{"RECORD"}, {"NUMBER", true}, {"BYTES", true}, {"OF THE FILE", true}});
    for (const auto& [name, kind] : top_)
      kinds.row({name, std::to_string(kind.records), bytes_text(static_cast<double>(kind.bytes)),
                 percent(static_cast<double>(kind.bytes), static_cast<double>(bytes_))});
    for (const auto& [name, kind] : inside_)
      kinds.row({"in chunks: " + name, std::to_string(kind.records), bytes_text(static_cast<double>(kind.bytes)), "-"});
    out += kinds.text();
    const auto of_messages = static_cast<double>(message_bytes());
    Table topics({{"TOPIC"}, {"TYPE"}, {"MESSAGES", true}, {"BYTES", true}, {"SHARE", true}, {"IN THE FILE", true}});
    for (const auto& [key, topic] : sorted())
      topics.row({printable(key->first), printable(key->second), std::to_string(topic->messages),
                  bytes_text(static_cast<double>(topic->bytes)),
                  percent(static_cast<double>(topic->bytes), of_messages), bytes_text(topic->in_file)});
    return topics_.empty() ? out : out + "\n" + topics.text();
  }

 private:
  using Key = std::pair<std::string, std::string>;  ///< topic, type

  static std::string percent(double part, double whole) { return fmt::format("{:.1f} %", 100 * share(part, whole)); }

  static Json kinds_json(const std::map<std::string, KindBytes>& kinds, std::uint64_t whole) {
    Json all = Json::array();
    for (const auto& [name, kind] : kinds)
      all.push_back({{"record", name},
                     {"records", kind.records},
                     {"bytes", kind.bytes},
                     {"share", share(static_cast<double>(kind.bytes), static_cast<double>(whole))}});
    return all;
  }

  [[nodiscard]] std::uint64_t message_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [key, topic] : topics_) sum += topic.bytes;
    return sum;
  }

  /// The largest first.
  [[nodiscard]] std::vector<std::pair<const Key*, const TopicBytes*>> sorted() const {
    std::vector<std::pair<const Key*, const TopicBytes*>> all;
    for (const auto& [key, topic] : topics_) all.emplace_back(&key, &topic);
    // Not stable_sort: clang warns of what libstdc++ 12 does inside.
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.second->bytes != b.second->bytes ? a.second->bytes > b.second->bytes : *a.first < *b.first;
    });
    return all;
  }

  static std::string name_of_kind(std::uint8_t opcode) {
    const char* const name = mcap::name_of(static_cast<mcap::Opcode>(opcode));
    return name != nullptr ? name : fmt::format("private 0x{:02X}", opcode);
  }

  void take(const std::string& path, const mcap::RecordView& record) {
    const std::uint64_t bytes = mcap::kPrefixBytes + record.content.size();
    top_[name_of_kind(record.opcode)].add(bytes);
    if (record.is(mcap::Opcode::Chunk)) return take_chunk(path, record, static_cast<double>(bytes));
    if (record.is(mcap::Opcode::MessageIndex)) {
      // Only its first field: the rest may be long.
      std::uint16_t id = 0;
      if (record.content.size() >= sizeof id) std::memcpy(&id, record.content.data(), sizeof id);
      if (const auto known = channels_.find(id); known != channels_.end())
        topics_[known->second].in_file += static_cast<double>(bytes);
      return;
    }
    take_inner(record, static_cast<double>(bytes));
  }

  static std::size_t size_of(const std::string& name) { return name.size(); }
  static std::size_t size_of(const Key& key) { return key.first.size() + key.second.size(); }

  /// Keeps a name for a number. Returns its place, or the end if all names together are too long: a small chunk can be
  /// unpacked to very many names. Messages without a kept name are counted under their channel's number.
  template <class Name>
  auto keep(std::map<std::uint16_t, Name>& names, std::uint16_t id, Name name) {
    constexpr std::size_t kMostNames = std::size_t{64} << 20;
    const auto known = names.find(id);
    if (known != names.end() && known->second == name) return known;
    if (known != names.end()) names.erase(known);
    name_bytes_ += size_of(name);
    if (name_bytes_ <= kMostNames) return names.emplace(id, std::move(name)).first;
    if (!std::exchange(too_many_names_, true))
      problems_.emplace_back(
          "the names of topics and types exceed 64 MiB: messages of further topics are counted by channel number");
    return names.end();
  }

  /// `in_file`: what the record takes of the file.
  void take_inner(const mcap::RawRecord& record, double in_file) {
    if (record.is(mcap::Opcode::Schema)) {
      if (const auto schema = mcap::decode<mcap::Schema>(record.content)) keep(schemas_, schema->id, schema->name);
    } else if (record.is(mcap::Opcode::Channel)) {
      if (const auto channel = mcap::decode<mcap::Channel>(record.content)) {
        const auto schema = schemas_.find(channel->schema_id);
        if (const auto known = keep(channels_, channel->id,
                                    Key{channel->topic, schema == schemas_.end() ? std::string("-") : schema->second});
            known != channels_.end() && topics_.try_emplace(known->second).second)
          topic_name_bytes_ += size_of(known->second);
      }
    } else if (record.is(mcap::Opcode::Message)) {
      const auto message = mcap::decode<mcap::Message>(record.content);
      if (!message) return;
      const auto known = channels_.find(message->channel_id);
      TopicBytes& topic =
          topics_[known == channels_.end() ? Key(fmt::format("channel {} without a record", message->channel_id), "-")
                                           : known->second];
      ++topic.messages;
      topic.bytes += message->data.size();
      topic.in_file += in_file;
    }
  }

  void take_chunk(const std::string& path, const mcap::RecordView& record, double in_file) {
    const auto chunk = mcap::decode<mcap::Chunk>(record.content);
    std::string cause = "the chunk there is damaged";
    const auto records = chunk ? mcap::records_of(*chunk, true, buffer_, cause) : std::nullopt;
    if (!records) {
      problems_.push_back(fmt::format("{}, byte {}: {}", path, record.offset, cause));
      return;
    }
    const double each = share(in_file, static_cast<double>(records->size()));
    for (mcap::View left = *records; !left.empty();) {
      const auto inner = mcap::take_record(left);
      if (!inner) {
        problems_.push_back(fmt::format("{}, byte {}: a record in the chunk there is damaged", path, record.offset));
        return;
      }
      const std::uint64_t bytes = mcap::kPrefixBytes + inner->content.size();
      inside_[name_of_kind(inner->opcode)].add(bytes);
      take_inner(*inner, each * static_cast<double>(bytes));
    }
  }

  std::uint64_t bytes_ = 0;
  std::map<std::string, KindBytes> top_, inside_;
  std::map<Key, TopicBytes> topics_;
  std::map<std::uint16_t, Key> channels_;         ///< of the file that is read
  std::map<std::uint16_t, std::string> schemas_;  ///< the same
  std::size_t name_bytes_ = 0;                    ///< of all that are kept
  std::size_t topic_name_bytes_ = 0;              ///< of these, in `topics_`
  bool too_many_names_ = false;
  std::vector<std::string> problems_, notes_;
  mcap::Bytes buffer_;
  Progress progress_;
};

}  // namespace

int bag_du(const BagDuOptions& o) {
  stop_on_signals();
  const record::RecordingFiles files = record::recording_files({o.file});
  Account account;
  for (const std::string& problem : files.problems) account.problem(problem);
  for (const std::string& note : files.notes) account.note(note);
  for (const std::string& path : files.files)
    if (!account.add(path)) return kFailed;
  const std::string text = o.json ? json_lines(account.json(o.file)) : account.text(o.file);
  if (!emit(text)) return kFailed;
  for (const std::string& note : account.notes()) warn(note);
  for (const std::string& problem : account.problems()) warn(problem);
  return account.problems().empty() ? kOk : kLoss;
}

}  // namespace cardan::apps
