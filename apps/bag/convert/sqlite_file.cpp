// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/bag/convert/converted_file.hpp"
#include "apps/bag/convert/sqlite_bag.hpp"
#include "cardan/error.hpp"
#include "src/base/output_file.hpp"
#include "src/mcap/new_file.hpp"
#include "src/record/metadata.hpp"
#include "src/record/recorder/bag_folder.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;

/// As rosbag2 has made them since Iron; older releases pass over what they do not know. Whatever ends this program, the
/// file has no name yet: no journal is needed.
constexpr const char* kTables = R"(
PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; PRAGMA temp_store=MEMORY;
BEGIN;
CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, serialization_format TEXT NOT NULL,
  offered_qos_profiles TEXT NOT NULL, type_description_hash TEXT NOT NULL);
CREATE TABLE message_definitions(id INTEGER PRIMARY KEY, topic_type TEXT NOT NULL, encoding TEXT NOT NULL,
  encoded_message_definition TEXT NOT NULL, type_description_hash TEXT NOT NULL);
CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
INSERT INTO schema VALUES (4, 'unknown');
)";

constexpr std::uint64_t kMostMessage = 1'000'000'000;  ///< that SQLite takes

/// rmw's words and numbers; Humble reads numbers alone.
constexpr auto kQosWords = std::to_array<std::pair<std::string_view, int>>(
    {{"history: system_default", 0},    {"history: keep_last", 1},          {"history: keep_all", 2},
     {"history: unknown", 3},           {"reliability: system_default", 0}, {"reliability: reliable", 1},
     {"reliability: best_effort", 2},   {"reliability: unknown", 3},        {"reliability: best_available", 4},
     {"durability: system_default", 0}, {"durability: transient_local", 1}, {"durability: volatile", 2},
     {"durability: unknown", 3},        {"durability: best_available", 4},  {"liveliness: system_default", 0},
     {"liveliness: automatic", 1},      {"liveliness: manual_by_node", 2},  {"liveliness: manual_by_topic", 3},
     {"liveliness: unknown", 4},        {"liveliness: best_available", 5}});

std::string in_numbers(std::string qos) {
  for (const auto& [words, number] : kQosWords) {
    const std::string_view key = words.substr(0, words.find(' ') + 1);
    for (auto at = qos.find(words); at != std::string::npos; at = qos.find(words, at + 1))
      qos.replace(at, words.size(), fmt::format("{}{}", key, number));
  }
  return qos;
}

std::string value_of(const mcap::Channel& channel, const char* key) {
  const auto found = channel.metadata.find(key);
  return found == channel.metadata.end() ? std::string() : found->second;
}

/// Made if it is not there, and removed if nothing came into it.
class OutputFolder {
 public:
  explicit OutputFolder(std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    std::error_code ignored;
    made_ = !fs::exists(path_, ignored);
    make_output_folder(path_);
  }
  ~OutputFolder() {
    std::error_code ignored;
    if (made_) fs::remove(path_, ignored);
  }
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  std::string path_;
  bool made_ = false;
};

/// Of a folder with or without a slash at the end.
std::string own_name(const std::string& folder) {
  std::error_code ignored;
  const fs::path whole = fs::weakly_canonical(fs::absolute(folder, ignored), ignored);
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

class SqliteFile final : public ConvertedFile {
 public:
  SqliteFile(std::string folder, const std::string& path, bool replace)
      : made_(folder), metadata_(folder, "sqlite3"), folder_(std::move(folder)), path_(path), file_(path, replace) {
    sqlite3* raw = nullptr;
    const int result = sqlite3_open_v2(sqlite_name_of(file_.fd(), "").c_str(), &raw,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(raw);
    if (result != SQLITE_OK) failed();
    run(kTables);
    message_ = prepare("INSERT INTO messages(topic_id, timestamp, data) VALUES(?1, ?2, ?3)");
  }

  [[nodiscard]] std::string refusal_of(const mcap::Schema& schema) const override {
    const auto known = schemas_.find(schema.name);
    const bool same =
        known == schemas_.end() || (known->second.encoding == schema.encoding && known->second.data == schema.data);
    return same ? "" : "a .db3 holds one definition of a type, and another topic has another one";
  }

  void add(const mcap::Schema& schema) override {
    schemas_[schema.name] = schema;
    names_[schema.id] = schema.name;
  }

  void add(const mcap::Channel& channel) override {
    mcap::Channel one = channel;
    one.metadata[record::kQosKey] = in_numbers(value_of(channel, record::kQosKey));
    const mcap::Schema& schema = schemas_.at(names_.at(one.schema_id));
    const std::string hash = value_of(one, record::kRosTypeHashKey);
    const Statement topic = prepare("INSERT INTO topics VALUES(?1, ?2, ?3, 'cdr', ?4, ?5)");
    sqlite3_bind_int64(topic.get(), 1, number_of(one.id));
    bind(topic, 2, one.topic);
    bind(topic, 3, schema.name);
    bind(topic, 4, one.metadata[record::kQosKey]);
    bind(topic, 5, hash);
    step(topic);
    if (defined_.insert(schema.id).second) {
      const Statement definition = prepare(
          "INSERT INTO message_definitions(topic_type, encoding, encoded_message_definition, type_description_hash) "
          "VALUES(?1, ?2, ?3, ?4)");
      bind(definition, 1, schema.name);
      bind(definition, 2, schema.encoding);
      bind(definition, 3, {reinterpret_cast<const char*>(schema.data.data()), schema.data.size()});
      bind(definition, 4, hash);
      step(definition);
    }
    channels_.push_back(std::move(one));
  }

  [[nodiscard]] const char* write(const mcap::Message& message) override {
    if (message.log_time > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return "their times are larger than SQLite's integers";
    if (message.data.size() < 4) return "they hold no CDR";
    if (message.data.size() > kMostMessage) return "they are longer than the 1 GB that SQLite holds";
    sqlite3_bind_int64(message_.get(), 1, number_of(message.channel_id));
    sqlite3_bind_int64(message_.get(), 2, static_cast<std::int64_t>(message.log_time));
    sqlite3_bind_blob64(message_.get(), 3, message.data.data(), message.data.size(), SQLITE_STATIC);
    step(message_);
    sqlite3_reset(message_.get());
    if (statistics_.message_count++ == 0) statistics_.message_start_time = message.log_time;
    statistics_.message_start_time = std::min(statistics_.message_start_time, message.log_time);
    statistics_.message_end_time = std::max(statistics_.message_end_time, message.log_time);
    ++statistics_.channel_message_counts[message.channel_id];
    return nullptr;
  }

  void finish(const mcap::Metadata&) override {
    std::vector<mcap::Schema> schemas;
    for (const auto& [name, schema] : schemas_) schemas.push_back(schema);
    metadata_.add(path_, statistics_, schemas, channels_);
    const std::string text = inner(metadata_.text());
    {
      const Statement row = prepare("INSERT INTO metadata(metadata_version, metadata) VALUES(?1, ?2)");
      sqlite3_bind_int64(row.get(), 1, record::BagFolder::kVersion);
      bind(row, 2, text);
      step(row);
    }
    message_.reset();
    run("COMMIT");
    sqlite3* const database = database_.release();
    if (sqlite3_close(database) != SQLITE_OK) {
      database_.reset(database);  // it is still open
      failed();
    }
    file_.finish();
    if (!folder_.empty()) metadata_.write();
  }

  [[nodiscard]] std::uint64_t bytes() const override {
    std::error_code ignored;
    const auto bytes = fs::file_size(path_, ignored);
    return ignored ? 0 : bytes;
  }

 private:
  using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

  static std::int64_t number_of(std::uint16_t channel) { return std::int64_t{channel} + 1; }

  /// The fields of a metadata.yaml, as the table has them: without their root.
  static std::string inner(std::string_view text) {
    std::string out;
    for (auto at = text.find('\n') + 1; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      out += std::string(text.substr(at + 2, end - at - 2)) + "\n";
      at = end + 1;
    }
    return out;
  }

  [[noreturn]] void failed() const {
    throw Error(ErrorCode::System, fmt::format("cannot write {}: {}", path_, sqlite3_errmsg(database_.get())),
                "make room, or write to another disk");
  }
  void run(const char* orders) {
    if (sqlite3_exec(database_.get(), orders, nullptr, nullptr, nullptr) != SQLITE_OK) failed();
  }
  [[nodiscard]] Statement prepare(const char* order) const {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(database_.get(), order, -1, &raw, nullptr) != SQLITE_OK) failed();
    return {raw, sqlite3_finalize};
  }
  /// `text` lives until the statement has run.
  static void bind(const Statement& statement, int place, std::string_view text) {
    sqlite3_bind_text64(statement.get(), place, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
  }
  void step(const Statement& statement) const {
    if (sqlite3_step(statement.get()) != SQLITE_DONE) failed();
  }

  OutputFolder made_;
  record::BagFolder metadata_;
  std::string folder_, path_;
  mcap::NewFile file_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_{nullptr, sqlite3_close};
  Statement message_{nullptr, sqlite3_finalize};
  std::map<std::string, mcap::Schema> schemas_;  ///< by the names of their types
  std::map<std::uint16_t, std::string> names_;
  std::vector<mcap::Channel> channels_;
  std::set<std::uint16_t> defined_;  ///< schemas that have their row
  mcap::Statistics statistics_;
};

}  // namespace

std::unique_ptr<ConvertedFile> sqlite_file(const std::string& path, bool replace) {
  const bool is_folder = !path.ends_with(".db3") || fs::is_directory(path);
  const std::string name = own_name(path);
  const std::string file = is_folder ? (fs::path(path) / (name + "_0.db3")).string() : path;
  const auto refuse = [](const std::string& what, const char* remedy) {
    throw Error(ErrorCode::InvalidArgument, what + " already exists", remedy);
  };
  std::error_code ignored;
  for (const char* const ending : {"-wal", "-journal", "-shm"})
    if (fs::exists(fs::symlink_status(file + ending, ignored)))
      refuse(file + ending, "it belongs to another .db3 of this name: remove it, or name another output");
  const std::string metadata = (fs::path(path) / record::BagFolder::kName).string();
  if (is_folder && !replace && fs::exists(fs::symlink_status(metadata, ignored)))
    refuse(metadata, "name another folder, or allow to replace it (--force)");
  return std::make_unique<SqliteFile>(is_folder ? path : std::string(), file, replace);
}

}  // namespace cardan::apps
