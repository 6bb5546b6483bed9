// SPDX-License-Identifier: Apache-2.0
#include "cardan/transport/run_directory.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <set>

#include "cardan/memory/error.hpp"
#include "cardan/memory/socket.hpp"

namespace cardan::detail {
namespace {

namespace fs = std::filesystem;

bool usable(const std::string& folder) {
  return ::access(folder.c_str(), R_OK | W_OK | X_OK) == 0 && fs::is_directory(folder);
}

[[noreturn]] void refuse(const std::string& folder, const std::string& why) {
  throw Error(ErrorCode::Unavailable, fmt::format("the run directory {} {}", folder, why),
              "set CARDAN_RUN_DIR to a directory that this user can write, or as root: install -d -m 1777 /run/cardan");
}

std::string private_tmp() {
  const std::string folder = fmt::format("/tmp/cardan-{}", ::geteuid());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    refuse(folder, std::string("cannot be made: ") + std::strerror(errno));
  struct stat st{};
  if (::lstat(folder.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) refuse(folder, "is not a directory (or a link)");
  if (st.st_uid != ::geteuid()) refuse(folder, fmt::format("belongs to user {}", st.st_uid));
  if ((st.st_mode & 0777) != 0700) refuse(folder, fmt::format("has mode {:o} instead of 700", st.st_mode & 0777));
  return folder;
}

std::string find_root() {
  if (const char* set = std::getenv("CARDAN_RUN_DIR"); set != nullptr && *set != '\0') {
    std::error_code error;
    if (!fs::exists(set, error)) fs::create_directories(set, error);
    if (error) refuse(set, "cannot be made: " + error.message());
    if (!usable(set)) refuse(set, "cannot be written by this user");
    return fs::absolute(set).lexically_normal().string();
  }
  if (usable("/run/cardan")) return "/run/cardan";
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && usable(runtime)) {
    const std::string folder = std::string(runtime) + "/cardan";
    ::mkdir(folder.c_str(), 0700);
    if (usable(folder)) return folder;
  }
  return private_tmp();
}

}  // namespace

RunDirectory::RunDirectory(const std::string& domain) : root_(find_root()), path_(root_ + "/" + domain) {
  if (domain.empty() || domain.find('/') != std::string::npos || domain.front() == '.' || domain.size() > 48)
    throw Error(ErrorCode::InvalidArgument, "'" + domain + "' cannot be the name of a domain",
                "use up to 48 letters, digits, '-' and '_'");
  struct stat st{};
  ::stat(root_.c_str(), &st);
  if (::mkdir(path_.c_str(), 0700) == 0)
    ::chmod(path_.c_str(), st.st_mode & 01777);  // as open as the run directory itself, whatever the umask
  else if (errno != EEXIST)
    refuse(path_, std::string("cannot be made: ") + std::strerror(errno));
  if (!usable(path_)) refuse(path_, "cannot be written by this user");
}

namespace {
std::string name_of(const TopicEntry& e) { return fmt::format("t.{:016x}.{}.{}", e.topic_hash, e.process, e.serial); }
}  // namespace

std::optional<TopicEntry> RunDirectory::parse(const std::string& name) {
  TopicEntry e;
  char process[17] = {};
  int end = 0;
  unsigned long long hash = 0;
  if (std::sscanf(name.c_str(), "t.%16llx.%16[0-9a-f].%u%n", &hash, process, &e.serial, &end) != 3 ||
      static_cast<std::size_t>(end) != name.size() || std::strlen(process) != 16)
    return std::nullopt;
  e.topic_hash = hash;
  e.process = process;
  return e;
}

void RunDirectory::add_topic(const TopicEntry& entry, const std::string& topic) const {
  const std::string name = path_ + "/" + name_of(entry);
  if (::symlink(topic.c_str(), name.c_str()) != 0)
    throw Error(ErrorCode::Unavailable,
                fmt::format("cannot announce '{}' as {}: {}", topic, name, std::strerror(errno)),
                "make the run directory writable and check its free space (df, df -i)");
}

void RunDirectory::remove_topic(const TopicEntry& entry) const noexcept {
  ::unlink((path_ + "/" + name_of(entry)).c_str());
}

std::optional<std::string> RunDirectory::topic_of(const TopicEntry& entry) const {
  char text[512];
  const ssize_t n = ::readlink((path_ + "/" + name_of(entry)).c_str(), text, sizeof(text));
  if (n <= 0 || n == sizeof(text)) return std::nullopt;
  return std::string(text, static_cast<std::size_t>(n));
}

std::vector<TopicEntry> RunDirectory::entries(std::optional<std::uint64_t> topic_hash) const {
  const std::string prefix = topic_hash ? fmt::format("t.{:016x}.", *topic_hash) : "t.";
  std::vector<TopicEntry> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path_.c_str()), ::closedir);
  if (!folder) return all;
  // Compared before parsed: with a thousand topics each new subscriber reads a thousand names.
  while (const dirent* e = ::readdir(folder.get()))
    if (std::strncmp(e->d_name, prefix.c_str(), prefix.size()) == 0)
      if (auto entry = parse(e->d_name)) all.push_back(std::move(*entry));
  return all;
}

std::vector<std::string> RunDirectory::processes() const {
  std::vector<std::string> all;
  std::error_code error;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() == 18 && name.starts_with("p.")) all.push_back(name.substr(2));
  }
  return all;
}

void RunDirectory::remove_process(const std::string& process) const noexcept {
  for (const auto& entry : entries())
    if (entry.process == process) remove_topic(entry);
  ::unlink(socket_path(process).c_str());
}

std::optional<Fd> RunDirectory::reach(const std::string& process, int& error) const noexcept {
  Fd socket = socket::connect_to(socket_path(process), error);
  if (!socket && error != EAGAIN && error != EACCES) return std::nullopt;
  return socket;
}

void RunDirectory::sweep() const {
  std::set<std::string> alive;
  for (const auto& process : processes()) {
    int error = 0;
    if (reach(process, error))
      alive.insert(process);
    else if (error == ECONNREFUSED)
      remove_process(process);
  }
  std::error_code error;
  for (fs::directory_iterator it(path_, error), end; !error && it != end; it.increment(error)) {
    struct stat st{};  // a process killed while it began to listen; one that is about to needs far less than 10 s
    if (it->path().native().ends_with('~') && ::lstat(it->path().c_str(), &st) == 0 &&
        st.st_mtime + 10 < ::time(nullptr))
      ::unlink(it->path().c_str());
  }
  for (const auto& entry : entries())
    if (!alive.contains(entry.process) && ::access(socket_path(entry.process).c_str(), F_OK) != 0) remove_topic(entry);
}

std::uint64_t hash_name(const std::string& name) noexcept {
  std::uint64_t h = 14695981039346656037ULL;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

}  // namespace cardan::detail
