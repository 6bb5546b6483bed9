// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/system_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "cardan/clock.hpp"
#include "cardan/error.hpp"
#include "cardan/log.hpp"
#include "src/transport/discovery/run_directory.hpp"
#include "src/transport/discovery/run_folder.hpp"

namespace cardan::launcher {
namespace {

/// A process that sweeps the folder holds the lock for an instant, and a new holder has not written its pid yet.
constexpr std::int64_t kPatience = 500'000'000;

std::string domain_or_default(const std::string& domain) {
  if (!domain.empty()) return domain;
  const char* const set = std::getenv("CARDAN_DOMAIN");
  return set != nullptr && *set != '\0' ? set : "default";
}

}  // namespace

SystemLock::SystemLock(const std::string& system, const std::string& domain)
    : folder_(detail::RunFolder::open(domain_or_default(domain))), name_(detail::system_lock_name(system)) {
  const std::int64_t until = steady_now() + kPatience;
  while (!take(system)) {
    if (steady_now() >= until) {
      const std::string pid = holder();
      throw Error(
          ErrorCode::NameTaken,
          fmt::format("system '{}' already runs in domain '{}'{}", system, folder_->domain,
                      pid.empty() ? std::string() : fmt::format(", pid {}", pid)),
          fmt::format("end that one first{} (cardan run --stop PROCESS stops only one of its processes), or give this "
                      "one its own domain: CARDAN_DOMAIN=NAME, or --domain NAME of cardan run",
                      pid.empty() ? std::string() : fmt::format(": kill {}", pid)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

/// False: try again.
bool SystemLock::take(const std::string& system) {
  file_ = detail::BoundFd(detail::make_bound([&] {
    return ::openat(folder_->fd.get(), name_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  }));
  struct stat st{};
  if (!file_ && errno == ENOENT) {  // the last process of the domain has just taken the folder away
    folder_ = detail::RunFolder::open(folder_->domain);
    return false;
  }
  if (!file_ || ::fstat(file_.get(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != ::geteuid()) {
    const std::string why = file_ ? "it is not a file of this user" : std::generic_category().message(errno);
    detail::log(LogLevel::Warning, fmt::format("whether system '{}' already runs cannot be determined from {}/{}: {}",
                                               system, folder_->path, name_, why));
    file_.reset();
    return true;
  }
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 || !is_ours_by_name()) return false;
  const std::string pid = fmt::format("{}\n", ::getpid());
  const bool said = ::ftruncate(file_.get(), 0) == 0 &&
                    ::pwrite(file_.get(), pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
  static_cast<void>(said);  // a second run is refused in any case, only without the pid
  return true;
}

/// If the file was removed before we locked it, another one may have taken its place.
bool SystemLock::is_ours_by_name() const {
  struct stat ours{};
  struct stat named{};
  return folder_->is_there() && ::fstat(file_.get(), &ours) == 0 &&
         ::fstatat(folder_->fd.get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && ours.st_dev == named.st_dev &&
         ours.st_ino == named.st_ino;
}

std::string SystemLock::holder() const {
  char text[16];
  const ssize_t got = file_ ? ::pread(file_.get(), text, sizeof(text), 0) : 0;
  std::string pid;
  for (ssize_t i = 0; i < got && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i) pid += text[i];
  return pid;
}

SystemLock::~SystemLock() {
  if (!file_) return;
  ::unlinkat(folder_->fd.get(), name_.c_str(), 0);
  file_.reset();
  detail::remove_if_empty(*folder_);
}

}  // namespace cardan::launcher
