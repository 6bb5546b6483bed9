// SPDX-License-Identifier: Apache-2.0
#include "apps/component/others.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "apps/terminal/output.hpp"
#include "src/base/socket.hpp"

namespace cardan::apps {
namespace {

/// "": it has none.
std::string login_of(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> room;
  if (user == socket::kUnmapped || ::getpwuid_r(user, &entry, room.data(), room.size(), &found) != 0) return {};
  return found != nullptr ? printable(found->pw_name) : std::string();
}

/// Variables that sudo does not pass on.
std::string place() {
  std::string words;
  for (const char* const name : {"CARDAN_RUN_DIR", "CARDAN_DOMAIN"})
    if (const char* const value = std::getenv(name); value != nullptr && *value != '\0')
      words += fmt::format("{}={} ", name, value);
  return words;
}

std::string sudo(const std::vector<uid_t>& users, const std::string& variables) {
  if (users.size() != 1) return "run the command as that user (sudo -u USER cardan …)";
  if (users.front() == socket::kUnmapped) return "run the command outside this container, where that user has a name";
  const std::string login = login_of(users.front());
  return fmt::format("run the command as that user: sudo -u {} {}cardan …",
                     login.empty() ? fmt::format("'#{}'", users.front()) : login, variables);
}

}  // namespace

std::string names_of(const std::vector<uid_t>& users) {
  if (users.empty()) return "another user";  // which has just ended
  std::vector<std::string> names;
  for (const uid_t user : users) {
    const std::string login = login_of(user);
    names.push_back(login.empty() ? socket::name_of_user(user) : fmt::format("user '{}' ({})", login, user));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string as_user(const std::vector<uid_t>& users) { return sudo(users, place()); }

void warn_of_others(const std::vector<uid_t>& users) {
  if (users.empty()) return;
  warn(fmt::format("processes of {} run in this domain, and answer only {} — {}", names_of(users),
                   users.size() == 1 ? "that user" : "their own user", as_user(users)));
}

std::vector<uid_t> others_who_run() {
  namespace fs = std::filesystem;
  constexpr std::string_view kHost = "cardan:";  // as the launcher calls what it starts
  std::vector<uid_t> users;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    struct stat st{};
    if (at->path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    if (::stat(at->path().c_str(), &st) != 0 || st.st_uid == ::geteuid()) continue;
    std::array<char, kHost.size()> begin{};
    std::ifstream(at->path() / "cmdline", std::ios::binary).read(begin.data(), begin.size());
    if (std::string_view(begin.data(), begin.size()) == kHost) users.push_back(socket::user_of(st.st_uid));
  }
  std::sort(users.begin(), users.end());
  users.erase(std::unique(users.begin(), users.end()), users.end());
  return users;
}

std::string why_none(const std::vector<uid_t>& here, const std::string& otherwise) {
  if (!here.empty()) return "the processes here answer only other users";
  const std::vector<uid_t> users = others_who_run();
  if (users.empty()) return otherwise;
  return fmt::format("{} `cardan run` of {} runs on this computer, in another run directory or domain; {}", otherwise,
                     names_of(users), sudo(users, ""));
}

}  // namespace cardan::apps
