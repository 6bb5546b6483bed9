// SPDX-License-Identifier: Apache-2.0
#include "src/system/launcher/program_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cardan/error.hpp"
#include "src/system/launcher/python_program.hpp"

namespace cardan::launcher {
namespace {

namespace fs = std::filesystem;

struct Looked {
  bool there = false;
  struct stat itself{}, link{};
};

Looked look(const std::string& path) {
  Looked l;
  l.there = ::stat(path.c_str(), &l.itself) == 0 && ::lstat(path.c_str(), &l.link) == 0;
  return l;
}

Error refused(std::string cause, std::string remedy) {
  return {ErrorCode::Refused, std::move(cause), std::move(remedy)};
}

/// With the sticky bit others cannot replace what is there, but they can add to it.
bool others_write(const struct stat& s) noexcept { return (s.st_mode & S_IWOTH) != 0; }
bool others_replace(const struct stat& folder) noexcept {
  return others_write(folder) && (folder.st_mode & S_ISVTX) == 0;
}

}  // namespace

ProgramFile program_file(const config::Configuration& configuration, const std::string& plan_folder,
                         const config::Process& process) {
  const std::string& word = process.command.front();
  const config::Source& source = configuration.source;
  const fs::path file = fs::path(plan_folder) / source.file(source.key(process.pointer));
  ProgramFile program{.folder = file.parent_path().lexically_normal().string()};
  const bool is_path = word.find('/') != std::string::npos;
  program.path = is_path ? (fs::path(plan_folder) / word).lexically_normal().string() : interpreter_file(word);

  const Looked configured = look(file.string());
  const uid_t author = configured.there ? configured.itself.st_uid : ::geteuid();
  const auto foreign = [&](uid_t user) { return user != 0 && user != ::geteuid() && user != author; };

  const Looked folder = look(program.folder);
  if (!folder.there)
    throw Error(ErrorCode::Unavailable, fmt::format("the folder {} is not there", program.folder),
                "put the configuration back, or start the system again");
  // Interpreters import modules and programs read settings there.
  if (foreign(folder.itself.st_uid) || others_write(folder.itself))
    throw refused(
        fmt::format("'{}' is not started in {}: {}", word, program.folder,
                    others_write(folder.itself) ? "every user can write there" : "it is another user's folder"),
        "put the configuration into a folder of your own");

  const Looked found = program.path.empty() ? Looked{} : look(program.path);
  if (!found.there)
    throw Error(ErrorCode::Unavailable,
                is_path ? fmt::format("the program {} is not there", program.path)
                        : fmt::format("no program '{}' is in PATH", word),
                is_path ? "check the path: it starts at the folder of the configuration"
                        : fmt::format("install it, or write its path; of one next to the file: \"./{}\"", word));
  if (!S_ISREG(found.itself.st_mode) || ::access(program.path.c_str(), X_OK) != 0)
    throw Error(ErrorCode::Unavailable, fmt::format("{} is not a program that this user can run", program.path),
                fmt::format("check the path; of a script: chmod +x {}", program.path));
  if (others_write(found.itself))
    throw refused(fmt::format("{} is not started: every user can write it", program.path),
                  fmt::format("look at what it does now, and then: chmod o-w {}", program.path));
  // An absolute path or PATH is this user's own word, as of a library.
  if (is_path && !fs::path(program.path).lexically_relative(program.folder).string().starts_with("..") &&
      (foreign(found.itself.st_uid) || foreign(found.link.st_uid)))
    throw refused(fmt::format("{} is not started: it belongs to another user than {}", program.path, file.string()),
                  "remove it if you did not put it there; otherwise make it again as this user");
  const std::string home = fs::path(program.path).parent_path().string();
  if (const Looked at = look(home); !at.there || others_replace(at.itself))
    throw refused(fmt::format("{} is not started: every user can replace it in {}", program.path, home),
                  fmt::format("chmod o-w {}", home));
  return program;
}

}  // namespace cardan::launcher
