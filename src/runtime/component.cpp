// SPDX-License-Identifier: Apache-2.0
#include "cardan/component.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include "cardan/error.hpp"
#include "src/base/program_folder.hpp"
#include "src/config/python_component.hpp"
#include "src/config/suggest.hpp"

namespace cardan {
namespace {

std::mutex& registry_mutex() {
  static auto& mutex = *new std::mutex;  // libraries register before main() and leave after it
  return mutex;
}
std::vector<const detail::ComponentClass*>& all_registered() {
  static auto& all = *new std::vector<const detail::ComponentClass*>;
  return all;
}

std::vector<std::string> names_of_all() {
  std::vector<std::string> names;
  for (const auto* c : all_registered()) names.emplace_back(c->name);
  std::sort(names.begin(), names.end());
  return names;
}

/// "libradar.so has Radar, Sonar; libbrake.so has Brake".
std::string names_by_library() {
  constexpr std::size_t kMost = 24;
  std::map<std::string, std::vector<std::string>> libraries;
  std::size_t left_out = 0;
  for (const auto* c : all_registered()) {
    Dl_info where{};
    const bool known = ::dladdr(static_cast<const void*>(c), &where) != 0 && where.dli_fname != nullptr;
    std::vector<std::string>& names =
        libraries[known ? std::filesystem::path(where.dli_fname).filename().string() : "this program"];
    if (names.size() < kMost)
      names.emplace_back(c->name);
    else
      ++left_out;
  }
  std::vector<std::string> parts;
  for (auto& [library, names] : libraries) {
    std::sort(names.begin(), names.end());
    parts.push_back(fmt::format("{} has {}", library, fmt::join(names, ", ")));
  }
  return fmt::format("{}{}", fmt::join(parts, "; "), left_out != 0 ? fmt::format(" and {} more", left_out) : "");
}

void refuse_other_builds(const detail::ComponentClass& c) {
  const detail::BuildStamp ours = detail::build_stamp();
  // Of a stamp of another size only the size may be read.
  if (c.stamp.stamp_bytes == ours.stamp_bytes && c.stamp == ours) return;
  throw Error(
      ErrorCode::Incompatible,
      fmt::format("component class '{}' was built against another version of Cardan, or another standard library",
                  c.name),
      "build its library again, with this version's headers");
}

/// A library next to a configuration becomes part of this process. The folder may be one where others can write, too.
void refuse_foreign_library(const std::string& path, const std::string& configuration_file) {
  struct stat library{}, link{}, configuration{};
  if (::stat(path.c_str(), &library) != 0 || ::lstat(path.c_str(), &link) != 0) return;  // the loader says why
  if (::stat(configuration_file.c_str(), &configuration) != 0) configuration.st_uid = ::geteuid();
  const auto foreign = [&](uid_t user) { return user != 0 && user != ::geteuid() && user != configuration.st_uid; };
  if (foreign(library.st_uid) || foreign(link.st_uid))
    throw Error(ErrorCode::Refused,
                fmt::format("{} is not loaded: it belongs to another user than {}", path, configuration_file),
                "remove it if you did not put it there; otherwise build it again as this user");
  if ((library.st_mode & S_IWOTH) != 0)
    throw Error(ErrorCode::Refused, fmt::format("{} is not loaded: every user can write it", path),
                fmt::format("build it again if it may have been changed, and then: chmod o-w {}", path));
}

}  // namespace

namespace detail {

Registration::Registration(const ComponentClass& c) : component(c) {
  const std::lock_guard lock(registry_mutex());
  all_registered().push_back(&component);
}
Registration::~Registration() {
  const std::lock_guard lock(registry_mutex());
  std::erase(all_registered(), &component);
}

}  // namespace detail

std::vector<std::string> component_classes() {
  const std::lock_guard lock(registry_mutex());
  return names_of_all();
}

std::shared_ptr<Component> make_component(const std::string& class_name) {
  const detail::ComponentClass* found = nullptr;
  {
    const std::lock_guard lock(registry_mutex());
    int count = 0;
    for (const auto* c : all_registered())
      if (class_name == c->name) {
        found = c;
        ++count;
      }
    if (count > 1)
      throw Error(ErrorCode::NameTaken, fmt::format("two libraries offer a component class '{}'", class_name),
                  "give one of them another name, or load only one of the libraries");
    if (found == nullptr) {
      const std::string near = config::nearest(class_name, names_of_all());
      throw Error(ErrorCode::Unavailable, fmt::format("unknown component class '{}'", class_name),
                  all_registered().empty()
                      ? "name its library; CARDAN_COMPONENT(Class) in a .cpp file of the library offers a class"
                      : (near.empty() ? "" : fmt::format("did you mean '{}'? ", near)) + names_by_library());
    }
  }
  refuse_other_builds(*found);
  return {found->create(), found->destroy};
}

void load_component_library(const std::string& library) {
  if (library.starts_with(config::kPythonLibrary)) {
    const std::string module = library.substr(config::kPythonLibrary.size());
    const std::vector<std::string> known = component_classes();
    // The interpreter offers what its process has.
    if (std::any_of(known.begin(), known.end(),
                    [&](const std::string& name) { return name.starts_with(module + ":"); }))
      return;
    throw Error(
        ErrorCode::Unavailable,
        fmt::format("a component of the module '{}' is in Python, which this process does not run", module),
        "cardan run and cardan run --from start an interpreter for it; a Simulation in C++ cannot have it: leave "
        "it out there, or use cardan.Simulation of Python");
  }
  // Never unloaded: its code may be on some stack, and its types in some sample, until the process ends.
  if (::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;
  const char* why = ::dlerror();
  throw Error(ErrorCode::Unavailable,
              fmt::format("cannot load component library '{}': {}", library, why == nullptr ? "unknown" : why),
              library.find('/') == std::string::npos
                  ? "give its path (relative to the configuration file), or add its folder to LD_LIBRARY_PATH"
                  : "check the path, and that it was built against this version of Cardan");
}

std::string component_library_path(const std::string& library, const std::string& configuration_file) {
  namespace fs = std::filesystem;
  if (library.empty() || library.front() == '/' || library.starts_with(config::kPythonLibrary)) return library;
  std::error_code ignored;
  const fs::path beside = fs::absolute(fs::path(configuration_file), ignored).parent_path() / library;
  if (fs::exists(beside, ignored)) {
    refuse_foreign_library(beside.string(), configuration_file);
    return beside.string();
  }
  // Where this program was built or installed, its libraries are not far.
  const fs::path lib = program_folder().parent_path() / "lib";
  for (const fs::path& ours : {lib / library, lib / "cardan" / library})
    if (fs::exists(ours, ignored)) return ours.string();
  // The loader would search a path in the working folder.
  return library.find('/') == std::string::npos ? library : beside.string();
}

}  // namespace cardan
