// SPDX-License-Identifier: Apache-2.0
#include "src/runtime/component_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "cardan/error.hpp"
#include "src/base/program_folder.hpp"
#include "src/config/python_component.hpp"
#include "src/config/suggest.hpp"

namespace cardan {
namespace {

/// Adds the libraries in a folder, and in its folders where it goes `deeper`, as a file would name them.
void add_libraries(const std::filesystem::path& folder, const std::string& prefix, bool deeper,
                   std::vector<std::string>& names) {
  namespace fs = std::filesystem;
  constexpr int kMostEntries = 2000;  // do not wait for a folder of a million files
  int looked_at = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (++looked_at > kMostEntries) return;
    const std::string name = at->path().filename().string();
    if (name.starts_with('.')) continue;
    if (!at->is_directory(ignored)) {
      if (name.ends_with(".so") && !name.starts_with("libcardan")) names.push_back(prefix + name);  // nor our own
    } else if (deeper) {
      add_libraries(at->path(), prefix + name + "/", false, names);
    }
  }
}

/// Libraries that the file may have meant.
std::vector<std::string> libraries_near(const std::string& library, const std::string& configuration_file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<std::string> names;
  const std::string prefix = library.substr(0, library.rfind('/') + 1);
  add_libraries(fs::absolute(fs::path(configuration_file), ignored).parent_path() / prefix, prefix, true, names);
  if (prefix.empty()) add_libraries(program_folder().parent_path() / "lib", "", false, names);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// The part of a library's name that tells it from others: "libstreet_components.so" is "street". Else two that share
/// only the common words would be near each other.
std::string stem_of(const std::string& library) {
  std::string_view stem = library;
  stem.remove_prefix(stem.rfind('/') + 1);
  if (stem.starts_with("lib")) stem.remove_prefix(3);
  for (const std::string_view end : {".so", "_components"})
    if (stem.ends_with(end)) stem.remove_suffix(end.size());
  return std::string(stem);
}

/// The one of `names` that was probably meant; "": none is near.
std::string nearest_library(const std::string& library, const std::vector<std::string>& names) {
  std::vector<std::string> stems;
  for (const std::string& name : names) stems.push_back(stem_of(name));
  const std::string wrong = stem_of(library);
  // One of that very name in its own folder, as a build puts it, before one with a similar name.
  const std::string near =
      std::find(stems.begin(), stems.end(), wrong) != stems.end() ? wrong : config::nearest(wrong, stems);
  const auto found = near.empty() ? stems.end() : std::find(stems.begin(), stems.end(), near);
  return found == stems.end() ? "" : names[static_cast<std::size_t>(found - stems.begin())];
}

}  // namespace

void load_library_of(const std::string& configuration_file, const std::string& library) {
  namespace fs = std::filesystem;
  const std::string path = component_library_path(library, configuration_file);
  std::error_code ignored;
  try {
    load_component_library(path);
  } catch (const Error& e) {
    if (fs::exists(path, ignored) && path.find('/') != std::string::npos) throw;  // it is there, and cannot be used
    if (library.starts_with(config::kPythonLibrary)) throw;
    const std::string near = nearest_library(library, libraries_near(library, configuration_file));
    const std::string folder = fs::absolute(fs::path(configuration_file), ignored).parent_path().string();
    throw Error(
        e.code(), e.cause(),
        fmt::format("{}it is searched for next to the file ({}), in this installation's lib and in LD_LIBRARY_PATH; "
                    "check that it is built",
                    near.empty() ? "" : fmt::format("did you mean '{}'? ", near), folder));
  }
}

}  // namespace cardan
