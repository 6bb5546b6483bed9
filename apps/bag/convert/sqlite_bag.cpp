// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/convert/sqlite_bag.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "cardan/base/error.hpp"
#include "cardan/transport/stop.hpp"

namespace cardan::apps {
namespace {

constexpr int kMostBytes = 1'000'000'000;  ///< of a message, as rosbag2
constexpr std::size_t kMostSqliteProblems = 50;
constexpr int kStepsBetweenLooks = 10'000;
constexpr std::int64_t kStepsOfAnyFile = 10'000'000;
constexpr std::size_t kMostTopics = 65'535;

using Database = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;
using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

std::string text_at(sqlite3_stmt* row, int column) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  return text == nullptr ? std::string()
                         : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
}

/// As a path in a URI.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path)
    out += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  return out;
}

}  // namespace

struct SqliteBag::State {
  std::string path;
  Database database{nullptr, sqlite3_close};
  Statement rows{nullptr, sqlite3_finalize};
  std::int64_t last = 0;       ///< number of the row that was read last, or that was passed over
  std::int64_t most = 0;       ///< the highest number
  std::int64_t gap_begin = 0;  ///< of rows that cannot be read; 0: none
  std::int64_t stride = 1;     ///< by which such rows are passed over
  std::uint64_t counted = 0;   ///< rows by an index of its own, where there is one; 0: nobody knows
  std::uint64_t taken = 0;     ///< rows that were read
  std::string cause{};
  std::int64_t steps_left = 0;  ///< of SQLite's machine

  explicit State(std::string file) : path(std::move(file)) {
    // What a journal beside it holds counts; where none is, nothing is written beside it.
    std::error_code ignored;
    const bool journal =
        std::filesystem::exists(path + "-wal", ignored) || std::filesystem::exists(path + "-journal", ignored);
    const std::string uri =
        "file:" + escaped(std::filesystem::absolute(path).string()) + (journal ? "" : "?immutable=1");
    sqlite3* raw = nullptr;
    const int result =
        sqlite3_open_v2(uri.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    database.reset(raw);
    if (result != SQLITE_OK) fail("cannot be opened");
    // The file may be anybody's: nothing in it is run, and no cell leads out of its page. Else SQLite would not look at
    // a file at all that is cut, or whose schema is damaged somewhere (nothing is written).
    sqlite3_db_config(raw, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, kMostBytes);
    // Pages of a hostile file lead to the same pages again and again: a walk of that file never ends. An honest row is
    // longer than ten bytes, and takes fewer than 64 steps.
    const std::uintmax_t bytes = std::filesystem::file_size(path, ignored);
    steps_left = static_cast<std::int64_t>(std::min<std::uintmax_t>(ignored ? 0 : bytes, std::uintmax_t{1} << 50) * 8) +
                 kStepsOfAnyFile;
    sqlite3_progress_handler(raw, kStepsBetweenLooks, &State::is_enough, this);
    sqlite3_exec(raw, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", nullptr, nullptr, nullptr);
  }

  /// Whether SQLite shall give up: it has had more steps than any honest file of this size takes, or the user wants it.
  static int is_enough(void* state) {
    auto& left = static_cast<State*>(state)->steps_left;
    left -= kStepsBetweenLooks;
    return left < 0 || stopping() ? 1 : 0;
  }
  [[nodiscard]] std::string error() const {
    return steps_left < 0 ? "the tree of the table leads to the same pages again and again"
                          : sqlite3_errmsg(database.get());
  }

  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} {}: {}", path, what, error()),
                "name a .db3 file that ros2 bag record wrote");
  }

  Statement prepare(const char* text) const {
    sqlite3_stmt* raw = nullptr;
    sqlite3_prepare_v2(database.get(), text, -1, &raw, nullptr);
    return {raw, sqlite3_finalize};
  }
  /// A table, and nothing that only looks like one: a view may compute for ever.
  [[nodiscard]] bool has_table(const char* name) const {
    const Statement found =
        prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND sql NOT LIKE '%VIRTUAL%'");
    if (!found) return false;
    sqlite3_bind_text(found.get(), 1, name, -1, SQLITE_STATIC);
    return sqlite3_step(found.get()) == SQLITE_ROW;
  }

  void query() {
    rows = prepare("SELECT id, topic_id, timestamp, data FROM messages WHERE id > ?1 ORDER BY id");
    if (rows) sqlite3_bind_int64(rows.get(), 1, last);
  }
};

SqliteBag::SqliteBag(const std::string& path) : state_(std::make_unique<State>(path)) {
  const State& s = *state_;
  if (!s.has_table("topics") || !s.has_table("messages")) s.fail("has no topics and messages of ROS 2");
  // The columns came one after the other, from Foxy to Jazzy.
  Statement topics{nullptr, sqlite3_finalize};
  int columns = 6;
  for (const char* text :
       {"SELECT id, name, type, serialization_format, offered_qos_profiles, type_description_hash FROM topics",
        "SELECT id, name, type, serialization_format, offered_qos_profiles FROM topics",
        "SELECT id, name, type, serialization_format FROM topics"}) {
    topics = s.prepare(text);
    if (topics) break;
    --columns;
  }
  if (!topics) s.fail("has a table of topics in another form than ROS 2 writes");
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(topics.get())) == SQLITE_ROW && topics_.size() < kMostTopics)
    topics_[sqlite3_column_int64(topics.get(), 0)] = {.name = text_at(topics.get(), 1),
                                                      .type = text_at(topics.get(), 2),
                                                      .format = text_at(topics.get(), 3),
                                                      .qos = columns > 4 ? text_at(topics.get(), 4) : std::string(),
                                                      .hash = columns > 5 ? text_at(topics.get(), 5) : std::string()};
  if (step != SQLITE_DONE) problems_.push_back(fmt::format("the table of topics: {}", s.error()));
  if (s.has_table("message_definitions")) {
    const Statement found =
        s.prepare("SELECT topic_type, encoding, encoded_message_definition FROM message_definitions ORDER BY id");
    std::map<std::string, std::pair<std::string, std::string>> definitions;
    while (found && (step = sqlite3_step(found.get())) == SQLITE_ROW && definitions.size() < kMostTopics)
      definitions.try_emplace(text_at(found.get(), 0), text_at(found.get(), 1), text_at(found.get(), 2));
    if (!found || step != SQLITE_DONE)
      problems_.push_back(fmt::format("the table of message definitions: {}", s.error()));
    for (auto& [id, topic] : topics_)
      if (const auto one = definitions.find(topic.type); one != definitions.end())
        std::tie(topic.definition_encoding, topic.definition) = one->second;
  }
  const Statement most = s.prepare("SELECT id FROM messages ORDER BY id DESC LIMIT 1");
  if (most && sqlite3_step(most.get()) == SQLITE_ROW) state_->most = sqlite3_column_int64(most.get(), 0);
  // Of a column, by the index that has it, so that SQLite counts row by row: count(*) is one step, which nothing ends.
  const Statement counted = s.prepare("SELECT count(timestamp) FROM messages");
  step = counted ? sqlite3_step(counted.get()) : SQLITE_ERROR;
  if (step != SQLITE_ROW)
    problem("the messages cannot be counted: " + s.error());
  else
    state_->counted = static_cast<std::uint64_t>(std::max<std::int64_t>(0, sqlite3_column_int64(counted.get(), 0)));
  state_->query();
  if (!state_->rows) s.fail("has a table of messages in another form than ROS 2 writes");
}

SqliteBag::~SqliteBag() = default;

/// Rows that could not be read end before `behind`.
void SqliteBag::close_gap(std::int64_t behind) {
  State& s = *state_;
  if (s.gap_begin != 0 && behind > s.gap_begin) {
    missing_ += static_cast<std::uint64_t>(behind - s.gap_begin);
    problem(fmt::format("rows {} to {} of the messages: {}", s.gap_begin, behind - 1, s.cause));
  }
  s.gap_begin = 0;
  s.stride = 1;
}

void SqliteBag::problem(std::string what) {
  if (problems_.size() < kMostSqliteProblems) problems_.push_back(std::move(what));
}

/// The end; compares the known counts.
std::optional<SqliteMessage> SqliteBag::end() {
  State& s = *state_;
  close_gap(s.most + 1);
  if (s.counted > s.taken) {
    missing_ = s.counted - s.taken;
    if (problems_.empty()) problem(fmt::format("{} of the {} messages were not found", missing_, s.counted));
  } else if (s.counted != 0) {
    missing_ = 0;  // numbers that were never given are not missing
  }
  s.rows.reset();
  s.last = s.most;
  return std::nullopt;
}

std::optional<SqliteMessage> SqliteBag::next() {
  State& s = *state_;
  while (s.rows) {
    const int step = sqlite3_step(s.rows.get());
    if (step == SQLITE_DONE) {
      if (s.most > s.last && s.gap_begin == 0) {
        s.gap_begin = s.last + 1;
        s.cause = "they are not there";
      }
      return end();
    }
    const std::int64_t id = step == SQLITE_ROW ? sqlite3_column_int64(s.rows.get(), 0) : 0;
    if (step == SQLITE_ROW && id > s.last) {
      close_gap(id);
      s.last = id;
      ++s.taken;
      const void* const data = sqlite3_column_blob(s.rows.get(), 3);
      return SqliteMessage{.topic = sqlite3_column_int64(s.rows.get(), 1),
                           .time = sqlite3_column_int64(s.rows.get(), 2),
                           .data = {static_cast<const std::byte*>(data),
                                    static_cast<std::size_t>(sqlite3_column_bytes(s.rows.get(), 3))}};
    }
    // Pages of a damaged tree may lead back.
    s.cause = step == SQLITE_ROW ? "the table contains a cycle" : s.error();
    if (s.last >= s.most) {
      problem("the messages: " + s.cause);
      return end();
    }
    if (s.gap_begin == 0) s.gap_begin = s.last + 1;
    // Behind the damaged page, wherever that ends: further each time.
    s.last = s.stride > s.most - s.last ? s.most : s.last + s.stride;
    s.stride = std::min(2 * s.stride, std::int64_t{1} << 60);
    s.query();
  }
  return std::nullopt;
}

}  // namespace cardan::apps
