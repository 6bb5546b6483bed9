// SPDX-License-Identifier: Apache-2.0
#include "apps/bag/convert/sqlite_bag.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "cardan/error.hpp"
#include "cardan/mcap/input_file.hpp"
#include "cardan/stop.hpp"

namespace cardan::apps {
namespace {

constexpr int kMostBytes = 1'000'000'000;  ///< of a message, as rosbag2
constexpr std::size_t kMostSqliteProblems = 50;
constexpr int kStepsBetweenLooks = 1'000;
constexpr std::int64_t kStepsOfAnyFile = 1'000'000;
constexpr std::int64_t kPagesOfAnyFile = 20'000;
constexpr std::size_t kMostTopics = 65'535;
constexpr std::size_t kMostSqliteText = std::size_t{64} << 20;  ///< of names, types and definitions together

/// More than rosbag2's schema needs at most. A value is never longer than the file.
constexpr std::pair<int, int> kLimits[] = {{SQLITE_LIMIT_SQL_LENGTH, 1 << 16}, {SQLITE_LIMIT_COLUMN, 64},
                                           {SQLITE_LIMIT_EXPR_DEPTH, 32},      {SQLITE_LIMIT_COMPOUND_SELECT, 2},
                                           {SQLITE_LIMIT_VDBE_OP, 25'000},     {SQLITE_LIMIT_FUNCTION_ARG, 8},
                                           {SQLITE_LIMIT_ATTACHED, 0},         {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                           {SQLITE_LIMIT_WORKER_THREADS, 0},   {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64}};

using Database = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;
using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

bool is_one_of(const char* name, std::initializer_list<const char*> names) {
  return name != nullptr &&
         std::any_of(names.begin(), names.end(), [&](const char* one) { return sqlite3_stricmp(name, one) == 0; });
}

/// The rights of a statement: to read the tables of ROS 2. Nothing of a view or a trigger, and nothing that computes.
int permit(void*, int action, const char* first, const char* second, const char*, const char* within) {
  const bool permitted =
      action == SQLITE_SELECT ||
      (action == SQLITE_READ && within == nullptr &&
       is_one_of(first, {"topics", "messages", "message_definitions", "sqlite_master"})) ||
      (action == SQLITE_FUNCTION && is_one_of(second, {"count"})) ||
      (action == SQLITE_PRAGMA && is_one_of(first, {"table_xinfo", "page_size", "cell_size_check", "mmap_size"}));
  return permitted ? SQLITE_OK : SQLITE_DENY;
}

/// The bytes of a file, 0 if it does not exist. Throws Error if it is not a file, because SQLite would wait for a pipe.
std::uintmax_t bytes_of(const std::string& path) {
  std::error_code missing;
  const std::filesystem::file_status status = std::filesystem::status(path, missing);
  if (!std::filesystem::exists(status)) return 0;
  if (!std::filesystem::is_regular_file(status))
    throw Error(ErrorCode::InvalidArgument, path + " is not a file", "remove it if ros2 bag record did not write it");
  const std::uintmax_t bytes = std::filesystem::file_size(path, missing);
  return missing ? 0 : bytes;
}

constexpr const char* kDescriptors = "/proc/self/fd/";

/// SQLite follows no link at the end of a name, and a descriptor's name is one.
int open_for_sqlite(const char* name, int flags, int mode) {
  const bool is_open = std::strncmp(name, kDescriptors, std::strlen(kDescriptors)) == 0;
  return ::open(name, is_open ? flags & ~O_NOFOLLOW : flags, mode);
}

/// As a path in a URI.
std::string escaped(const std::string& path) {
  std::string out;
  for (const char c : path)
    out += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  return out;
}

}  // namespace

std::string sqlite_name_of(int fd, const char* parameters) {
  // SQLite's own way to open files, but with names as they are: what has no name has no other one.
  static sqlite3_vfs by_descriptor;
  static const bool registered = [] {
    by_descriptor = *sqlite3_vfs_find(nullptr);
    by_descriptor.zName = "cardan_descriptor";
    by_descriptor.pNext = nullptr;
    by_descriptor.xFullPathname = [](sqlite3_vfs*, const char* name, int room, char* out) {
      sqlite3_snprintf(room, out, "%s", name);
      return SQLITE_OK;
    };
    by_descriptor.xSetSystemCall(&by_descriptor, "open", reinterpret_cast<sqlite3_syscall_ptr>(&open_for_sqlite));
    return sqlite3_vfs_register(&by_descriptor, 0) == SQLITE_OK;
  }();
  return fmt::format("file:{}{}?vfs={}{}", kDescriptors, fd, registered ? by_descriptor.zName : "", parameters);
}

struct SqliteBag::State {
  std::string path;
  Read read;
  std::optional<mcap::InputFile> unpacked{};  ///< of a file that was compressed
  Database database{nullptr, sqlite3_close};
  Statement rows{nullptr, sqlite3_finalize};
  std::int64_t last = 0;       ///< number of the row that was read last, or that was passed over
  std::int64_t most = 0;       ///< the highest number
  std::int64_t gap_begin = 0;  ///< of rows that cannot be read; 0: none
  std::int64_t stride = 1;     ///< by which such rows are passed over
  std::uint64_t counted = 0;   ///< rows by its own index, where there is one; 0: nobody knows
  std::uint64_t taken = 0;     ///< rows that were read
  std::string cause{};
  std::uintmax_t bytes = 0;        ///< of the file and its journal
  std::uintmax_t output_left = 0;  ///< bytes that messages may still have
  std::size_t text_left = kMostSqliteText;
  std::int64_t page_bytes = 4096;
  std::int64_t steps_left = 0, pages_left = 0;  ///< of SQLite's machine

  State(std::string file, Read what) : path(std::move(file)), read(what) {
    const std::string uri = uri_of_file();
    sqlite3* raw = nullptr;
    const int result =
        sqlite3_open_v2(uri.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    database.reset(raw);
    if (result != SQLITE_OK) fail("cannot be opened");
    // The file may be anybody's: nothing in it is run, and no cell leads out of its page. Else SQLite would not look at
    // a file at all that is cut, or whose schema is damaged somewhere (nothing is written).
    sqlite3_db_config(raw, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    for (const auto& [limit, value] : kLimits) sqlite3_limit(raw, limit, value);
    sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, static_cast<int>(std::clamp<std::uintmax_t>(bytes, 1 << 16, kMostBytes)));
    sqlite3_set_authorizer(raw, &permit, nullptr);
    renew();
    sqlite3_progress_handler(raw, kStepsBetweenLooks, &State::is_enough, this);
    sqlite3_exec(raw, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", nullptr, nullptr, nullptr);
    if (const Statement size = prepare("PRAGMA page_size"); size && sqlite3_step(size.get()) == SQLITE_ROW)
      page_bytes = std::max<std::int64_t>(512, sqlite3_column_int64(size.get(), 0));
    renew();
  }

  /// Where SQLite finds it; sets how long it is.
  std::string uri_of_file() {
    if (path.ends_with(mcap::InputFile::kPackedEnding)) {
      unpacked = mcap::InputFile::of_recording(path);
      bytes = output_left = unpacked->size();
      return sqlite_name_of(unpacked->fd(), "&immutable=1");
    }
    // SQLite reads a journal next to the file, and makes no file there.
    const std::uintmax_t journal = bytes_of(path + "-wal") + bytes_of(path + "-journal") + bytes_of(path + "-shm");
    bytes = output_left = bytes_of(path) + journal;
    return "file:" + escaped(std::filesystem::absolute(path).string()) + (journal != 0 ? "" : "?immutable=1");
  }

  /// The limit on a walk through the whole file. Pages of a hostile file lead to the same pages again and again, so
  /// that a walk never ends. An honest row is longer than ten bytes, and takes fewer than 64 steps; of its pages, each
  /// is looked at a few times.
  void renew() {
    const auto all = static_cast<std::int64_t>(std::min(bytes, std::uintmax_t{1} << 50));
    steps_left = 8 * all + kStepsOfAnyFile;
    pages_left = 8 * (all / page_bytes) + kPagesOfAnyFile;
  }
  [[nodiscard]] bool is_exhausted() const { return steps_left < 0 || pages_left < 0; }

  /// Whether SQLite must give up: it has done more than any honest file of this size takes, or the user wants it.
  static int is_enough(void* state) {
    auto& s = *static_cast<State*>(state);
    s.steps_left -= kStepsBetweenLooks;
    for (const int kind : {SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS}) {
      int pages = 0, most = 0;
      sqlite3_db_status(s.database.get(), kind, &pages, &most, 1);
      s.pages_left -= pages;
    }
    return s.is_exhausted() || stopping() ? 1 : 0;
  }
  [[nodiscard]] std::string error() const {
    return is_exhausted() ? "the tree of the table leads to the same pages again and again"
                          : sqlite3_errmsg(database.get());
  }

  [[noreturn]] void fail(const char* what) const {
    if (stopping()) throw Error(ErrorCode::System, "stopped while " + path + " was opened", "start again");
    const bool known = is_exhausted() || sqlite3_errcode(database.get()) != SQLITE_OK;
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} {}{}", path, what, known ? ": " + error() : ""),
                "name a .db3 file that ros2 bag record wrote");
  }

  Statement prepare(const char* text) const {
    sqlite3_stmt* raw = nullptr;
    sqlite3_prepare_v2(database.get(), text, -1, &raw, nullptr);
    return {raw, sqlite3_finalize};
  }

  /// A table that stores what it holds. A view, a virtual table and a generated column compute it, from a few bytes
  /// without end.
  [[nodiscard]] bool has_table(const char* name) const {
    const Statement found = prepare("SELECT rootpage, sql FROM sqlite_master WHERE type = 'table' AND name = ?1");
    if (!found) return false;
    sqlite3_bind_text(found.get(), 1, name, -1, SQLITE_STATIC);
    if (sqlite3_step(found.get()) != SQLITE_ROW || sqlite3_column_int64(found.get(), 0) <= 0) return false;
    const auto* const sql = reinterpret_cast<const char*>(sqlite3_column_text(found.get(), 1));
    return sql != nullptr && sqlite3_strnicmp(sql, "CREATE TABLE ", 13) == 0 && stores_all(name);
  }
  [[nodiscard]] bool stores_all(const char* name) const {
    constexpr int kName = 1, kHidden = 6;
    const Statement columns = prepare(fmt::format("PRAGMA table_xinfo({})", name).c_str());
    int step = SQLITE_ERROR, count = 0;
    for (; columns && (step = sqlite3_step(columns.get())) == SQLITE_ROW; ++count) {
      const auto* const column = reinterpret_cast<const char*>(sqlite3_column_text(columns.get(), kName));
      // (By its own row's number a table is in order; a column of that name would have to be sorted.)
      if (sqlite3_column_int(columns.get(), kHidden) != 0 || is_one_of(column, {"rowid", "oid", "_rowid_"}))
        return false;
    }
    return step == SQLITE_DONE && count > 0;
  }

  /// A text of a row. All of them together have the limit of an honest file.
  std::string text_at(sqlite3_stmt* row, int column) {
    const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
    const auto size = text == nullptr ? std::size_t{0} : static_cast<std::size_t>(sqlite3_column_bytes(row, column));
    return afford(size) ? std::string(text == nullptr ? "" : text, size) : std::string();
  }
  bool afford(std::size_t text) {
    has_too_much_text = has_too_much_text || text > text_left;
    if (!has_too_much_text) text_left -= text;
    return !has_too_much_text;
  }
  bool has_too_much_text = false;

  void query() {
    rows = prepare(read == Read::All
                       ? "SELECT rowid, topic_id, timestamp, data FROM messages WHERE rowid > ?1 ORDER BY rowid"
                       : "SELECT rowid, topic_id, timestamp, NULL FROM messages WHERE rowid > ?1 ORDER BY rowid");
    if (rows) sqlite3_bind_int64(rows.get(), 1, last);
  }
};

SqliteBag::SqliteBag(const std::string& path, Read read) : state_(std::make_unique<State>(path, read)) {
  State& s = *state_;
  if (!s.has_table("topics") || !s.has_table("messages"))
    s.fail("has no tables of topics and messages as ROS 2 writes them");
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
  while ((step = sqlite3_step(topics.get())) == SQLITE_ROW && topics_.size() < kMostTopics) {
    const auto text = [&](int column) { return column < columns ? s.text_at(topics.get(), column) : std::string(); };
    SqliteTopic topic{.name = text(1), .type = text(2), .format = text(3), .qos = text(4), .hash = text(5)};
    if (s.has_too_much_text) break;
    topics_[sqlite3_column_int64(topics.get(), 0)] = std::move(topic);
  }
  if (step != SQLITE_DONE) problems_.push_back(fmt::format("the table of topics: {}", s.error()));
  if (s.has_table("message_definitions")) {
    const Statement found =
        s.prepare("SELECT topic_type, encoding, encoded_message_definition FROM message_definitions ORDER BY rowid");
    std::map<std::string, std::pair<std::string, std::string>> definitions;
    while (found && (step = sqlite3_step(found.get())) == SQLITE_ROW && definitions.size() < kMostTopics)
      definitions.try_emplace(s.text_at(found.get(), 0), s.text_at(found.get(), 1), s.text_at(found.get(), 2));
    if (!found || step != SQLITE_DONE)
      problems_.push_back(fmt::format("the table of message definitions: {}", s.error()));
    for (auto& [id, topic] : topics_)
      if (const auto one = definitions.find(topic.type);
          one != definitions.end() && s.afford(one->second.first.size() + one->second.second.size()))
        std::tie(topic.definition_encoding, topic.definition) = one->second;
  }
  if (s.has_too_much_text)
    problem(fmt::format("its topics and definitions have more than {} MiB of text: the rest is left out",
                        kMostSqliteText >> 20U));
  const Statement most = s.prepare("SELECT rowid FROM messages ORDER BY rowid DESC LIMIT 1");
  if (most && sqlite3_step(most.get()) == SQLITE_ROW)
    s.most = std::min(sqlite3_column_int64(most.get(), 0), std::numeric_limits<sqlite3_int64>::max() - 1);
  // Of a column, by the index that has it, so that SQLite counts row by row: count(*) is one step, which nothing ends.
  const Statement counted = s.prepare("SELECT count(timestamp) FROM messages");
  step = counted ? sqlite3_step(counted.get()) : SQLITE_ERROR;
  if (step != SQLITE_ROW)
    problem("the messages cannot be counted: " + s.error());
  else
    state_->counted = static_cast<std::uint64_t>(std::max<std::int64_t>(0, sqlite3_column_int64(counted.get(), 0)));
  s.renew();
  s.query();
  if (!state_->rows) s.fail("has a table of messages in another form than ROS 2 writes");
}

SqliteBag::~SqliteBag() = default;

std::uint64_t SqliteBag::bytes() const noexcept { return state_->bytes; }

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
      // Rows lie side by side: a default value, or pages that many rows share, would multiply what is there.
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(s.rows.get(), 3));
      if (size > s.output_left) {
        --s.taken;
        problem(fmt::format("from row {} on, its messages are longer than the file: they are left out", id));
        return end();
      }
      s.output_left -= size;
      return SqliteMessage{.topic = sqlite3_column_int64(s.rows.get(), 1),
                           .time = sqlite3_column_int64(s.rows.get(), 2),
                           .data = {static_cast<const std::byte*>(data), size}};
    }
    // Pages of a damaged tree may lead back.
    s.cause = step == SQLITE_ROW ? "the table contains a cycle" : s.error();
    if (s.last >= s.most || s.is_exhausted() || stopping()) {
      problem("the messages: " + s.cause);
      return end();
    }
    if (s.gap_begin == 0) s.gap_begin = s.last + 1;
    // After the damaged page, wherever that ends: further each time.
    s.last = s.stride > s.most - s.last ? s.most : s.last + s.stride;
    s.stride = std::min(2 * s.stride, std::int64_t{1} << 60);
    s.query();
  }
  return std::nullopt;
}

}  // namespace cardan::apps
