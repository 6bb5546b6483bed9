// SPDX-License-Identifier: Apache-2.0
// Doctor: limits, rights, memory and the run directory.
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "apps/doctor/doctor.hpp"
#include "apps/terminal/output.hpp"
#include "cardan/detail/fd.hpp"
#include "cardan/error.hpp"
#include "cardan/observer_report.hpp"
#include "src/base/capacity.hpp"
#include "src/base/trusted_file.hpp"
#include "src/transport/discovery/policy.hpp"
#include "src/transport/discovery/run_directory.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;
using Status = Finding::Status;

bool has_capability(unsigned number) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("CapEff:")) return (std::strtoull(line.c_str() + 7, nullptr, 16) >> number & 1U) != 0;
  return false;
}

std::string limit_text(rlim_t value) { return value == RLIM_INFINITY ? "unlimited" : fmt::format("{}", value); }

void descriptors(Findings& all) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const std::string found = fmt::format("{} at once, up to {} on request (Cardan asks)", limit_text(limit.rlim_cur),
                                        limit_text(limit.rlim_max));
  if (limit.rlim_max < 4096)
    all.push_back({"descriptors", Status::Warn,
                   found + ": each topic that a process publishes takes one, each process that it talks to another",
                   "raise the limit: ulimit -Hn 65536, systemd: LimitNOFILE=65536, docker: --ulimit nofile=65536"});
  else
    all.push_back({"descriptors", Status::Ok, found});
}

/// Of this user, as far as we may look.
std::size_t inotify_in_use() {
  std::size_t count = 0;
  std::error_code error;
  for (fs::directory_iterator process("/proc", error), end; !error && process != end; process.increment(error)) {
    struct stat st{};
    if (::stat(process->path().c_str(), &st) != 0 || st.st_uid != ::geteuid() ||
        process->path().filename().string().find_first_not_of("0123456789") != std::string::npos)
      continue;
    std::error_code hidden;
    for (fs::directory_iterator fd(process->path() / "fd", hidden), last; !hidden && fd != last; fd.increment(hidden)) {
      std::error_code gone;
      if (fs::read_symlink(*fd, gone) == "anon_inode:inotify") ++count;
    }
  }
  return count;
}

void inotify(Findings& all) {
  const std::string limit = first_line("/proc/sys/fs/inotify/max_user_instances");
  const std::size_t used = inotify_in_use();
  const Fd probe(::inotify_init1(IN_CLOEXEC));
  const int error = errno;
  const char* const remedy = "as root: sysctl fs.inotify.max_user_instances=1024";
  if (!probe)
    all.push_back({"inotify", Status::Warn,
                   fmt::format("none left ({}; limit {}, {} in use): new topics are found by polling every 100 ms",
                               std::strerror(error), limit, used),
                   remedy});
  else if (const auto most = std::strtoull(limit.c_str(), nullptr, 10);
           most != 0 && most - std::min<unsigned long long>(most, used) < 16)
    all.push_back({"inotify", Status::Warn,
                   fmt::format("{} of {} instances in use, and each subscribing process takes one; without one it "
                               "polls for new topics every 100 ms",
                               used, limit),
                   remedy});
  else
    all.push_back({"inotify", Status::Ok, fmt::format("{} of {} instances in use", used, limit)});
}

/// Entries that mean the working folder, which may be another user's.
void search_paths(Findings& all) {
  for (const char* const variable : {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const std::string entries = fmt::format(":{}:", value);
    if (entries.find("::") != std::string::npos || entries.find(":.:") != std::string::npos)
      all.push_back(
          {variable, Status::Warn,
           fmt::format("an entry is empty or '.', so files in the working folder run as this user: {}", value),
           fmt::format("remove it; to add to it: export {0}=/new${{{0}:+:${0}}}", variable)});
  }
}

void rights(Findings& all) {
  rlimit memlock{};
  ::getrlimit(RLIMIT_MEMLOCK, &memlock);
  if (memlock.rlim_cur == RLIM_INFINITY || has_capability(CAP_IPC_LOCK))
    all.push_back({"locked memory", Status::Ok, "unlimited"});
  else
    all.push_back({"locked memory", Status::Warn,
                   fmt::format("{}: Placement{{.lock}} and realtime({{.lock_memory}}) will be refused for more",
                               bytes_text(static_cast<double>(memlock.rlim_cur))),
                   "limits.conf: memlock unlimited; systemd: LimitMEMLOCK=infinity; docker: --ulimit memlock=-1"});
  rlimit priority{};
  ::getrlimit(RLIMIT_RTPRIO, &priority);
  const bool nice = has_capability(CAP_SYS_NICE);
  if (nice || priority.rlim_cur > 0)
    all.push_back({"real-time priority", Status::Ok,
                   nice ? "any (CAP_SYS_NICE)" : fmt::format("up to {}", limit_text(priority.rlim_cur))});
  else
    all.push_back({"real-time priority", Status::Warn,
                   "none: realtime({.priority}) will be refused, and control loops share the CPUs with everything else",
                   "limits.conf: rtprio 80; systemd: LimitRTPRIO=80; docker: --ulimit rtprio=80; or: setcap "
                   "cap_sys_nice+ep PROGRAM"});
  rlimit niceness{};
  ::getrlimit(RLIMIT_NICE, &niceness);
  const int best = nice ? -20 : 20 - static_cast<int>(std::min<rlim_t>(niceness.rlim_cur, 40));
  if (best < 0)
    all.push_back({"nice", Status::Ok, fmt::format("down to {}{}", best, nice ? " (CAP_SYS_NICE)" : "")});
  else
    all.push_back({"nice", Status::Note,
                   "0 and above: a nice value below 0 will be refused; it is the second choice after real-time "
                   "priorities (limits.conf: nice -10; systemd: LimitNICE=-10; docker: --ulimit nice=30)"});
  if (const std::string throttle = first_line("/proc/sys/kernel/sched_rt_runtime_us"); throttle == "-1")
    all.push_back(
        {"real-time throttling", Status::Note, "off: a real-time thread that never sleeps takes its CPU for ever"});
}

std::string why_there(const std::string& root) {
  const auto is = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  if (!is("CARDAN_RUN_DIR").empty()) return "set by CARDAN_RUN_DIR";
  if (root == "/run/cardan") return "it exists and can be written";
  if (const std::string runtime = is("XDG_RUNTIME_DIR"); !runtime.empty() && root == runtime + "/cardan")
    return "XDG_RUNTIME_DIR, because /run/cardan does not exist";
  return "the last resort, because neither /run/cardan nor XDG_RUNTIME_DIR exists";
}

constexpr const char* kSharedDirectory =
    "as root: install -d -m 1777 /run/cardan /run/cardan/default (at each start: printf 'd /run/cardan 1777 root root "
    "-\\nd /run/cardan/default 1777 root root -\\n' > /etc/tmpfiles.d/cardan.conf)";

void who_reaches(Findings& all, const std::string& root, const std::string& domain) {
  struct stat st{};
  if (::stat(root.c_str(), &st) != 0) return;
  if ((st.st_mode & 0077U) == 0)
    all.push_back({"other users", Status::Note,
                   fmt::format("only user {} can access this run directory; topics between users (access = Group, "
                               "Everyone, Policy) need a shared one: {}",
                               st.st_uid, kSharedDirectory)});
  else if (struct stat of_domain{}; ::stat(domain.c_str(), &of_domain) == 0 && (of_domain.st_mode & 0077U) == 0)
    all.push_back({"other users", Status::Note,
                   fmt::format("the domain {} belongs to user {} alone, because a process of that user made it; to "
                               "make one for all users, as root: install -d -o root -m 1777 {}",
                               domain, of_domain.st_uid, domain)});
  // Services that clean up after users, and would remove a running system's names.
  if (root.starts_with("/run/user/"))
    all.push_back({"logout", Status::Warn,
                   "systemd removes this run directory when the user logs out, also while programs still run",
                   fmt::format("loginctl enable-linger, or {}", kSharedDirectory)});
  else if (root.starts_with("/tmp/") && std::getenv("CARDAN_RUN_DIR") == nullptr)
    all.push_back({"clean-up of /tmp", Status::Warn,
                   "systemd-tmpfiles removes files in /tmp after ten days; topics could then no longer be found",
                   kSharedDirectory});
}

/// The file that decides about Access::Policy, as each decision looks at it.
void policy(Findings& all, const std::string& root) {
  const std::string file = detail::Policy::file_in(root);
  try {
    const auto found = TrustedFile::open(file, detail::Policy::kMaxBytes);
    if (found) (void)detail::Policy(found->read(), file);
    if (found)
      all.push_back({"policy", Status::Ok, fmt::format("{}, which only its owner can write", file)});
    else if (std::getenv("CARDAN_POLICY") != nullptr)
      all.push_back(
          {"policy", Status::Warn,
           fmt::format("CARDAN_POLICY names {}, which does not exist: topics with access = Policy admit nobody", file),
           "write it, or unset CARDAN_POLICY"});
  } catch (const Error& e) {
    all.push_back({"policy", Status::Warn, e.cause() + ": topics with access = Policy admit nobody", e.remedy()});
  }
}

/// Another user's hard link would make a socket look like one that is not Cardan's.
void hard_links(Findings& all) {
  if (first_line("/proc/sys/fs/protected_hardlinks") == "0")
    all.push_back({"hard links", Status::Warn,
                   "any user can link to others' files (fs.protected_hardlinks = 0): in a shared run directory this "
                   "can hide processes from their subscribers",
                   "as root: sysctl fs.protected_hardlinks=1"});
}

std::uint64_t mem_available() {
  std::ifstream in("/proc/meminfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("MemAvailable:")) return std::strtoull(line.c_str() + 13, nullptr, 10) * 1024;
  return 0;
}

}  // namespace

/// The limits that decide whether a frame of some megabytes arrives through UDP: Cyclone asks for as much as the first
/// allows, Fast DDS takes the second.
void receive_buffers(Findings& all) {
  constexpr unsigned long long kEnoughMost = 4U << 20U, kEnoughDefault = 1U << 20U;
  const auto value = [](const char* name) {
    return std::strtoull(first_line(fmt::format("/proc/sys/net/core/{}", name)).c_str(), nullptr, 10);
  };
  const auto most = value("rmem_max");
  const auto usual = value("rmem_default");
  if (most == 0 || usual == 0) return;  // in a network namespace they are not there
  const std::string found = fmt::format("{} by default, at most {}", bytes_text(static_cast<double>(usual)),
                                        bytes_text(static_cast<double>(most)));
  if (most < kEnoughMost || usual < kEnoughDefault)
    all.push_back({"receive buffers", Status::Note,
                   found + ": images through `cardan bridge dds` are lost in receivers of large messages",
                   "as root: sysctl -w net.core.rmem_default=8388608 net.core.rmem_max=33554432"});
  else
    all.push_back({"receive buffers", Status::Ok, found});
}

void check_limits(Findings& all) {
  descriptors(all);
  inotify(all);
  receive_buffers(all);
  rights(all);
  search_paths(all);
}

void check_memory(Findings& all) {
  const std::uint64_t available = available_memory();
  const std::uint64_t of_all = mem_available();
  const std::string found = fmt::format("{} can be committed now", bytes_text(static_cast<double>(available)));
  const bool limited = available + (64U << 20) < of_all;
  const std::string group = limited
                                ? fmt::format(" (a control group's limit or CARDAN_MEMORY_LIMIT; the computer has {})",
                                              bytes_text(static_cast<double>(of_all)))
                                : "";
  if (available < (256U << 20))
    all.push_back({"memory", Status::Warn, found + group,
                   limited ? "raise the group's memory.max (docker: --memory, systemd: MemoryMax=)"
                           : "free some, or lower max_bytes and depth of the topics"});
  else
    all.push_back({"memory", Status::Ok, found + group + "; the size of /dev/shm does not matter"});

  const std::string thp = first_line("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  if (thp.empty() || thp.find("[never]") != std::string::npos || thp.find("[deny]") != std::string::npos)
    all.push_back(
        {"huge pages", Status::Warn,
         fmt::format("transparent huge pages for shared memory are off ({}): Placement{{.huge_pages}} is refused",
                     thp.empty() ? "not built in" : thp),
         thp.empty() ? "no action needed; page faults of large frames are a little slower"
                     : "as root: echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled"});
  else
    all.push_back({"huge pages", Status::Ok, fmt::format("transparent ones for shared memory: {}", thp)});
  std::ifstream in("/proc/meminfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("HugePages_Total:") && std::strtoul(line.c_str() + 16, nullptr, 10) != 0)
      all.push_back(
          {"reserved huge pages", Status::Note,
           fmt::format(
               "{} are set aside (vm.nr_hugepages); Cardan does not use them, and no other program can use this memory",
               line.substr(line.find_first_of("123456789")))});

  std::string nodes;
  std::error_code error;
  for (fs::directory_iterator it("/sys/devices/system/node", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("node") && name.size() > 4 && name.find_first_not_of("0123456789", 4) == std::string::npos)
      nodes += (nodes.empty() ? "" : ", ") + name.substr(4);
  }
  if (nodes.find(',') != std::string::npos)
    all.push_back({"NUMA", Status::Note,
                   fmt::format("nodes {}: Placement{{.numa_node}} puts a topic's memory next to its CPUs", nodes)});
  else
    all.push_back({"NUMA", Status::Ok, "one node"});
}

/// A run directory that does not exist is made to see whether that is possible, and removed again.
class MadeForTrial {
 public:
  explicit MadeForTrial(const std::string& domain) {
    const auto variable = [](const char* name) {
      const char* const set = std::getenv(name);
      return std::string(set != nullptr ? set : "");
    };
    std::error_code error;
    if (const std::string set = variable("CARDAN_RUN_DIR"); !set.empty()) {
      fs::path folder = fs::absolute(set, error).lexically_normal();
      note(folder.has_filename() ? folder : folder.parent_path(), domain);
      return;
    }
    if (fs::exists("/run/cardan", error)) note("/run/cardan", domain);  // nobody but an administrator makes that one
    if (const std::string runtime = variable("XDG_RUNTIME_DIR"); !runtime.empty())
      note(fs::path(runtime) / "cardan", domain);
    note(fmt::format("/tmp/cardan-{}", ::geteuid()), domain);
  }
  MadeForTrial(const MadeForTrial&) = delete;
  MadeForTrial& operator=(const MadeForTrial&) = delete;
  ~MadeForTrial() {
    for (const fs::path& folder : missing_) ::rmdir(folder.c_str());  // only what is empty
  }
  [[nodiscard]] bool missed(const fs::path& folder) const {
    return std::find(missing_.begin(), missing_.end(), folder) != missing_.end();
  }

 private:
  void note(fs::path folder, const std::string& domain) {
    std::error_code error;
    if (fs::symlink_status(folder / domain, error).type() == fs::file_type::not_found)
      missing_.push_back(folder / domain);
    for (; fs::symlink_status(folder, error).type() == fs::file_type::not_found; folder = folder.parent_path())
      missing_.push_back(folder);
  }

  std::vector<fs::path> missing_;  ///< of each place the deepest first
};

void check_run_directory(Findings& all, const std::string& domain) {
  const char* const set = std::getenv("CARDAN_DOMAIN");
  const std::string name = !domain.empty() ? domain : set != nullptr && *set != '\0' ? set : "default";
  const MadeForTrial trial(name);
  try {
    const detail::RunDirectory directory(name);
    if (trial.missed(directory.root()))
      all.push_back({"run directory", Status::Note,
                     fmt::format("{}: {}; it does not exist yet, and the first program that publishes makes it",
                                 directory.path(), why_there(directory.root()))});
    else
      all.push_back(
          {"run directory", Status::Ok, fmt::format("{}: {}", directory.path(), why_there(directory.root()))});
    struct statvfs space{};
    if (::statvfs(directory.path().c_str(), &space) == 0 && space.f_files != 0 && space.f_favail < 64)
      all.push_back({"run directory's space", Status::Fail,
                     fmt::format("{} has {} names left, and each topic takes one", directory.path(), space.f_favail),
                     "free inodes there (df -i), or set CARDAN_RUN_DIR"});
    who_reaches(all, directory.root(), directory.path());
    policy(all, directory.root());
    hard_links(all);
    const DomainReport report = look_around({.domain = domain, .timeout = std::chrono::milliseconds{300}});
    if (!report.problems.empty())
      for (const std::string& problem : report.problems)
        all.push_back({"processes", Status::Warn, problem,
                       "inspect it with ps or gdb; its topics still work through shared memory"});
    const std::string found =
        fmt::format("{} running, with {}", report.processes, number_of(report.publishers.size(), "publisher"));
    if (report.stale != 0)
      all.push_back({"processes", Status::Note,
                     fmt::format("{}; {} dead ones left their names; the next Cardan program that starts removes them",
                                 found, report.stale)});
    else
      all.push_back({"processes", Status::Ok, found});
  } catch (const Error& e) {
    all.push_back({"run directory", Status::Fail, e.cause(), e.remedy()});
  }
}

}  // namespace cardan::apps
