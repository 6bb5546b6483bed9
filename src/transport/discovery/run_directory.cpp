// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/run_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <map>
#include <tuple>

#include "cardan/error.hpp"

namespace cardan::detail {
namespace {

constexpr std::size_t kIdDigits = 16;
constexpr std::size_t kProcessAt = 2 + kIdDigits + 1;  ///< in "t.<hash>.<process>.<serial>"

std::string name_of(const TopicEntry& e) { return fmt::format("t.{:016x}.{}.{}", e.topic_hash, e.process, e.serial); }
std::string socket_name(const std::string& process) { return "p." + process; }

/// The process of `p.<16 hex>` and, with `end` "~", of the name that it has until it listens. Empty: another name.
std::string process_of(const char* name, const char* end = "") {
  if (std::strncmp(name, "p.", 2) != 0 || std::strspn(name + 2, "0123456789abcdef") != kIdDigits ||
      std::strcmp(name + 2 + kIdDigits, end) != 0)
    return {};
  return {name + 2, kIdDigits};
}

/// Calls `see` with each name of the folder, in one pass. readdir() would need its own descriptor, and without one
/// the folder would look empty.
template <typename See>
void for_each_name(const RunFolder& folder, const See& see) {
  struct Entry {  // linux_dirent64
    std::uint64_t inode;
    std::int64_t offset;
    std::uint16_t bytes;
    std::uint8_t type;
    char name[1];
  };
  alignas(Entry) std::array<char, 32768> part;
  const std::lock_guard lock(folder.listing);
  if (::lseek(folder.fd.get(), 0, SEEK_SET) != 0) return;
  for (;;) {
    const auto n = ::syscall(SYS_getdents64, folder.fd.get(), part.data(), part.size());
    if (n <= 0) return;
    for (long at = 0; at < n;) {
      std::uint16_t bytes = 0;
      std::memcpy(&bytes, part.data() + at + offsetof(Entry, bytes), sizeof(bytes));
      see(static_cast<const char*>(part.data() + at + offsetof(Entry, name)));
      at += bytes;
    }
  }
}

bool look_at(const RunFolder& folder, const std::string& name, struct stat& st) noexcept {
  return ::fstatat(folder.fd.get(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0;
}

void unlink_in(const RunFolder& folder, const std::string& name) noexcept {
  ::unlinkat(folder.fd.get(), name.c_str(), 0);
}

/// Names of several users: all of ours and root's, and at most the allowed number of the others'.
template <typename Item>
class Shares {
 public:
  Shares(std::size_t of_one, std::size_t of_all) : of_one_(of_one), of_all_(of_all) {}

  void add(const struct stat& st, Item item) {
    const uid_t user = socket::user_of(st.st_uid);
    if (user == ::geteuid()) return ours_.push_back(std::move(item));
    if (user == 0) return roots_.push_back(std::move(item));
    if (kept_ >= 4 * of_all_) return;
    std::vector<Foreign>& share = others_[user];
    if (share.size() >= of_one_) return;
    share.push_back({st.st_ctim.tv_sec, st.st_ctim.tv_nsec, std::move(item)});
    ++kept_;
  }

  /// Ours, root's, then the others' in turns, so that a user with many names does not come before one with few. The
  /// oldest of each user come first, so that adding more names later gains nothing.
  std::vector<Item> take() {
    std::vector<Item> all = std::move(ours_);
    std::move(roots_.begin(), roots_.end(), std::back_inserter(all));
    for (auto& [user, share] : others_)
      std::sort(share.begin(), share.end(), [](const Foreign& a, const Foreign& b) {
        return std::tie(a.seconds, a.nanoseconds) < std::tie(b.seconds, b.nanoseconds);
      });
    std::size_t given = 0;
    for (std::size_t turn = 0; turn < of_one_ && given < of_all_; ++turn) {
      const std::size_t before = given;
      for (auto& [user, share] : others_)
        if (turn < share.size() && given < of_all_) {
          all.push_back(std::move(share[turn].item));
          ++given;
        }
      if (given == before) break;
    }
    return all;
  }

 private:
  struct Foreign {
    std::int64_t seconds;
    std::int64_t nanoseconds;
    Item item;
  };
  std::size_t of_one_;
  std::size_t of_all_;
  std::size_t kept_ = 0;
  std::vector<Item> ours_;
  std::vector<Item> roots_;
  std::map<uid_t, std::vector<Foreign>> others_;
};

}  // namespace

RunDirectory::RunDirectory(const std::string& domain) : state_(std::make_shared<State>()) {
  state_->folder = RunFolder::open(domain);
  state_->root = state_->folder->root_path;
  state_->path = state_->folder->path;
}

RunDirectory::Folder RunDirectory::folder() const {
  const std::lock_guard lock(state_->mutex);
  return state_->folder;
}

RunDirectory::Folder RunDirectory::folder_now() const {
  Folder known = folder();
  if (known->is_there()) return known;
  const Folder found = known->again();
  if (!found) return known;
  const std::lock_guard lock(state_->mutex);
  return state_->folder = found;
}

std::optional<TopicEntry> RunDirectory::parse(const std::string& name) {
  constexpr std::size_t kHash = 2;
  constexpr std::size_t kSerial = kProcessAt + kIdDigits + 1;
  const auto is_id = [&](std::size_t at) {
    return std::strspn(name.c_str() + at, "0123456789abcdef") == kIdDigits && name[at + kIdDigits] == '.';
  };
  if (name.size() <= kSerial || !name.starts_with("t.") || !is_id(kHash) || !is_id(kProcessAt)) return std::nullopt;
  if (name[kSerial] == '0' && name.size() != kSerial + 1) return std::nullopt;  // Cardan makes no such name
  TopicEntry e;
  const char* const end = name.data() + name.size();
  std::from_chars(name.data() + kHash, end, e.topic_hash, 16);
  const auto serial = std::from_chars(name.data() + kSerial, end, e.serial);
  if (serial.ec != std::errc() || serial.ptr != end) return std::nullopt;
  e.process = name.substr(kProcessAt, kIdDigits);
  return e;
}

Fd RunDirectory::listen(const std::string& process) const {
  return socket::listen_in(folder_now()->fd.get(), socket_name(process), socket_path(process));
}

void RunDirectory::add_topic(const TopicEntry& entry, const std::string& topic) const {
  const std::string name = name_of(entry);
  if (::symlinkat(topic.c_str(), folder_now()->fd.get(), name.c_str()) != 0)
    throw Error(ErrorCode::Unavailable,
                fmt::format("cannot announce '{}' as {}/{}: {}", topic, path(), name, std::strerror(errno)),
                "make the run directory writable and check its free space (df, df -i)");
}

void RunDirectory::remove_topic(const TopicEntry& entry) const noexcept { unlink_in(*folder(), name_of(entry)); }

std::optional<std::string> RunDirectory::topic_of(const TopicEntry& entry) const {
  char text[512];
  const ssize_t n = ::readlinkat(folder()->fd.get(), name_of(entry).c_str(), text, sizeof(text));
  if (n <= 0 || n == sizeof(text)) return std::nullopt;
  return std::string(text, static_cast<std::size_t>(n));
}

std::vector<TopicEntry> RunDirectory::entries(std::optional<std::uint64_t> topic_hash) const {
  const std::string prefix = topic_hash ? fmt::format("t.{:016x}.", *topic_hash) : "t.";
  Shares<TopicEntry> all(topic_hash ? kTopicOfOne : kListOfOne, topic_hash ? kTopicOfAll : kListOfAll);
  const Folder folder = folder_now();
  // Compared before it is parsed: with a thousand topics each new subscriber reads a thousand names.
  for_each_name(*folder, [&](const char* name) {
    struct stat st{};
    if (std::strncmp(name, prefix.c_str(), prefix.size()) != 0) return;
    auto entry = parse(name);
    if (!entry || !look_at(*folder, name, st) || !S_ISLNK(st.st_mode)) return;
    entry->owner = socket::user_of(st.st_uid);
    all.add(st, std::move(*entry));
  });
  std::vector<TopicEntry> list = all.take();
  // Names that another user's dead process left, or that never belonged to a process, are not ours to remove, so no
  // attempt is made.
  std::map<std::string, std::optional<uid_t>> sockets;
  std::erase_if(list, [&](const TopicEntry& e) {
    if (e.owner == ::geteuid()) return false;
    const auto [known, is_new] = sockets.try_emplace(e.process);
    struct stat st{};
    if (is_new && look_at(*folder, socket_name(e.process), st) && S_ISSOCK(st.st_mode))
      known->second = socket::user_of(st.st_uid);
    return known->second != e.owner;
  });
  return list;
}

std::optional<TopicEntry> RunDirectory::entry(const std::string& name) const {
  struct stat st{};
  auto entry = parse(name);
  if (!entry || !look_at(*folder(), name, st) || !S_ISLNK(st.st_mode)) return std::nullopt;
  entry->owner = socket::user_of(st.st_uid);
  return entry;
}

std::vector<std::string> RunDirectory::processes() const {
  Shares<std::string> all(kListOfOne, kListOfAll);
  const Folder folder = folder_now();
  for_each_name(*folder, [&](const char* name) {
    struct stat st{};
    if (std::string process = process_of(name); !process.empty() && look_at(*folder, name, st) && S_ISSOCK(st.st_mode))
      all.add(st, std::move(process));
  });
  return all.take();
}

Fd RunDirectory::find(const RunFolder& folder, const std::string& process, uid_t& owner, int& error) noexcept {
  Fd name(::openat(folder.fd.get(), socket_name(process).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  error = errno;
  if (!name) return {};
  struct stat st{};
  error = ENOTSOCK;
  if (::fstat(name.get(), &st) != 0 || !S_ISSOCK(st.st_mode)) return {};
  // One socket with a thousand names would be connected to a thousand times.
  error = st.st_nlink == 0 ? ENOENT : EMLINK;
  if (st.st_nlink != 1) return {};
  owner = socket::user_of(st.st_uid);
  error = 0;
  return name;
}

std::optional<uid_t> RunDirectory::owner_of(const std::string& process, int& error) const noexcept {
  uid_t owner = 0;
  if (!find(*folder(), process, owner, error)) return std::nullopt;
  return owner;
}

Fd RunDirectory::connect(const std::string& process, int& error, const Accept& accept) const {
  uid_t owner = 0;
  const Fd name = find(*folder(), process, owner, error);
  if (!name) return {};
  error = EPERM;
  if (accept && !accept(owner)) return {};
  Fd socket = socket::connect_to(name.get(), error);
  if (!socket) return {};
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && socket::user_of(peer.uid) == owner)
    return socket;
  error = EOWNERDEAD;
  return {};
}

std::optional<Fd> RunDirectory::reach(const std::string& process, int& error, const Accept& accept) const {
  Fd socket = connect(process, error, accept);
  if (!socket && error != EAGAIN && error != EACCES) return std::nullopt;
  return socket;
}

namespace {

/// Whether we may remove a name with this owner if its process is dead.
bool ours_to_remove(const RunFolder& folder, const struct stat& st) noexcept {
  return st.st_uid == ::geteuid() || ::geteuid() == 0 || folder.owner == ::geteuid();
}

/// "r.<16 hex>.<number>"
bool is_system_lock(const char* name) {
  if (std::strncmp(name, "r.", 2) != 0 || std::strspn(name + 2, "0123456789abcdef") != kIdDigits) return false;
  const char* const user = name + 2 + kIdDigits + 1;
  return user[-1] == '.' && *user != '\0' && user[std::strspn(user, "0123456789")] == '\0';
}

/// A process that waits for the lock looks at the name once it has it.
void remove_if_unlocked(const RunFolder& folder, const std::string& name) noexcept {
  const Fd file(::openat(folder.fd.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat opened{};
  struct stat named{};
  if (!file || ::fstat(file.get(), &opened) != 0 || !S_ISREG(opened.st_mode)) return;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 || !look_at(folder, name, named)) return;
  if (opened.st_dev == named.st_dev && opened.st_ino == named.st_ino) unlink_in(folder, name);
}

}  // namespace

void RunDirectory::remove_processes(const std::set<std::string>& processes) const noexcept {
  if (processes.empty()) return;
  const Folder folder = this->folder();
  const auto remove = [&](const std::string& name, mode_t kind) {
    struct stat st{};
    if (look_at(*folder, name, st) && (st.st_mode & S_IFMT) == kind && ours_to_remove(*folder, st))
      unlink_in(*folder, name);
  };
  for_each_name(*folder, [&](const char* name) {
    if (std::strncmp(name, "t.", 2) == 0 && std::strlen(name) > kProcessAt + kIdDigits &&
        processes.contains(std::string(name + kProcessAt, kIdDigits)) && parse(name))
      remove(name, S_IFLNK);
  });
  for (const std::string& process : processes) remove(socket_name(process), S_IFSOCK);
}

void RunDirectory::sweep() const {
  const Folder folder = folder_now();
  std::size_t of_others = 0;
  std::vector<std::string> sockets;
  std::vector<TopicEntry> links;
  std::vector<std::string> unfinished;
  std::vector<std::string> locks;
  for_each_name(*folder, [&](const char* name) {
    const std::string process = process_of(name);
    const bool hidden = process.empty() && !process_of(name, "~").empty();
    auto entry = process.empty() && !hidden ? parse(name) : std::nullopt;
    struct stat st{};
    const bool lock = is_system_lock(name);
    if ((process.empty() && !hidden && !entry && !lock) || !look_at(*folder, name, st) || !ours_to_remove(*folder, st))
      return;
    if (st.st_uid != ::geteuid() && ++of_others > kSweepOfOthers) return;  // the rest another time
    if (lock) {
      locks.emplace_back(name);
      return;
    }
    if (entry && S_ISLNK(st.st_mode)) links.push_back(std::move(*entry));
    if (entry || !S_ISSOCK(st.st_mode)) return;
    if (!hidden) sockets.push_back(process);
    // A process that was killed while it started to listen. A living one needs far less than 10 s for that.
    if (hidden && st.st_mtime + 10 < ::time(nullptr)) unfinished.emplace_back(name);
  });
  for (const std::string& name : unfinished) unlink_in(*folder, name);
  for (const std::string& name : locks) remove_if_unlocked(*folder, name);
  std::map<std::string, bool> alive;
  for (const std::string& process : sockets) {
    int error = 0;
    alive[process] = connect(process, error) || error != ECONNREFUSED;
    if (!alive[process]) unlink_in(*folder, socket_name(process));
  }
  for (const TopicEntry& link : links) {
    // Examined only now, because a process that has just started makes its socket first.
    struct stat st{};
    const auto [known, is_new] = alive.try_emplace(link.process, true);
    if (is_new) known->second = look_at(*folder, socket_name(link.process), st) || errno != ENOENT;
    if (!known->second) unlink_in(*folder, name_of(link));
  }
}

void RunDirectory::leave(const std::string& process) const noexcept {
  const Folder folder = this->folder();
  unlink_in(*folder, socket_name(process));
  remove_if_empty(*folder);
}

std::string system_lock_name(const std::string& system) {
  return fmt::format("r.{:016x}.{}", hash_name(system), ::geteuid());
}

std::uint64_t hash_name(const std::string& name) noexcept {
  std::uint64_t h = 14695981039346656037ULL;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

}  // namespace cardan::detail
