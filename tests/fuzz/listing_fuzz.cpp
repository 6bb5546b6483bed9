// SPDX-License-Identifier: Apache-2.0
// A run directory in which other users made any names: files, links, folders, sockets. Must hold: a process that lists
// it comes to an end, the names that it finds have Cardan's form, and its sweep removes nothing that Cardan did not
// make.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cardan/error.hpp"
#include "src/base/socket.hpp"
#include "src/transport/discovery/run_directory.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace cardan::fuzz::listing_target {
namespace {

namespace fs = std::filesystem;
using detail::RunDirectory;

bool hexadecimal(std::string_view text) {
  return text.size() == 16 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// Whether Cardan makes such names: sockets, sockets that do not listen yet, entries, and the locks of `cardan run`,
/// which are files.
bool of_our_making(const std::string& name, bool is_file) {
  if (name.starts_with("r.") && name.size() > 19 && name[18] == '.')
    return is_file && hexadecimal(name.substr(2, 16)) &&
           std::all_of(name.begin() + 19, name.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (name.starts_with("p."))
    return hexadecimal(name.substr(2)) || (name.ends_with('~') && hexadecimal(name.substr(2, name.size() - 3)));
  return RunDirectory::parse(name).has_value();
}

/// A line a name: `f` a file, `d` a folder, `l` a link with what follows a space as its text, `s` a socket that is
/// dead, `a` one that is alive, `o` a file that is old.
void run(std::string_view input) {
  static const std::string domain = run_domain("listing");
  constexpr std::size_t kMost = 24;
  std::set<std::string> others;
  std::vector<Fd> alive;
  for (Input lines(input); !lines.empty() && others.size() < kMost;) {
    std::string line(lines.until('\n'));
    if (line.size() < 2) continue;
    const char kind = line[0];
    const std::size_t space = line.find(' ');
    const std::string name = line.substr(1, space == std::string::npos ? space : space - 1);
    const std::string text = space == std::string::npos ? "" : line.substr(space + 1);
    if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos || name.size() > 60)
      continue;
    const std::string path = domain + "/" + name;
    bool made = false;
    if (kind == 'd') {
      made = ::mkdir(path.c_str(), 0700) == 0;
    } else if (kind == 'l') {
      made = ::symlink(text.c_str(), path.c_str()) == 0;
    } else if (kind == 's' || kind == 'a') {
      struct stat st{};
      if (::lstat(path.c_str(), &st) == 0) continue;
      try {
        Fd listener = socket::listen_at(path);
        made = true;
        if (kind == 'a') alive.push_back(std::move(listener));
      } catch (const Error&) {  // the name is too long for a socket
      }
    } else {
      made = static_cast<bool>(Fd(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600)));
    }
    if (!made) continue;
    if (kind == 'o') {
      const timespec old[2]{{.tv_sec = 1000, .tv_nsec = 0}, {.tv_sec = 1000, .tv_nsec = 0}};
      ::utimensat(AT_FDCWD, path.c_str(), old, AT_SYMLINK_NOFOLLOW);
    }
    struct stat st{};
    const bool is_file = ::lstat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode);
    if (!of_our_making(name, is_file)) others.insert(name);
  }
  const RunDirectory directory("listing");
  for (const detail::TopicEntry& entry : directory.entries()) {
    require(hexadecimal(entry.process), "an entry of no process");
    if (const auto topic = directory.topic_of(entry))
      require(!topic->empty() && topic->size() < 512, "a topic of no length");
  }
  for (const std::string& process : directory.processes()) require(process.size() == 16, "a process without a name");
  directory.sweep();
  for (const std::string& name : others) {
    struct stat st{};
    if (::lstat((domain + "/" + name).c_str(), &st) != 0)
      fail("the sweep removed '" + name + "', which is not Cardan's");
  }
  for (const auto& entry : fs::directory_iterator(domain)) fs::remove_all(entry.path());
}

std::vector<std::string> seeds() {
  return {
      "ap.0123456789abcdef\nlt.00000000000000ff.0123456789abcdef.1 /fuzz\n",
      "sp.0123456789abcdef\nlt.00000000000000ff.0123456789abcdef.1 /fuzz\nlt.00000000000000fe.0123456789abcdef.2 /x\n",
      "lt.00000000000000ff.00000000000000aa.4294967295 /gone\nfp.00000000000000aa\n",
      "op.0123456789abcdef~\nfnotes.txt\ndp.1111111111111111\n",
      "oid_rsa\nft.1.2.3\nlp.2222222222222222 /etc/passwd\n",
      "sr.0123456789abcdef.2\nsp.\n",
      "fr.0123456789abcdef.0\nlr.0123456789abcdef.1 /etc/passwd\nsr.0123456789abcdef.2\nfr.0123456789abcdef.x\n",
  };
}

}  // namespace
CARDAN_FUZZ_TARGET(listing, run, seeds)
}  // namespace cardan::fuzz::listing_target
