// SPDX-License-Identifier: Apache-2.0
#include "src/transport/discovery/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cardan/error.hpp"
#include "src/base/printable.hpp"
#include "src/base/socket.hpp"

namespace cardan::detail {
namespace {

namespace fs = std::filesystem;

/// The run directory or a domain's folder, for messages.
struct Place {
  std::string path;
  std::string remedy;

  [[noreturn]] void refuse(const std::string& why, int error = 0) const {
    const bool limit = error == EMFILE || error == ENFILE;
    throw Error(limit ? ErrorCode::Limit : ErrorCode::Unavailable,
                fmt::format("the run directory {} {}{}{}", path, why, error != 0 ? ": " : "",
                            error != 0 ? std::strerror(error) : ""),
                limit ? "raise ulimit -n" : remedy);
  }
};

std::string owner_and_mode(const struct stat& st) {
  return fmt::format("it belongs to {} and has mode {:04o}", socket::name_of_user(socket::user_of(st.st_uid)),
                     st.st_mode & 07777);
}

bool usable(const std::string& folder) {
  std::error_code error;
  return ::access(folder.c_str(), R_OK | W_OK | X_OK) == 0 && fs::is_directory(folder, error);
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

/// The run directory's path. Makes the directory if it does not exist.
std::string find_root(Place& place) {
  if (const char* set = variable("CARDAN_RUN_DIR"); set != nullptr) {
    std::error_code error;
    fs::path folder = fs::absolute(set, error).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();  // "run/": the kernel would follow a link there
    place.path = folder.string();
    if (fs::symlink_status(folder, error).type() == fs::file_type::not_found) {
      if (fs::create_directories(folder.parent_path(), error); error)
        place.refuse("cannot be made: " + error.message());
      // For any umask, only we can write what is ours.
      if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) place.refuse("cannot be made", errno);
    }
    return folder.string();
  }
  if (usable("/run/cardan")) return "/run/cardan";
  if (const char* runtime = variable("XDG_RUNTIME_DIR"); runtime != nullptr && usable(runtime)) {
    struct stat st{};  // another user's after su, which we must not use
    const std::string folder = std::string(runtime) + "/cardan";
    if (::stat(runtime, &st) == 0 && st.st_uid == ::geteuid() &&
        (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) && usable(folder))
      return folder;
  }
  place.path = fmt::format("/tmp/cardan-{}", ::geteuid());
  if (::mkdir(place.path.c_str(), 0700) != 0 && errno != EEXIST) place.refuse("cannot be made", errno);
  struct stat st{};
  if (::lstat(place.path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) place.refuse("is not a directory, or a link");
  if (st.st_uid != ::geteuid()) place.refuse(fmt::format("belongs to another user: {}", owner_and_mode(st)));
  if ((st.st_mode & 0777) != 0700) place.refuse(fmt::format("has mode {:o} instead of 700", st.st_mode & 0777));
  return place.path;
}

BoundFd open_checked(int at, const char* name, const Place& place, struct stat& st,
                     std::optional<uid_t> root_owner = {}) {
  BoundFd fd(::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) {
    const int error = errno;
    if (::fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0) place.refuse("cannot be opened", error);
    if (S_ISLNK(st.st_mode)) place.refuse("is a link; it has to be the directory itself");
    if (!S_ISDIR(st.st_mode)) place.refuse("is not a directory");
    place.refuse(fmt::format("cannot be opened ({})", owner_and_mode(st)), error);
  }
  if (::fstat(fd.get(), &st) != 0) place.refuse("cannot be examined", errno);
  if (const std::string why = folder_refusal(st, root_owner); !why.empty()) {
    // Our own, perhaps made with umask 0002: this is easy to repair.
    if (st.st_uid == ::geteuid())
      Place{place.path, fmt::format("chmod go-w {} if it is for this user alone; else {}", place.path, place.remedy)}
          .refuse(why);
    place.refuse(why);
  }
  if (::faccessat(fd.get(), ".", R_OK | W_OK | X_OK, 0) != 0)
    place.refuse(fmt::format("cannot be written by this user ({})", owner_and_mode(st)), errno);
  return fd;
}

/// A domain that we have just made gets the same permissions as the run directory itself, whatever the umask. In a run
/// directory of another owner no other user could use a folder that we own, so it stays ours.
void open_up(const RunFolder& folder, const struct stat& root, const struct stat& made) {
  if (::geteuid() != 0 && root.st_uid != ::geteuid()) return;
  if (made.st_uid != ::geteuid()) return;
  if (made.st_gid != root.st_gid && ::fchown(folder.fd.get(), static_cast<uid_t>(-1), root.st_gid) != 0) return;
  ::fchmod(folder.fd.get(), root.st_mode & 03777);
}

std::shared_ptr<const RunFolder> open_in(const std::string& root, const std::string& domain, bool make, Place& place) {
  auto folder = std::make_shared<RunFolder>();
  folder->domain = domain;
  folder->root_path = place.path = root;
  folder->path = root + "/" + domain;
  struct stat of_root{};
  folder->root = open_checked(AT_FDCWD, root.c_str(), place, of_root);
  place.path = folder->path;
  struct stat st{};
  for (int tries = 0;; ++tries) {
    const bool made = make && ::mkdirat(folder->root.get(), domain.c_str(), 0700) == 0;
    if (make && !made && errno != EEXIST) place.refuse("cannot be made", errno);
    // The last process of the domain may be removing the folder at this moment.
    if (make && tries < 100 && ::fstatat(folder->root.get(), domain.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
    folder->fd = open_checked(folder->root.get(), domain.c_str(), place, st, of_root.st_uid);
    if (made) open_up(*folder, of_root, st);
    folder->owner = st.st_uid;
    return folder;
  }
}

}  // namespace

std::string folder_refusal(const struct stat& st, std::optional<uid_t> root_owner) {
  // A container's run directory is often mounted from the host, whose root is unmapped inside. Its names belong to
  // users that we do not know either.
  const bool from_outside = !root_owner && socket::user_of(st.st_uid) == socket::kUnmapped;
  if (st.st_uid != 0 && st.st_uid != ::geteuid() && st.st_uid != root_owner && !from_outside)
    return fmt::format("is not safe: {}, and its owner can remove and replace all names in it", owner_and_mode(st));
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (st.st_mode & S_ISVTX) == 0)
    return fmt::format(
        "is not safe: {}, and without the sticky bit any user that can write it can remove others' names",
        owner_and_mode(st));
  return {};
}

std::shared_ptr<const RunFolder> RunFolder::open(const std::string& domain) {
  // The same as in a configuration: a name with a blank or a line feed cannot be typed, or breaks the messages it is
  // in.
  const bool plain = std::all_of(domain.begin(), domain.end(), [](const char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (domain.empty() || !plain || domain.size() > 48)
    throw Error(ErrorCode::InvalidArgument, "'" + printable(domain, 64) + "' cannot be the name of a domain",
                "use up to 48 letters, digits, '-' and '_'");
  Place place;
  const auto remedy = [&](const std::string& shared) {
    return fmt::format(
        "set CARDAN_RUN_DIR to a directory that this user alone can write, or have a shared one made as root: "
        "install -d -o root -m 1777 {0} {0}/{1}",
        shared, domain);
  };
  place.remedy = remedy("/run/cardan");
  const std::string root = find_root(place);
  if (variable("CARDAN_RUN_DIR") != nullptr) place.remedy = remedy(root);
  return open_in(root, domain, true, place);
}

void remove_if_empty(const RunFolder& folder) noexcept {
  struct stat st{};
  if (!folder.is_there() || ::fstat(folder.fd.get(), &st) != 0 || st.st_uid != ::geteuid()) return;
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) return;  // made for all users by root, and by nobody else again
  ::unlinkat(folder.root.get(), folder.domain.c_str(), AT_REMOVEDIR);
}

bool RunFolder::is_there() const noexcept {
  struct stat ours{};
  struct stat named{};
  return ::fstat(fd.get(), &ours) == 0 && ::fstatat(root.get(), domain.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

std::shared_ptr<const RunFolder> RunFolder::again() const noexcept {
  try {
    Place place;
    return open_in(root_path, domain, false, place);
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace cardan::detail
