// SPDX-License-Identifier: Apache-2.0
// `cardan new`: makes a folder that builds, runs and has a test.
#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <system_error>

#include "apps/become.hpp"
#include "apps/command.hpp"
#include "apps/new/new_name.hpp"
#include "apps/new/templates.hpp"
#include "apps/schema/schema_file.hpp"
#include "apps/terminal/output.hpp"
#include "apps/verb.hpp"
#include "cardan/error.hpp"

namespace cardan::apps {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNewExamples = R"(Examples:
  cardan new project truck                            a sensor and a controller in two processes
  cardan new component lane_keeper                    one component
  cardan new project truck --python                   the same with components in Python
  cd truck && cmake -S . -B build && cmake --build build && ctest --test-dir build && cardan run truck.json

It makes a folder with the sources, a configuration for `cardan run`, a test, and for C++ a CMakeLists.txt. Each file is
short and says what it does. Nothing that exists is changed.
Exit codes: 0 made, 1 it could not be written, 2 the name is wrong, or the folder exists.)";

struct NewOptions {
  std::string name;
  std::string folder;
  bool python = kInWheel;  ///< the Python package has no headers
};

/// The contents of a kind of folder.
struct FolderKind {
  const char *name, *help;
  std::span<const NewFile> files, python_files;
  const char* watch;  ///< a topic on which something comes
};

std::string filled(std::string_view text, const std::string& name, const std::string& schema) {
  std::string out(text);
  const auto replace = [&out](std::string_view what, const std::string& with) {
    for (std::size_t at = 0; (at = out.find(what, at)) != std::string::npos; at += with.size())
      out.replace(at, what.size(), with);
  };
  replace("@name@", name);
  replace("@Class@", class_name_of(name));
  replace("@schema@", schema);
  return out;
}

/// The line of a configuration by which an editor finds the schema; empty where it is not installed, or where its path
/// would need escapes.
std::string schema_line() {
  const std::string path = schema_file("cardan.schema.json");
  if (path.empty() || path.find_first_of("\"\\%") != std::string::npos) return {};
  return fmt::format("  \"$schema\": \"{}\",\n", path);
}

[[noreturn]] void cannot_write(const fs::path& path, int error) {
  throw Error(ErrorCode::Unavailable, fmt::format("cannot write {}: {}", path.string(), std::strerror(error)),
              "check the permissions and the space there, or choose another place with --folder");
}

void make_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0777) == 0) return;
  const int error = errno;
  if (error == EEXIST)
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} exists, and is left as it is", folder.string()),
                "choose another name, or another place with --folder");
  std::error_code ignored;
  if (error == ENOENT && !fs::exists(folder.has_parent_path() ? folder.parent_path() : fs::path("."), ignored))
    throw Error(ErrorCode::InvalidArgument, fmt::format("the folder of {} does not exist", folder.string()),
                "make it first, or choose another place with --folder");
  cannot_write(folder, error);
}

int make(const NewOptions& o, const FolderKind& kind) {
  const std::span<const NewFile> files = o.python ? kind.python_files : kind.files;
  if (const std::string why = name_refusal(o.name); !why.empty())
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("'{}' cannot be the name: {}", printable(o.name.substr(0, 64)), why),
                "use lower-case letters, digits and '_', such as " + name_like(o.name));
  const fs::path folder = o.folder.empty() ? fs::path(o.name) : fs::path(o.folder);
  make_folder(folder);
  const std::string schema = schema_line();
  for (const NewFile& file : files) {
    const fs::path path = folder / filled(file.path, o.name, schema);
    errno = 0;
    std::ofstream out(path, std::ios::binary);
    out << filled(file.text, o.name, schema);
    if (out.close(); out.fail()) {
      const int error = errno;
      std::error_code ignored;
      fs::remove_all(folder, ignored);  // made above, by us alone
      cannot_write(path, error);
    }
  }
  std::string text = fmt::format("{}: {} files\n", folder.string(), files.size());
  for (const NewFile& file : files) text += "  " + filled(file.path, o.name, schema) + "\n";
  text += fmt::format(
      "Next:\n  cd {0}\n  {3}\n  cardan run {1}.json\n"
      "and in another terminal:  cardan topic echo {2}\n",
      folder.string(), o.name, filled(kind.watch, o.name, schema),
      o.python ? "python3 -m unittest" : "cmake -S . -B build && cmake --build build\n  ctest --test-dir build");
  return emit(text) ? kOk : kFailed;
}

void add_kind(CLI::App* group, const FolderKind& kind) {
  auto* const command = add_verb(group, kind.name, kind.help, kNewExamples);
  auto o = std::make_shared<NewOptions>();
  command->add_option("name", o->name, "Lower-case letters, digits and '_', as lane_keeper")->required();
  command->add_option("--folder", o->folder, "Folder to make (default: one of that name, here)");
  command->add_flag("--python", o->python,
                    kInWheel ? "Components in Python (here always: the Python package has no headers for C++)"
                             : "Components in Python instead of C++");
  run_with(command, [kind](const NewOptions& options) { return make(options, kind); }, o);
}

void add_new(CLI::App& app) {
  auto* const group =
      add_verb(&app, "new", "Make a project or a component that builds, runs and has a test", kNewExamples);
  group->require_subcommand(1);
  add_kind(group, {.name = "project",
                   .help = "Make a system: a sensor and a controller in two processes",
                   .files = project_files(),
                   .python_files = python_project_files(),
                   .watch = "/@name@/command"});
  add_kind(group, {.name = "component",
                   .help = "Make one component with its configuration and its test",
                   .files = component_files(),
                   .python_files = python_component_files(),
                   .watch = "/@name@/state"});
}

const Command kNewCommand{20, add_new};

}  // namespace
}  // namespace cardan::apps
